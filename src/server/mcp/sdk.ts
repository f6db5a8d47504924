import { missingPeer } from "../../core/errors.js";

export type { McpServer as SdkServer, ServerContext } from "@modelcontextprotocol/server";
export type Sdk = typeof import("@modelcontextprotocol/server");

const notInstalled = missingPeer("MCP", "@modelcontextprotocol/server", "2");

/** The official SDK, an optional package for serving MCP. */
export async function loadSdk(): Promise<Sdk> {
  return import("@modelcontextprotocol/server").catch(notInstalled);
}

/** The SDK's transport for clients that start the server as a child process. */
export async function loadStdio(): Promise<typeof import("@modelcontextprotocol/server/stdio")> {
  return import("@modelcontextprotocol/server/stdio").catch(notInstalled);
}
