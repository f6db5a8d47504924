import type {
  EmbeddingModel,
  experimental_generateVideo as generateVideo,
  LanguageModel,
  LanguageModelMiddleware,
  RerankingModel,
} from "ai";

// The interface between the AI SDK and its providers, as version 6 of the package `ai` exports it. Types alone: nothing of
// the package is loaded.

/** A language model of any version that the installed `ai` knows. */
export type AnyLanguageModel = Exclude<LanguageModel, string>;
/** An embedding model of any version that the installed `ai` knows. */
export type AnyEmbeddingModel = Exclude<EmbeddingModel, string>;
/** A reranking model of any version that the installed `ai` knows. */
export type AnyRerankingModel = Exclude<RerankingModel, string>;

type OfVersion3<Model> = Extract<Model, { readonly specificationVersion: "v3" }>;

/** The AI SDK's `LanguageModelV3`. */
export type AiSdkLanguageModel = OfVersion3<LanguageModel>;
/** The AI SDK's `EmbeddingModelV3`. */
export type AiSdkEmbeddingModel = OfVersion3<EmbeddingModel>;
/** The AI SDK's `RerankingModelV3`. */
export type AiSdkRerankingModel = OfVersion3<RerankingModel>;
/** The AI SDK's `Experimental_VideoModelV3`. */
export type AiSdkVideoModel = Exclude<Parameters<typeof generateVideo>[0]["model"], string>;
/** The AI SDK's `LanguageModelV3Middleware`. */
export type AiSdkMiddleware = LanguageModelMiddleware;

export type CallSettings = Parameters<AiSdkLanguageModel["doStream"]>[0];
export type Prompt = CallSettings["prompt"];
export type PromptMessage = Prompt[number];
export type GenerateResult = Awaited<ReturnType<AiSdkLanguageModel["doGenerate"]>>;
export type StreamResult = Awaited<ReturnType<AiSdkLanguageModel["doStream"]>>;
export type StreamPart = StreamResult["stream"] extends ReadableStream<infer Part> ? Part : never;
export type Content = GenerateResult["content"][number];
export type Warning = GenerateResult["warnings"][number];
