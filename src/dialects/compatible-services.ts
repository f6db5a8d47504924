import { type ServiceProfile, openaiChat, openaiPaths } from "./service-profile.js";

/** Ends of the addresses that Azure's portal and its samples show. */
export const azureEnds = [
  "/openai",
  "/openai/v1",
  "/openai/v1/responses",
  "/openai/responses",
  "/openai/deployments",
  "/openai/deployments/{model}",
  "/openai/deployments/{model}/embeddings",
  "/openai/deployments/{model}/completions",
  "/openai/deployments/{model}/chat",
  "/openai/deployments/{model}/chat/completions",
] as const;

const prefixed = (prefix: string) => ({
  embeddings: `${prefix}/embeddings`,
  chat: `${prefix}/chat/completions`,
  listModels: `${prefix}/models`,
});

/**
 * Services that speak OpenAI's API beside their own or instead of one. Above each row stands the documentation that it was
 * compared with.
 */
export const compatibleServices = {
  // https://learn.microsoft.com/en-us/azure/foundry/openai/api-version-lifecycle: no version goes into the query, but may, as
  // `preview`; a model is named by its deployment.
  "azure-openai-v1": {
    paths: prefixed("/openai/v1"),
    addressEnds: azureEnds,
    keyHeader: "api-key",
    takesApiVersion: true,
    telemetryName: "azure.ai.openai",
    embeddings: { dimensions: "dimensions", base64: "encoding_format", maxTexts: 2048, maxInputTokens: 8192 },
    chat: openaiChat,
  },
  // https://ai.google.dev/gemini-api/docs/openai, and https://ai.google.dev/api/embeddings for the texts of a request. Whether
  // vectors come in base64 it does not say.
  gemini: {
    baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
    examples: { embedding: "gemini-embedding-001", chat: "gemini-2.5-flash" },
    paths: openaiPaths,
    telemetryName: "gcp.gemini",
    embeddings: { dimensions: "dimensions", maxTexts: 100 },
    chat: {
      maxTokens: "max_completion_tokens",
      seed: "seed",
      fields: ["n", "tool_choice", "reasoning_effort"],
      jsonSchema: "json_schema",
      streamUsage: true,
      developer: false,
    },
  },
  // https://openrouter.ai/docs/api-reference/overview and …/parameters; rerank: …/docs/client-sdks/typescript, CreateRerankRequestBody.
  // A stream ends with its usage unasked.
  openrouter: {
    baseUrl: "https://openrouter.ai/api/v1",
    examples: { embedding: "openai/text-embedding-3-small", rerank: "cohere/rerank-v3.5", chat: "openai/gpt-4.1-mini" },
    paths: { ...openaiPaths, rerank: "/rerank" },
    embeddings: { dimensions: "dimensions", base64: "encoding_format" },
    chat: {
      maxTokens: "max_tokens",
      seed: "seed",
      fields: ["top_k", "min_p", "tool_choice", "parallel_tool_calls", "reasoning_effort"],
      jsonSchema: "json_schema",
      streamUsage: false,
      developer: false,
    },
    rerank: { topN: "top_n" },
  },
  // https://console.groq.com/docs/openai and …/docs/api-reference: `n` must be 1. It has no model for vectors.
  groq: {
    baseUrl: "https://api.groq.com/openai/v1",
    examples: { chat: "llama-3.3-70b-versatile" },
    paths: { chat: openaiPaths.chat, listModels: openaiPaths.listModels },
    addressEnds: [],
    chat: {
      maxTokens: "max_completion_tokens",
      seed: "seed",
      fields: ["tool_choice", "parallel_tool_calls", "reasoning_effort"],
      jsonSchema: "json_schema",
      streamUsage: true,
      developer: false,
    },
  },
  // https://api-docs.deepseek.com/api/create-chat-completion: JSON, but by no schema, and no seed, which it ignores. The address with
  // /v1 is the same one, that with /beta is another.
  deepseek: {
    baseUrl: "https://api.deepseek.com",
    examples: { chat: "deepseek-chat" },
    paths: { chat: openaiPaths.chat, listModels: openaiPaths.listModels },
    addressEnds: ["/v1"],
    chat: {
      maxTokens: "max_tokens",
      seed: "seed",
      fields: ["tool_choice"],
      jsonSchema: "none",
      streamUsage: true,
      developer: false,
      replaysReasoning: true,
    },
  },
  // https://docs.x.ai/docs/api-reference, which calls max_tokens deprecated.
  xai: {
    baseUrl: "https://api.x.ai/v1",
    examples: { chat: "grok-4" },
    paths: { chat: openaiPaths.chat, listModels: openaiPaths.listModels },
    telemetryName: "x_ai",
    chat: { ...openaiChat, developer: false },
  },
  // https://docs.together.ai/docs/inference/openai-compatibility and …/reference/chat-completions-1; a stream ends with its usage
  // unasked. It says nothing of base64, nor of lengths of vectors.
  together: {
    baseUrl: "https://api.together.ai/v1",
    examples: {
      embedding: "intfloat/multilingual-e5-large-instruct",
      rerank: "Salesforce/Llama-Rank-V1",
      chat: "openai/gpt-oss-20b",
    },
    paths: { ...openaiPaths, rerank: "/rerank" },
    embeddings: {},
    chat: {
      maxTokens: "max_tokens",
      seed: "seed",
      fields: ["n", "top_k", "min_p", "tool_choice", "reasoning_effort"],
      jsonSchema: "json_schema",
      streamUsage: false,
      developer: false,
    },
    rerank: { topN: "top_n" },
  },
  // https://docs.aws.amazon.com/bedrock/latest/userguide/inference-chat-completions.html, by a key of Bedrock: the address is that of a
  // region, such as https://bedrock-runtime.us-west-2.amazonaws.com. Its samples have the role developer.
  bedrock: {
    paths: { chat: "/openai/v1/chat/completions" },
    addressEnds: ["/openai/v1", "/openai", "/v1", "/v1/chat/completions"],
    telemetryName: "aws.bedrock",
    chat: { ...openaiChat, fields: ["tool_choice", "reasoning_effort"] },
  },
  // https://lmstudio.ai/docs/developer/openai-compat. Whether vectors come in base64 it does not say.
  "lm-studio": {
    baseUrl: "http://localhost:1234/v1",
    examples: { embedding: "text-embedding-nomic-embed-text-v1.5", chat: "qwen/qwen3-4b" },
    paths: openaiPaths,
    embeddings: {},
    chat: {
      maxTokens: "max_tokens",
      seed: "seed",
      fields: ["top_k", "tool_choice"],
      jsonSchema: "json_schema",
      streamUsage: true,
      developer: false,
    },
  },
} as const satisfies Readonly<Record<string, ServiceProfile>>;
