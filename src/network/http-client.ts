import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/**
 * Loads the HTTP client when something is first sent: it costs 20 MB and 80 ms, which a process that only reads a store saves.
 * It is named by its file, since Bun puts something of its own in place of the package, which cannot be closed.
 */
export function httpClient(): typeof import("undici") {
  return require("undici/index.js") as typeof import("undici");
}
