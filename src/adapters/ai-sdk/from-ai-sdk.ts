import { z } from "zod";
import { TransportError } from "../../core/errors.js";
import { optionsOf, resolve } from "../../core/options.js";
import type { ChatModel, Embedder, Reranker } from "../../core/ports.js";
import { defaultTokens } from "../../text/tokens/tokens.js";
import { attempt, foreignCall, maxAttempts } from "../foreign-call.js";
import { type ModelLimits, modelLimits } from "../model-limits.js";
import { chatModelFrom } from "./from-language-model.js";
import type {
  AiSdkEmbeddingModel,
  AiSdkLanguageModel,
  AiSdkRerankingModel,
  AnyEmbeddingModel,
  AnyLanguageModel,
  AnyRerankingModel,
} from "./specification.js";

/** Models of the AI SDK's providers, and what our ports have to know of them. */
export interface FromAiSdkOptions extends ModelLimits {
  /** Becomes the `embedder`; its space is the model's id. */
  readonly embeddingModel?: AnyEmbeddingModel;
  /** Becomes the `chatModel`. */
  readonly languageModel?: AnyLanguageModel;
  /** Becomes the `reranker`. */
  readonly rerankingModel?: AnyRerankingModel;
}

const versions: readonly unknown[] = ["v2", "v3", "v4"];

const model = <Model>(method: string) =>
  z.custom<Model>().superRefine((value, context) => {
    const refuse = (message: string) => context.addIssue({ code: "custom", message });
    if (typeof value === "string") refuse("must be a model that a provider made, not the id of one");
    else if (typeof (value as Record<string, unknown> | null)?.[method] !== "function") {
      refuse(`must be a model of an AI SDK provider, with ${method}()`);
    } else {
      const { specificationVersion: version } = value as { readonly specificationVersion?: unknown };
      if (!versions.includes(version)) {
        refuse(
          `has the specification version ${String(version)}, and v2, v3 and v4 are known: install a provider for version 5 of the AI SDK or later`,
        );
      }
    }
  });

const fromAiSdkOptions = optionsOf<FromAiSdkOptions>()({
  ...modelLimits.shape,
  embeddingModel: model<AnyEmbeddingModel>("doEmbed").optional(),
  languageModel: model<AnyLanguageModel>("doStream").optional(),
  rerankingModel: model<AnyRerankingModel>("doRerank").optional(),
});

/** The ports that models became: `openKnowledgeBase({ ...fromAiSdk({ … }) })`. */
export interface AiSdkPorts {
  /** Present when an embedding model was given. */
  readonly embedder?: Embedder;
  /** Present when a language model was given. */
  readonly chatModel?: ChatModel;
  /** Present when a reranking model was given. */
  readonly reranker?: Reranker;
}

/**
 * Wraps models of any AI SDK provider as ports. They are recognised by their shape, whatever version of the SDK made them:
 * the package `ai` is not needed. Failures of their services are `TransportError`s; transient ones are tried three times.
 *
 * @throws OptionsError when an option is unknown or out of range, or a model has a specification version that is not known.
 * @example
 * ```ts
 * import { openKnowledgeBase } from "citewell";
 * import { fromAiSdk, type FromAiSdkOptions } from "citewell/ai-sdk";
 * export const openWith = (models: FromAiSdkOptions) => openKnowledgeBase({ path: "./.citewell", ...fromAiSdk(models) });
 * ```
 */
export function fromAiSdk(options: FromAiSdkOptions): AiSdkPorts {
  const settings = resolve("fromAiSdk", fromAiSdkOptions, options);
  const { embeddingModel, languageModel, rerankingModel } = settings;
  // The few differences between versions are handled where they are read.
  return {
    ...(embeddingModel && { embedder: embedderFrom(embeddingModel as AiSdkEmbeddingModel, settings) }),
    ...(languageModel && { chatModel: chatModelFrom(languageModel as AiSdkLanguageModel, settings) }),
    ...(rerankingModel && { reranker: rerankerFrom(rerankingModel) }),
  };
}

const defaultBatchTexts = 32;

function embedderFrom(
  source: AiSdkEmbeddingModel,
  { maxInputTokens = 512, tokens = defaultTokens }: ModelLimits,
): Embedder {
  const { modelId, maxEmbeddingsPerCall: stated } = source;
  return {
    space: modelId,
    maxInputTokens,
    maxBatchTexts: typeof stated === "number" ? Math.min(stated, 2048) : defaultBatchTexts,
    tokens,
    embed: async (texts, call) => {
      const open = foreignCall("embeddings", call);
      const perCall = Math.min((await stated) ?? Infinity, Math.max(1, texts.length));
      const vectors: Float32Array[] = [];
      let used: number | undefined = 0;
      for (let offset = 0; offset < texts.length; offset += perCall) {
        const values = texts.slice(offset, offset + perCall);
        const send = (abortSignal: AbortSignal) => source.doEmbed({ values, abortSignal });
        const { embeddings, usage } = await attempt(open, send, maxAttempts);
        if (embeddings.length !== values.length) {
          const problem = `sent ${values.length} texts to ${modelId}, got ${embeddings.length} vectors`;
          throw new TransportError("reply", problem, { operation: "embeddings" });
        }
        for (const vector of embeddings) vectors.push(Float32Array.from(vector));
        used = usage && used !== undefined ? used + usage.tokens : undefined;
      }
      return { vectors, tokens: used };
    },
  };
}

function rerankerFrom(source: AiSdkRerankingModel): Reranker {
  const { modelId } = source;
  return {
    model: modelId,
    rerank: async (query, documents, { topN, ...call } = {}) => {
      if (documents.length === 0) return { results: [] };
      const values = [...documents];
      const { ranking } = await attempt(
        foreignCall("rerank", call),
        (abortSignal) =>
          source.doRerank({
            query,
            documents: { type: "text", values },
            ...(topN !== undefined && { topN }),
            abortSignal,
          }),
        maxAttempts,
      );
      const odd = ranking.find(
        ({ index }, candidate) =>
          !(index in values) || ranking.findIndex((ranked) => ranked.index === index) < candidate,
      );
      if (odd) {
        const problem = `${modelId} ranked document ${odd.index} of ${values.length}, which is not there or ranked twice`;
        throw new TransportError("reply", problem, { operation: "rerank" });
      }
      const results = ranking.map(({ index, relevanceScore: score }) => ({ index, score }));
      return {
        results: results.toSorted((one, other) => other.score - one.score || one.index - other.index).slice(0, topN),
      };
    },
  };
}
