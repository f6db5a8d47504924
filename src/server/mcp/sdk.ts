import { peerPackage } from "../../core/errors.js";

export type { McpServer as SdkServer, ServerContext } from "@modelcontextprotocol/server";
export type Sdk = typeof import("@modelcontextprotocol/server");

/** The official SDK, which is installed by those who serve MCP. */
export async function loadSdk(): Promise<Sdk> {
  return installed(() => import("@modelcontextprotocol/server"));
}

/** Its side for clients that start the server as a child process. */
export async function loadStdio(): Promise<typeof import("@modelcontextprotocol/server/stdio")> {
  return installed(() => import("@modelcontextprotocol/server/stdio"));
}

/** @throws OptionsError `missing-package` when the SDK is not installed. */
function installed<Module>(load: () => Promise<Module>): Promise<Module> {
  return peerPackage("MCP", "@modelcontextprotocol/server", "2", load);
}
