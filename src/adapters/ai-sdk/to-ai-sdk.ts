import { z } from "zod";
import { optionsOf, resolve } from "../../core/options.js";
import type { ChatModel, Embedder, Reranker } from "../../core/ports.js";
import { chatModel } from "../../models/chat-model.js";
import { embedder } from "../../models/embedder.js";
import { reranker } from "../../models/reranker.js";
import { checkTransport, type Transport } from "../../transport/transport.js";
import type { AiSdkEmbeddingModel, AiSdkLanguageModel, AiSdkRerankingModel, AiSdkVideoModel } from "./specification.js";
import { languageModelOf } from "./to-language-model.js";
import { videoModelOf } from "./to-video-model.js";

/** Ports of any kind, ready-made or your own. */
export interface ToAiSdkOptions {
  /** Becomes the `embeddingModel`. */
  readonly embedder?: Embedder;
  /** Becomes the `languageModel`. */
  readonly chatModel?: ChatModel;
  /** Becomes the `rerankingModel`. */
  readonly reranker?: Reranker;
}

const port = <Port>(method: string, is: string) =>
  z.custom<Port>((value) => typeof (value as Record<string, unknown> | null)?.[method] === "function", `must be ${is}`);

const toAiSdkOptions = optionsOf<ToAiSdkOptions>()({
  embedder: port<Embedder>("embed", "an embedder, with embed()").optional(),
  chatModel: port<ChatModel>("stream", "a chat model, with stream()").optional(),
  reranker: port<Reranker>("rerank", "a reranker, with rerank()").optional(),
});

/** The models that ports became. */
export interface AiSdkModels {
  /** For `embed` and `embedMany`. Present when an embedder was given. */
  readonly embeddingModel?: AiSdkEmbeddingModel;
  /** For `generateText`, `streamText` and all that is built on them. Present when a chat model was given. */
  readonly languageModel?: AiSdkLanguageModel;
  /** For `rerank`. Present when a reranker was given. */
  readonly rerankingModel?: AiSdkRerankingModel;
}

/**
 * Wraps ports as models of the AI SDK, by version 3 of its specification.
 *
 * @throws OptionsError when an option is unknown, or no port of its kind.
 * @example
 * ```ts
 * import { embed } from "ai";
 * import type { Embedder } from "citewell";
 * import { toAiSdk } from "citewell/ai-sdk";
 * export async function vectorOf(embedder: Embedder, value: string) {
 *   const { embeddingModel } = toAiSdk({ embedder });
 *   return (await embed({ model: embeddingModel!, value })).embedding;
 * }
 * ```
 */
export function toAiSdk(options: ToAiSdkOptions): AiSdkModels {
  const ports = resolve("toAiSdk", toAiSdkOptions, options);
  return {
    ...(ports.embedder && { embeddingModel: embeddingModelOf(ports.embedder) }),
    ...(ports.chatModel && { languageModel: languageModelOf(ports.chatModel) }),
    ...(ports.reranker && { rerankingModel: rerankingModelOf(ports.reranker) }),
  };
}

/** Models of the service behind a transport, by id. */
export interface AiSdkProvider {
  /** An LLM, for `generateText` and `streamText`. */
  readonly languageModel: (id: string) => AiSdkLanguageModel;
  /** An embedding model, for `embed` and `embedMany`. */
  readonly embeddingModel: (id: string) => AiSdkEmbeddingModel;
  /** A reranker, for `rerank`. */
  readonly rerankingModel: (id: string) => AiSdkRerankingModel;
  /** A video model, for `experimental_generateVideo`. */
  readonly videoModel: (id: string) => AiSdkVideoModel;
}

/**
 * The service behind a transport as a provider of the AI SDK. The transport retries by itself: pass `maxRetries: 0` where the
 * AI SDK asks, though its own retries never see the transport's errors.
 *
 * @throws OptionsError for what is no transport.
 * @example
 * ```ts
 * import { generateText } from "ai";
 * import { createTransport } from "citewell";
 * import { aiSdkProvider } from "citewell/ai-sdk";
 * const provider = aiSdkProvider(createTransport({ baseUrl: "https://api.example.com/v1", apiKey: "…" }));
 * const { text } = await generateText({ model: provider.languageModel("…"), prompt: "When do keys expire?", maxRetries: 0 });
 * console.log(text);
 * ```
 */
export function aiSdkProvider(transport: Transport): AiSdkProvider {
  checkTransport("aiSdkProvider", transport);
  return {
    languageModel: (id) => languageModelOf(chatModel(transport, { model: id })),
    embeddingModel: (id) => embeddingModelOf(embedder(transport, { model: id })),
    rerankingModel: (id) => rerankingModelOf(reranker(transport, { model: id })),
    videoModel: (id) => videoModelOf(transport, id),
  };
}

function embeddingModelOf({ space, maxBatchTexts, embed }: Embedder): AiSdkEmbeddingModel {
  return {
    specificationVersion: "v3",
    provider: "citewell",
    modelId: space,
    maxEmbeddingsPerCall: maxBatchTexts,
    supportsParallelCalls: true,
    doEmbed: async ({ values, abortSignal }) => {
      const { vectors, tokens } = await embed(values, abortSignal ? { signal: abortSignal } : {});
      return {
        embeddings: vectors.map((vector) => [...vector]),
        ...(tokens !== undefined && { usage: { tokens } }),
        warnings: [],
      };
    },
  };
}

function rerankingModelOf({ model, rerank }: Reranker): AiSdkRerankingModel {
  return {
    specificationVersion: "v3",
    provider: "citewell",
    modelId: model,
    doRerank: async ({ query, documents, topN, abortSignal }) => {
      const texts =
        documents.type === "text" ? documents.values : documents.values.map((value) => JSON.stringify(value));
      const { results } = await rerank(query, texts, {
        ...(topN !== undefined && { topN }),
        ...(abortSignal && { signal: abortSignal }),
      });
      return { ranking: results.map(({ index, score }) => ({ index, relevanceScore: score })) };
    },
  };
}
