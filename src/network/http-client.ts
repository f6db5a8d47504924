import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** Loads the HTTP client when something is first sent: it costs 20 MB and 80 ms, which a process that only reads a store saves. */
export function httpClient(): typeof import("undici") {
  return require("undici") as typeof import("undici");
}
