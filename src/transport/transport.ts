import type { ModelInfo } from "../contract/catalogue.js";
import type { EmbeddingsRequest } from "../contract/embeddings.js";
import type { RerankRequest } from "../contract/rerank.js";
import type { CallOptions } from "../ports.js";
import { type TransportChatRequest, chat, chatStream } from "./chat.js";
import type { ChatResult, ChatStreamEvent } from "./chat-result.js";
import { type EmbeddingsResult, embeddings } from "./embeddings.js";
import { type TransportOptions, transportSettings } from "./options.js";
import { type RerankResult, rerank } from "./rerank.js";
import type { ModelTotals } from "./totals.js";
import { Upstream } from "./upstream.js";

/**
 * The one door to the service. Requests use the contract's own field names and are checked before a byte is sent;
 * replies are checked against what was asked. Every method throws `TransportError`, and the reason of `signal` as it
 * is when that ends the call.
 */
export interface Transport {
  /** The contract's `{base_url}`, as it is used. */
  readonly baseUrl: string;
  /** What is known of models: those of the options before those of the catalogue. */
  readonly models: readonly ModelInfo[];
  /** Texts to vectors, in the order of the texts. */
  readonly embeddings: (request: EmbeddingsRequest, call?: CallOptions) => Promise<EmbeddingsResult>;
  /** Documents by what they say about a query, best first. */
  readonly rerank: (request: RerankRequest, call?: CallOptions) => Promise<RerankResult>;
  /** An answer, whole. */
  readonly chat: (request: TransportChatRequest, call?: CallOptions) => Promise<ChatResult>;
  /** An answer while it is made; nothing is sent before the loop begins, and leaving the loop closes the connection. */
  readonly chatStream: (request: TransportChatRequest, call?: CallOptions) => AsyncIterable<ChatStreamEvent>;
  /** What all calls so far came to, by model: calls, bytes, tokens, and cost by `prices`. */
  readonly totals: () => Readonly<Record<string, ModelTotals>>;
  /** Ends calls in flight and closes every connection. */
  readonly close: () => Promise<void>;
}

/** @throws OptionsError when an option is unknown or out of range. */
export function createTransport(options: TransportOptions): Transport {
  const upstream = new Upstream(transportSettings(options));
  return {
    baseUrl: upstream.settings.baseUrl,
    models: upstream.models,
    embeddings: async (request, call = {}) => embeddings(upstream, request, call),
    rerank: async (request, call = {}) => rerank(upstream, request, call),
    chat: async (request, call = {}) => chat(upstream, request, call),
    chatStream: (request, call = {}) => chatStream(upstream, request, call),
    totals: () => upstream.totals(),
    close: () => upstream.close(),
  };
}
