import { missingPeer } from "../../core/errors.js";

export type { McpServer as SdkServer, ServerContext } from "@modelcontextprotocol/server";
export type Sdk = typeof import("@modelcontextprotocol/server");

const notInstalled = missingPeer("MCP", "@modelcontextprotocol/server", "2");

/** The official SDK, which is installed by those who serve MCP. */
export async function loadSdk(): Promise<Sdk> {
  return import("@modelcontextprotocol/server").catch(notInstalled);
}

/** Its side for clients that start the server as a child process. */
export async function loadStdio(): Promise<typeof import("@modelcontextprotocol/server/stdio")> {
  return import("@modelcontextprotocol/server/stdio").catch(notInstalled);
}
