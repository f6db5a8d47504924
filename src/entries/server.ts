/** `citewell/server`: a knowledge base over HTTP: the API, what chat clients speak, and the chat page. */

export { createHandler } from "../server/create-handler.js";
export type { Handler } from "../server/create-handler.js";
export { createServer } from "../server/create-server.js";
export type { Server } from "../server/create-server.js";
export type { Access, AccessOf } from "../server/access.js";
export type { HandlerOptions, ServerLimits, ServerOptions, UploadOptions } from "../server/options.js";
export type { RequestLog } from "../network/connections.js";
