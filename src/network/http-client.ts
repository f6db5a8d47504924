import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/**
 * Loads the HTTP client when something is first sent: it costs 20 MB and 80 ms, which a process that only reads a store saves.
 * It is named by its file, since Bun puts something of its own in place of the package, which cannot be closed.
 */
export function httpClient(): typeof import("undici") {
  return require("undici/index.js") as typeof import("undici");
}

type HttpConnections = Pick<typeof import("undici"), "Agent" | "buildConnector">;

/** Loads the parts of it that keep connections, a third of it: `request` and its kin are not there. */
export function httpConnections(): HttpConnections {
  try {
    const Agent = require("undici/lib/dispatcher/agent.js") as HttpConnections["Agent"];
    const buildConnector = require("undici/lib/core/connect.js") as HttpConnections["buildConnector"];
    return { Agent, buildConnector };
  } catch {
    // A later version may keep them elsewhere.
    return httpClient();
  }
}
