/** `citewell/mcp`: a knowledge base for clients of the Model Context Protocol. */

export { createMcpHandler } from "../server/mcp/create-mcp-handler.js";
export type { McpAccess, McpHandler, McpHandlerOptions } from "../server/mcp/create-mcp-handler.js";
export { createMcpServer } from "../server/mcp/create-mcp-server.js";
export type { McpServer, McpTransport } from "../server/mcp/create-mcp-server.js";
export type { McpServerOptions } from "../server/mcp/options.js";
