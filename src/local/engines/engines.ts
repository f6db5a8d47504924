import type { ModelInfo } from "../../contract/catalogue.js";

/** The part that all engine calls share. Engines yield to the event loop at least every few milliseconds of work. */
export interface EngineCall {
  /** The model that the request names. */
  readonly model: ModelInfo;
  /** Aborts when the caller has gone and no longer needs the work. */
  readonly signal: AbortSignal;
}

/** Turns texts into vectors. */
export interface EmbeddingEngine {
  /** One vector a text, in their order, each of `dimension` finite numbers and of length 1. */
  readonly embed: (
    texts: readonly string[],
    call: EngineCall & {
      /** Length of the vectors. */
      readonly dimension: number;
    },
  ) => Promise<readonly Float32Array[]>;
}

export interface RerankCall extends EngineCall {
  /** Maximum number of pieces that one document is cut into; what lies behind the last is not read. */
  readonly maxChunksPerDocument: number;
  /** Tokens that neighbouring pieces share. */
  readonly overlapTokens: number;
}

/** Scores documents by what they say about a query. */
export interface RerankEngine {
  /** One score a document, 0 to 1, in the order of the documents. */
  readonly score: (query: string, documents: readonly string[], call: RerankCall) => Promise<readonly number[]>;
}

/** A message as an engine reads it: a string's text is its only part. */
export interface EngineMessage {
  /** Role of the speaker. */
  readonly role: "system" | "user" | "assistant";
  /** Its text parts, one below the other. */
  readonly text: string;
  /** Addresses of its images, `data:` or http(s), in order. */
  readonly images: readonly string[];
}

/** A function that the caller offers. */
export interface EngineTool {
  /** Name that calls carry. */
  readonly name: string;
  /** When and how to use it; may be empty. */
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Whether tools are called: none, one at least, or the one of a name. */
export type ToolChoice =
  | "none"
  | "required"
  | {
      /** Name of the tool that must be called. */
      readonly name: string;
    };

export interface ChatPrompt {
  /** Oldest first. */
  readonly messages: readonly EngineMessage[];
  /** Empty when none are offered. */
  readonly tools: readonly EngineTool[];
  /** Default: the model decides. */
  readonly toolChoice?: ToolChoice;
  /** Whether one reply may call several tools. Default: true. */
  readonly parallelToolCalls?: boolean;
  /** Whether the reply must be one JSON object. */
  readonly json: boolean;
  /** JSON Schema that the reply, as JSON, must satisfy. Default: none. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** Whether to return reasoning before the answer. */
  readonly thinks: boolean;
}

/** A reply before `stop` and `max_tokens` are applied, which the service does for every engine alike. */
export interface ChatDraft {
  /** Reasoning text; empty unless `thinks`. */
  readonly reasoning: string;
  /** The text; may be empty when tools are called. */
  readonly content: string;
  /** Calls of tools, in order; empty for none. */
  readonly toolCalls: readonly {
    /** Name of the tool. */
    readonly name: string;
    /** Arguments, as an object. */
    readonly arguments: Readonly<Record<string, unknown>>;
  }[];
}

/** Answers messages. */
export interface ChatEngine {
  /** Makes one whole reply. */
  readonly draft: (prompt: ChatPrompt, call: EngineCall) => Promise<ChatDraft>;
}

/** One engine for each kind of model. Each may be replaced by a real model behind the same interface. */
export interface Engines {
  /** Serves the models of type `embedding`. */
  readonly embedding: EmbeddingEngine;
  /** Serves the models of type `rerank`. */
  readonly rerank: RerankEngine;
  /** Serves the models of type `llm`. */
  readonly chat: ChatEngine;
  /** Serves the models of type `vlm`. */
  readonly vision: ChatEngine;
}
