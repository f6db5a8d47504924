import type { OperationName } from "../contract/operations.js";

/** Fields of a chat request that some services have and others lack. */
export type OptionalChatField = "n" | "top_k" | "min_p" | "tool_choice" | "parallel_tool_calls" | "reasoning_effort";

/** Deviations of a service from the contract. */
export interface ServiceProfile {
  /** The address that all its users share, or that it has where it runs by default. Default: none. */
  readonly baseUrl?: string;
  /** Below `baseUrl`. An operation that is left out is one that the service lacks. `{model}` is the model's id. */
  readonly paths: Readonly<Partial<Record<OperationName, string>>>;
  /** Ends of an address that are pasted along with it, beside the paths; `{model}` is any model. Default: none. */
  readonly addressEnds?: readonly string[];
  /** The header that carries the bare key. Default: `Authorization: Bearer …`. */
  readonly keyHeader?: "api-key";
  /** Version of the interface that goes into the query of every request. Default: none. */
  readonly apiVersion?: string;
  /** Whether a version may go there that is given in the options or the address. Default: where there is `apiVersion`. */
  readonly takesApiVersion?: boolean;
  /** Models that its documentation names, for messages that ask for one. Default: none, the names are the user's own. */
  readonly examples?: Readonly<Partial<Record<"embedding" | "rerank" | "chat", string>>>;
  /** Its name in telemetry, where the conventions have another one. Default: the row's. */
  readonly telemetryName?: string;
  readonly embeddings?: {
    /** The field of the texts. Default: `input`. */
    readonly texts?: "texts";
    /** The field for a vector's length. Default: none, it cannot be asked for. */
    readonly dimensions?: "dimensions" | "output_dimension";
    /** The field that asks for base64. Default: none, vectors come as numbers. */
    readonly base64?: "encoding_format" | "embedding_type";
    /** The field that tells questions from documents, and the models that have it. Default: none. */
    readonly purpose?: {
      readonly field: "input_type" | "task";
      readonly query: string;
      readonly document: string;
      readonly models?: RegExp;
    };
    /** Fields that every request has. */
    readonly always?: Readonly<Record<string, unknown>>;
    /** Maximum texts in one request. Default: not documented. */
    readonly maxTexts?: number;
    /** Maximum tokens in one request, all texts together. Default: not documented. */
    readonly maxBatchTokens?: number;
    /** Maximum tokens of a text, where all of its models take as many. Default: by model. */
    readonly maxInputTokens?: number;
  };
  readonly chat?: {
    readonly maxTokens: "max_tokens" | "max_completion_tokens";
    readonly seed: "seed" | "random_seed";
    readonly fields: readonly OptionalChatField[];
    /** How `response_format` carries a JSON Schema: as OpenAI writes it, beside the type `json_object`, or not at all. */
    readonly jsonSchema: "json_schema" | "json_object" | "none";
    /** Whether streams report their usage only when `stream_options` asks for it. */
    readonly streamUsage: boolean;
    /** Whether it takes the role `developer`. */
    readonly developer: boolean;
    /** Whether it refuses tool calls that come back without the thinking before them. Default: false. */
    readonly replaysReasoning?: boolean;
    /**
     * Tokens of request and reply together, where it has fewer than its models unless it is set up for more, and cuts the
     * beginning of longer ones without a word. Default: the model's.
     */
    readonly contextTokens?: number;
  };
  readonly rerank?: {
    /** The field of the documents. Default: `documents`. */
    readonly documents?: "texts";
    /** The field for the number of results. `undefined`: there is none, all are returned. */
    readonly topN: "top_n" | "top_k" | undefined;
    readonly always?: Readonly<Record<string, unknown>>;
    /** Maximum documents in one request. Default: not documented. */
    readonly maxDocuments?: number;
  };
}

/** Paths of OpenAI's API below its address, which most others have. */
export const openaiPaths = { embeddings: "/embeddings", chat: "/chat/completions", listModels: "/models" } as const;

/** Chat as OpenAI has it. */
export const openaiChat = {
  maxTokens: "max_completion_tokens",
  seed: "seed",
  fields: ["n", "tool_choice", "parallel_tool_calls", "reasoning_effort"],
  jsonSchema: "json_schema",
  streamUsage: true,
  developer: true,
} as const;
