/**
 * Kinds of models: text (`llm`), text and pictures (`vlm`), vectors (`embedding`), relevance (`rerank`), videos
 * (`video`).
 */
export type ModelType = "llm" | "vlm" | "embedding" | "rerank" | "video";

/** Model families differ in how thinking is switched. */
export type ModelFamily = "Q3" | "D" | "S";

/**
 * Features that only some video models have: reference media, the `flex` tier, 1080p, `frames`, `camera_fixed`, pictures
 * in the formats HEIC and HEIF.
 */
export const videoFeatures = ["references", "flex", "1080p", "frames", "camera-fixed", "heic"] as const;
/** Features that only some video models have. */
export type VideoFeature = (typeof videoFeatures)[number];

/** The properties of a model that a request must respect. */
export interface ModelInfo {
  /** Name that requests carry. */
  readonly id: string;
  /** Decides which operations the model serves. */
  readonly type: ModelType;
  /** Decides which switch for thinking a chat model takes. Left out: `reasoning_effort` alone. */
  readonly family?: ModelFamily;
  /** Embedding: tokens in one text. Rerank: tokens of query and one piece of a document together. */
  readonly maxInputTokens?: number;
  /** Embedding: length of its vectors, if it is fixed. */
  readonly dimension?: number;
  /** Embedding: lengths that may be requested, if the model has several. The contract has no such model. */
  readonly dimensions?: readonly number[];
  /** LLM and VLM: tokens of request and reply together. */
  readonly contextTokens?: number;
  /** Video: its features; others are refused. Left out: references and HEIC are refused, the service decides the rest. */
  readonly videoFeatures?: readonly VideoFeature[];
}

/** Maximum tokens per text of the service's embedding models: 8192 for the one whose id ends in `m3`, 512 for all others. */
export function embeddingTokenLimit(modelId: string): number {
  return modelId.toLowerCase().endsWith("m3") ? 8192 : 512;
}

/** The two models of the published contract that make videos. */
export const videoModels: readonly ModelInfo[] = [
  { id: "vendor/vendor-video-2.0", type: "video", videoFeatures: ["references"] },
  { id: "vendor/vendor-video-2.0-fast", type: "video", videoFeatures: ["references"] },
];

/** The models that the local service publishes. They are lexical engines, not neural networks, and say so in their ids. */
export const localModels: readonly ModelInfo[] = [
  { id: "citewell/local-lexical-m3", type: "embedding", maxInputTokens: 8192, dimension: 1024 },
  { id: "citewell/local-lexical", type: "embedding", maxInputTokens: 512, dimension: 512 },
  { id: "citewell/local-lexical-rerank", type: "rerank", maxInputTokens: 8192 },
  { id: "citewell/local-extractive", type: "llm", contextTokens: 131_072 },
  { id: "citewell/local-extractive-q3", type: "llm", family: "Q3", contextTokens: 131_072 },
  { id: "citewell/local-extractive-d", type: "llm", family: "D", contextTokens: 131_072 },
  { id: "citewell/local-extractive-s", type: "llm", family: "S", contextTokens: 131_072 },
  { id: "citewell/local-look", type: "vlm", contextTokens: 32_768 },
];

/** Default local models. */
export const localDefaults = {
  embedding: "citewell/local-lexical-m3",
  rerank: "citewell/local-lexical-rerank",
  chat: "citewell/local-extractive",
  picture: "citewell/local-look",
} as const;

/**
 * Describes a model by the catalogue's entry, or for an id that it lacks, by what holds for all models of that type. The
 * published list changes, so an unknown id is not an error here: the service decides.
 */
export function modelInfo(catalogue: readonly ModelInfo[], id: string, type: ModelType): ModelInfo {
  const known = catalogue.find((model) => model.id === id);
  if (known) return known;
  return type === "embedding" ? { id, type, maxInputTokens: embeddingTokenLimit(id) } : { id, type };
}
