import { azureEnds, compatibleServices } from "./compatible-services.js";
import { type OptionalChatField, type ServiceProfile, openaiChat, openaiPaths } from "./service-profile.js";

// Facts of services that are not the contract's own; above each row stands the public documentation that it was compared with,
// and what it does not say. None was tried against the real service: the tests play each one as its row has it.

/**
 * The kind of a service: `contract` for one that speaks the contract, or one whose own API the table of services
 * describes. `tei` is Hugging Face's text-embeddings-inference.
 */
export type ServiceName =
  | "contract"
  | "openai"
  | "azure-openai"
  | "ollama"
  | "vllm"
  | "llama.cpp"
  | "tei"
  | "cohere"
  | "jina"
  | "voyage"
  | "mistral"
  | "azure-openai-v1"
  | "gemini"
  | "openrouter"
  | "groq"
  | "deepseek"
  | "xai"
  | "together"
  | "bedrock"
  | "lm-studio";

export type OtherService = Exclude<ServiceName, "contract">;

type OpenaiField = "n" | "tool_choice" | "parallel_tool_calls" | "reasoning_effort";

/** The optional fields of a chat request that a service has. The rows below can list no others. */
export type ChatFieldOf<Service extends OtherService> = Service extends "vllm"
  ? OptionalChatField
  : Service extends "openai" | "azure-openai" | "azure-openai-v1" | "xai"
    ? OpenaiField
    : Service extends "llama.cpp"
      ? Exclude<OptionalChatField, "n">
      : Service extends "mistral"
        ? Exclude<OpenaiField, "reasoning_effort">
        : Service extends "ollama" | "cohere"
          ? "reasoning_effort"
          : Service extends "gemini"
            ? Exclude<OpenaiField, "parallel_tool_calls">
            : Service extends "openrouter"
              ? Exclude<OptionalChatField, "n">
              : Service extends "groq"
                ? Exclude<OpenaiField, "n">
                : Service extends "together"
                  ? Exclude<OptionalChatField, "parallel_tool_calls">
                  : Service extends "bedrock"
                    ? "tool_choice" | "reasoning_effort"
                    : Service extends "lm-studio"
                      ? "top_k" | "tool_choice"
                      : Service extends "deepseek"
                        ? "tool_choice"
                        : never;

type Row<Service extends OtherService> = ServiceProfile & {
  readonly chat?: { readonly fields: readonly ChatFieldOf<Service>[] };
};

export const services: { readonly [Service in OtherService]: Row<Service> } = {
  // Chat: https://github.com/openai/openai-node/blob/master/src/resources/chat/completions/completions.ts. The limits of
  // embeddings: https://rubydoc.info/github/openai/openai-ruby/OpenAI/Models/EmbeddingCreateParams/Input.
  openai: {
    baseUrl: "https://api.openai.com/v1",
    examples: { embedding: "text-embedding-3-small", chat: "gpt-4.1-mini" },
    paths: openaiPaths,
    embeddings: {
      dimensions: "dimensions",
      base64: "encoding_format",
      maxTexts: 2048,
      maxBatchTokens: 300_000,
      maxInputTokens: 8192,
    },
    chat: openaiChat,
  },
  // https://learn.microsoft.com/en-us/azure/ai-services/openai/reference and …/how-to/embeddings, with
  // https://github.com/Azure/azure-rest-api-specs (AzureOpenAI/inference/stable/2024-10-21/inference.yaml): the address is that
  // of the resource, models are named by their deployment, and no operation with the key of a resource lists deployments.
  // That version lacks reasoning_effort and the role developer, which later ones have: they need another `apiVersion`.
  "azure-openai": {
    paths: {
      embeddings: "/openai/deployments/{model}/embeddings",
      chat: "/openai/deployments/{model}/chat/completions",
    },
    addressEnds: azureEnds,
    keyHeader: "api-key",
    apiVersion: "2024-10-21",
    telemetryName: "azure.ai.openai",
    embeddings: { dimensions: "dimensions", base64: "encoding_format", maxTexts: 2048, maxInputTokens: 8192 },
    chat: openaiChat,
  },
  // https://docs.ollama.com/api/openai-compatibility, and …/context-length: 4k with less than 24 GiB of video memory.
  ollama: {
    baseUrl: "http://localhost:11434/v1",
    examples: { embedding: "bge-m3", chat: "qwen3" },
    paths: openaiPaths,
    embeddings: { dimensions: "dimensions", base64: "encoding_format" },
    chat: {
      maxTokens: "max_tokens",
      seed: "seed",
      fields: ["reasoning_effort"],
      jsonSchema: "json_schema",
      streamUsage: true,
      developer: false,
      contextTokens: 4096,
    },
  },
  // https://github.com/vllm-project/vllm: docs/serving/openai_compatible_server.md and
  // vllm/entrypoints/openai/chat_completion/protocol.py, which calls max_tokens deprecated; releases before 0.6.3 know no other.
  vllm: {
    baseUrl: "http://localhost:8000/v1",
    examples: { embedding: "BAAI/bge-m3", rerank: "BAAI/bge-reranker-base", chat: "Qwen/Qwen3-0.6B" },
    paths: { ...openaiPaths, rerank: "/rerank" },
    embeddings: { dimensions: "dimensions", base64: "encoding_format" },
    chat: {
      maxTokens: "max_tokens",
      seed: "seed",
      fields: ["n", "top_k", "min_p", "tool_choice", "parallel_tool_calls", "reasoning_effort"],
      jsonSchema: "json_schema",
      streamUsage: true,
      developer: false,
    },
    rerank: { topN: "top_n" },
  },
  // https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md, but for the schema of a reply: the server
  // (tools/server/server-common.cpp) reads OpenAI's form, and ignores the flat one of that README in silence. Whether vectors
  // come in base64 the README does not say.
  "llama.cpp": {
    baseUrl: "http://localhost:8080/v1",
    paths: { ...openaiPaths, rerank: "/rerank" },
    embeddings: { base64: "encoding_format" },
    chat: {
      maxTokens: "max_tokens",
      seed: "seed",
      fields: ["top_k", "min_p", "tool_choice", "parallel_tool_calls", "reasoning_effort"],
      jsonSchema: "json_schema",
      streamUsage: true,
      developer: false,
    },
    rerank: { topN: "top_n" },
  },
  // https://huggingface.github.io/text-embeddings-inference/ (its OpenAPI document) and
  // https://huggingface.co/docs/text-embeddings-inference/cli_arguments (--max-client-batch-size)
  tei: {
    baseUrl: "http://localhost:8080",
    examples: { embedding: "BAAI/bge-m3", rerank: "BAAI/bge-reranker-base" },
    paths: { embeddings: "/v1/embeddings", rerank: "/rerank" },
    addressEnds: ["/v1"],
    embeddings: { base64: "encoding_format", maxTexts: 32 },
    rerank: { documents: "texts", topN: undefined, maxDocuments: 32 },
  },
  // https://github.com/cohere-ai/cohere-typescript (src/api/resources/v2/client/requests: V2EmbedRequest.ts and
  // V2RerankRequest.ts), https://docs.cohere.com/docs/compatibility-api, which has chat in OpenAI's shape, and …/reference/errors.
  cohere: {
    baseUrl: "https://api.cohere.com",
    examples: { embedding: "embed-v4.0", rerank: "rerank-v3.5", chat: "command-a-03-2025" },
    paths: {
      embeddings: "/v2/embed",
      rerank: "/v2/rerank",
      chat: "/compatibility/v1/chat/completions",
      listModels: "/v1/models",
    },
    addressEnds: ["/compatibility/v1", "/v2", "/v1"],
    embeddings: {
      texts: "texts",
      dimensions: "output_dimension",
      purpose: { field: "input_type", query: "search_query", document: "search_document" },
      // By default it cuts what is too long, and says nothing.
      always: { embedding_types: ["float"], truncate: "NONE" },
      maxTexts: 96,
    },
    chat: {
      maxTokens: "max_tokens",
      seed: "seed",
      fields: ["reasoning_effort"],
      jsonSchema: "json_object",
      streamUsage: false,
      developer: true,
    },
    // The number that is recommended; more than 10,000 are refused.
    rerank: { topN: "top_n", maxDocuments: 1000 },
  },
  // https://github.com/jina-ai/meta-prompt/blob/main/v4.txt for the fields, https://api.jina.ai/openapi.json for errors and
  // rate limits. Neither was found to bound the texts of a request.
  jina: {
    baseUrl: "https://api.jina.ai/v1",
    examples: { embedding: "jina-embeddings-v3", rerank: "jina-reranker-v2-base-multilingual" },
    paths: { embeddings: "/embeddings", rerank: "/rerank" },
    embeddings: {
      dimensions: "dimensions",
      base64: "embedding_type",
      // The models of version 2 have no tasks.
      purpose: {
        field: "task",
        query: "retrieval.query",
        document: "retrieval.passage",
        models: /^jina-embeddings-v(?:[3-9]|\d\d)/,
      },
    },
    // By default it sends all documents back.
    rerank: { topN: "top_n", always: { return_documents: false } },
  },
  // https://docs.voyageai.com/reference/embeddings-api, …/docs/error-codes, …/docs/rate-limits, and for rerank
  // https://github.com/voyage-ai/typescript-sdk/blob/main/src/api/client/requests/RerankRequest.ts.
  voyage: {
    baseUrl: "https://api.voyageai.com/v1",
    examples: { embedding: "voyage-3.5", rerank: "rerank-2.5" },
    paths: { embeddings: "/embeddings", rerank: "/rerank" },
    embeddings: {
      dimensions: "output_dimension",
      base64: "encoding_format",
      purpose: { field: "input_type", query: "query", document: "document" },
      // By default it cuts what is too long, and says nothing.
      always: { truncation: false },
      maxTexts: 1000,
      // The least that any of its models takes.
      maxBatchTokens: 120_000,
    },
    rerank: { topN: "top_k", maxDocuments: 1000 },
  },
  // https://docs.mistral.ai/api/: fields that it does not know are refused, and a stream ends with its usage unasked.
  mistral: {
    baseUrl: "https://api.mistral.ai/v1",
    examples: { embedding: "mistral-embed", chat: "mistral-small-latest" },
    paths: openaiPaths,
    telemetryName: "mistral_ai",
    embeddings: { dimensions: "output_dimension", base64: "encoding_format" },
    chat: {
      maxTokens: "max_tokens",
      seed: "random_seed",
      fields: ["n", "tool_choice", "parallel_tool_calls"],
      jsonSchema: "json_schema",
      streamUsage: false,
      developer: false,
    },
  },
  ...compatibleServices,
};

/** All kinds of service, for checks and messages. */
export const serviceNames: readonly ServiceName[] = ["contract", ...(Object.keys(services) as OtherService[])];

/** The row of a service; `undefined` for the contract's own. */
export function serviceProfile(name: ServiceName): ServiceProfile | undefined {
  return name === "contract" ? undefined : services[name];
}

/**
 * The service that an address of Azure is for: the v1 API and that with dated versions have one host and two kinds of paths, and
 * people paste either.
 */
export function serviceAt(name: ServiceName, address: string): ServiceName {
  return name === "azure-openai" && /\/openai\/v1(?:[/?]|$)/.test(address) ? "azure-openai-v1" : name;
}
