import { z } from "zod";
import { OptionsError, TransportError } from "../../core/errors.js";
import { optionsOf, resolve } from "../../core/options.js";
import type { CallOptions, ChatEvent, ChatModel, ChatRequest, Embedder, Reranker } from "../../core/ports.js";
import type { FinishReason } from "../../core/types.js";
import { untilAborted } from "../../core/stream.js";
import { defaultTokens } from "../../text/tokens/tokens.js";
import { attempt, foreignCall } from "../foreign-call.js";
import { chatLimits, type ModelLimits, modelLimits } from "../model-limits.js";
import { messagesFor } from "./chat-model.js";
import type { LangChainDocument } from "./read-langchain.js";

/** LangChain's `Embeddings`, by their shape. */
export interface LangChainEmbeddings {
  /** Returns the vectors of passages, in order. */
  embedDocuments(texts: string[]): Promise<number[][]>;
  /** The vector of a question. */
  embedQuery(text: string): Promise<number[]>;
}

/** LangChain's `BaseChatModel`, by its shape. */
export interface LangChainChatModel {
  /** Streams a reply in chunks. */
  stream(messages: never, options?: never): Promise<AsyncIterable<object>>;
  /** The model with tools. */
  bindTools?(tools: never, options?: never): object;
}

/** LangChain's `BaseDocumentCompressor`, by its shape. */
export interface LangChainCompressor {
  /** The documents that matter for a query, best first. */
  compressDocuments(documents: never, query: string): Promise<readonly LangChainDocument[]>;
}

/** Objects of LangChain, and what our ports have to know of them. */
export interface FromLangChainOptions extends ModelLimits {
  /** Becomes the `embedder`. */
  readonly embeddings?: LangChainEmbeddings;
  /** Becomes the `chatModel`. Temperature and length of replies are those that it was made with. */
  readonly chatModel?: LangChainChatModel;
  /** Becomes the `reranker`. It must return the documents that it was given, as rerankers do. */
  readonly documentCompressor?: LangChainCompressor;
  /** Name of the vector space. Default: the `model` of the embeddings. */
  readonly space?: string;
}

const having = <Given>(method: string, is: string) =>
  z.custom<Given>(
    (value) => typeof (value as Record<string, unknown> | null)?.[method] === "function",
    `must be ${is}`,
  );

const fromLangChainOptions = optionsOf<FromLangChainOptions>()({
  ...modelLimits.shape,
  embeddings: having<LangChainEmbeddings>(
    "embedDocuments",
    "embeddings of LangChain, with embedDocuments()",
  ).optional(),
  chatModel: having<LangChainChatModel>("stream", "a chat model of LangChain, with stream()").optional(),
  documentCompressor: having<LangChainCompressor>(
    "compressDocuments",
    "a compressor of LangChain, with compressDocuments()",
  ).optional(),
  space: z.string().min(1).optional(),
});

/** The ports that objects of LangChain became: `openKnowledgeBase({ ...fromLangChain({ … }) })`. */
export interface LangChainPorts {
  /** Present when embeddings were given. */
  readonly embedder?: Embedder;
  /** Present when a chat model was given. */
  readonly chatModel?: ChatModel;
  /** Present when a document compressor was given. */
  readonly reranker?: Reranker;
}

/**
 * Wraps embeddings, chat models and compressors of LangChain.js as ports. They are recognised by their shape, and try again by
 * themselves what may pass. Failures of their services that have a status are `TransportError`s.
 *
 * @throws OptionsError when an option is unknown or not of its kind, or embeddings have neither a `model` nor a `space`.
 * @example
 * ```ts
 * import { openKnowledgeBase } from "citewell";
 * import { fromLangChain, type FromLangChainOptions } from "citewell/langchain";
 * export const openWith = (models: FromLangChainOptions) =>
 *   openKnowledgeBase({ path: "./.citewell", ...fromLangChain(models) });
 * ```
 */
export function fromLangChain(options: FromLangChainOptions): LangChainPorts {
  const settings = resolve("fromLangChain", fromLangChainOptions, options);
  const { embeddings, chatModel, documentCompressor } = settings;
  return {
    ...(embeddings && { embedder: embedderFrom(embeddings, settings) }),
    ...(chatModel && { chatModel: chatModelFrom(chatModel, settings) }),
    ...(documentCompressor && { reranker: rerankerFrom(documentCompressor) }),
  };
}

/** Most integrations keep the model's id in one of these. */
function idOf(source: object): string | undefined {
  const { model, modelName } = source as Readonly<Record<string, unknown>>;
  return [model, modelName].find((name) => typeof name === "string");
}

/** LangChain's embeddings split longer lists themselves. */
const batchTexts = 512;

function embedderFrom(
  source: LangChainEmbeddings,
  { space = idOf(source), maxInputTokens = 512, tokens = defaultTokens }: FromLangChainOptions,
): Embedder {
  if (space === undefined) {
    throw new OptionsError(
      "options",
      "fromLangChain: the embeddings name no model: name their vector space in `space`",
    );
  }
  return {
    space,
    maxInputTokens,
    maxBatchTexts: batchTexts,
    tokens,
    embed: async (texts, { purpose, ...call } = {}) => {
      const isQuestion = purpose === "query" && texts.length === 1;
      const embedded = await attempt(foreignCall("embeddings", call), async () =>
        isQuestion ? [await source.embedQuery(texts[0]!)] : source.embedDocuments([...texts]),
      );
      if (embedded.length !== texts.length) {
        const problem = `sent ${texts.length} texts to ${space}, got ${embedded.length} vectors`;
        throw new TransportError("reply", problem, { operation: "embeddings" });
      }
      return { vectors: embedded.map((vector) => Float32Array.from(vector)) };
    },
  };
}

function rerankerFrom(source: LangChainCompressor): Reranker {
  const compress = source.compressDocuments.bind(source) as (
    documents: LangChainDocument[],
    query: string,
  ) => Promise<readonly LangChainDocument[]>;
  return {
    model: idOf(source) ?? source.constructor.name,
    rerank: async (query, texts, { topN, ...call } = {}) => {
      const documents = texts.map((pageContent, place) => ({ pageContent, metadata: { place } }));
      const ordered = await attempt(foreignCall("rerank", call), () => compress(documents, query));
      const results = ordered.map(({ metadata }, rank) => {
        const { place, relevanceScore } = metadata as { readonly place?: number; readonly relevanceScore?: number };
        if (place === undefined) {
          throw new TransportError("reply", "The compressor returned a document that it was not given", {
            operation: "rerank",
          });
        }
        // Some compressors order without a score.
        return { index: place, score: relevanceScore ?? -rank };
      });
      return { results: results.slice(0, topN) };
    },
  };
}

function chatModelFrom(source: LangChainChatModel, limits: ModelLimits): ChatModel {
  const model = idOf(source) ?? source.constructor.name;
  return { model, ...chatLimits(limits), stream: (request, call) => streamOf(source, model, request, call) };
}

/** The read part of LangChain's `AIMessageChunk`. */
interface Chunk {
  readonly text: string;
  readonly additional_kwargs?: { readonly reasoning_content?: unknown };
  readonly response_metadata?: Readonly<Record<string, unknown>>;
  /** The arguments as the model wrote them: `tool_calls` has what LangChain could read of them. */
  readonly tool_call_chunks?: readonly { readonly id?: string; readonly name?: string; readonly args?: string }[];
  readonly usage_metadata?: { readonly input_tokens: number; readonly output_tokens: number };
  concat(next: Chunk): Chunk;
}

type Streaming = { stream(messages: object[], options: object): Promise<AsyncIterable<Chunk>> };

async function* streamOf(
  source: LangChainChatModel,
  model: string,
  { messages, tools = [], stop, toolChoice }: ChatRequest,
  call: CallOptions | undefined,
): AsyncGenerator<ChatEvent, void, undefined> {
  const open = foreignCall("chat", call);
  let whole: Chunk | undefined;
  try {
    const asked = withTools(source, tools, toolChoice);
    const stream = await attempt(open, (signal) =>
      asked.stream(messagesFor(messages), { signal, ...(stop && { stop }) }),
    );
    for await (const chunk of untilAborted(stream, open.signal)) {
      whole = whole ? whole.concat(chunk) : chunk;
      const thought = chunk.additional_kwargs?.reasoning_content;
      if (typeof thought === "string" && thought !== "") yield { type: "reasoning-delta", text: thought };
      if (chunk.text !== "") yield { type: "text-delta", text: chunk.text };
    }
  } catch (thrown) {
    throw thrown instanceof TransportError ? thrown : open.failure(thrown);
  }
  if (whole) yield* endOf(whole, model);
}

function withTools(
  source: LangChainChatModel,
  tools: ChatRequest["tools"] & object,
  toolChoice: "required" | undefined,
): Streaming {
  if (tools.length === 0) return source as unknown as Streaming;
  if (!source.bindTools)
    throw new OptionsError("options", "This chat model of LangChain takes no tools: it has no bindTools()");
  const bind = source.bindTools.bind(source) as unknown as (tools: object[], options: object) => Streaming;
  return bind(
    tools.map((described) => ({ type: "function", function: described })),
    toolChoice ? { tool_choice: toolChoice } : {},
  );
}

function* endOf(whole: Chunk, model: string): Generator<ChatEvent> {
  const { tool_call_chunks: calls = [], response_metadata: facts = {}, usage_metadata: usage } = whole;
  for (const { id = "", name = "", args = "" } of calls) yield { type: "tool-call", id, name, arguments: args };
  const reason = calls.length > 0 ? "tool-calls" : reasonOf(facts["finish_reason"] ?? facts["stop_reason"]);
  const answeredBy = facts["model_name"] ?? facts["model"];
  yield {
    type: "finish",
    reason,
    usage: usage && { inputTokens: usage.input_tokens, outputTokens: usage.output_tokens },
    model: typeof answeredBy === "string" ? answeredBy : model,
  };
}

/** Finish reasons by vendors' names, our own among them. */
const reasons: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  STOP: "stop",
  end_turn: "stop",
  stop_sequence: "stop",
  length: "length",
  MAX_TOKENS: "length",
  max_tokens: "length",
  tool_calls: "tool-calls",
  tool_use: "tool-calls",
  content_filter: "content-filter",
  SAFETY: "content-filter",
};

function reasonOf(written: unknown): FinishReason {
  return (typeof written === "string" ? reasons[written] : undefined) ?? (written === undefined ? "stop" : "other");
}
