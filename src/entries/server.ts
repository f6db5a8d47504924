/** `citewell/server`: a knowledge base over HTTP: the API, what chat clients speak, and the chat page. */

export { createHandler } from "../server/create-handler.js";
export type { Handler } from "../server/create-handler.js";
export { createServer } from "../server/create-server.js";
export type { Server } from "../server/create-server.js";
export type { Access, AccessOf, Role } from "../server/access.js";
export type { GroupAccess } from "../server/callers/groups.js";
export type { CallerLimits, KeyBook, KeyRecord, NewKey } from "../server/callers/key.js";
export { keyFile } from "../server/callers/key-file.js";
export { storeKeys } from "../server/callers/store-keys.js";
export type { StoreKeys, StoreKeysOptions } from "../server/callers/store-keys.js";
export { listKeys, makeKey, revokeKey } from "../server/callers/manage-keys.js";
export type { KeyInfo } from "../server/callers/manage-keys.js";
export type { OpenIdOptions, PageSignInOptions, SigningAlgorithm } from "../server/callers/open-id-options.js";
export type { AuditedDeed, AuditEntry, AuditOptions } from "../server/operations/audit.js";
export type { HandlerOptions, ServerLimits, ServerOptions, MetricsOptions, UploadOptions } from "../server/options.js";
export type { RequestLog } from "../network/connections.js";
