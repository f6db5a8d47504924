/** `citewell/transport`: the typed client of the inference service, for calls outside of pipelines. */

export type { EmbeddingsRequest } from "../contract/embeddings.js";
export type { RerankRequest } from "../contract/rerank.js";
export type { ModelFamily, ModelInfo, ModelType } from "../contract/catalogue.js";
export { TransportError } from "../core/errors.js";
export type { Submission, TransportErrorCode } from "../core/errors.js";
export type { CallOptions } from "../core/ports.js";
export type { Price } from "../core/types.js";
export type { TransportEvent } from "../transport/calls/events.js";
export type { ModelTotals } from "../transport/calls/totals.js";
export type { ChatChoice, ChatResult, ChatStreamEvent, ToolCall } from "../transport/operations/chat-result.js";
export type { ChatCallOptions } from "../transport/operations/chat.js";
export type { TextChatRequest, TransportChatRequest, VisionChatRequest } from "../transport/operations/chat-request.js";
export type { EmbeddingsResult } from "../transport/operations/embeddings.js";
export type { ServiceName } from "../dialects/services.js";
export type { PublishedModel } from "../transport/operations/list-models.js";
export type { RerankResult, RerankedDocument } from "../transport/operations/rerank.js";
export type { TransportOptions } from "../transport/options.js";
export { createTransport } from "../transport/transport.js";
export type { Transport } from "../transport/transport.js";
