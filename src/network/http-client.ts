import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** The HTTP client, loaded by what first sends: 20 MB and 80 ms that a process which only reads a store does without. */
export function httpClient(): typeof import("undici") {
  return require("undici") as typeof import("undici");
}
