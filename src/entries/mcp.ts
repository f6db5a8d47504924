/** `citewell/mcp`: a knowledge base for clients of the Model Context Protocol. */

export type { Access, AccessOf } from "../server/access.js";
export { createMcpHandler } from "../server/mcp/create-mcp-handler.js";
export type { McpHandler, McpHandlerOptions } from "../server/mcp/create-mcp-handler.js";
export { createMcpServer } from "../server/mcp/create-mcp-server.js";
export type { McpServer, McpTransport } from "../server/mcp/create-mcp-server.js";
export type { McpServerOptions } from "../server/mcp/options.js";
export type { ServerLimits } from "../server/options.js";
