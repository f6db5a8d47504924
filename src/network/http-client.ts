import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/**
 * Loads the HTTP client with the first request: it costs 20 MB and 80 ms, saved by a process that only reads a store.
 * It is named by its file, since Bun puts something of its own in place of the package, which cannot be closed.
 */
export function httpClient(): typeof import("undici") {
  return require("undici/index.js") as typeof import("undici");
}

type HttpConnections = Pick<typeof import("undici"), "Agent" | "buildConnector">;

/** Loads only the client's connection classes, a third of it. They lack `request` and similar functions. */
export function httpConnections(): HttpConnections {
  try {
    const Agent = require("undici/lib/dispatcher/agent.js") as HttpConnections["Agent"];
    const buildConnector = require("undici/lib/core/connect.js") as HttpConnections["buildConnector"];
    return { Agent, buildConnector };
  } catch {
    // A later version may have moved them.
    return httpClient();
  }
}
