import type { ServiceName } from "../../../src/dialects/services.js";
import type { ScriptedReply } from "../../support/scripted-upstream.js";

// The wire of each service as its row describes it, written out: what a request must be, and what comes back.

interface Exchange {
  readonly path: string;
  readonly body: object;
  readonly reply: ScriptedReply;
}

export interface ServiceRow {
  readonly service: Exclude<ServiceName, "contract">;
  /** Headers that carry the key `sk-0123456789`. Default: `authorization`. */
  readonly keyHeaders?: object;
  /** Two documents, `Keys expire.` and `Locks rust.`, by the model `e`; the reply has the vectors [1, 0] and [0, 1]. */
  readonly embeddings?: Exchange & { readonly tokens: number | undefined };
  /** The same question as a query. Default: the service makes no difference. */
  readonly query?: object;
  /** The question `q` and the documents `a` and `b`, the best one wanted; the reply prefers the second, by 0.9 to 0.1. */
  readonly rerank?: Exchange & { readonly tokens: number | undefined };
  /** A conversation with tools, a schema, a seed and a limit of 50; the reply is `{"ok":true}`. */
  readonly chat?: Exchange;
  /** The end of a stream. */
  readonly streamUsage?: "asked" | "unasked";
}

const input = ["Keys expire.", "Locks rust."];
const float32 = (values: readonly number[]) => Buffer.from(Float32Array.from(values).buffer).toString("base64");
const inBase64 = [float32([1, 0]), float32([0, 1])];

/** OpenAI's reply to a request for vectors, which most services copy. */
const vectorList = (vectors: readonly unknown[], usage: object | undefined): ScriptedReply => ({
  json: {
    object: "list",
    data: vectors.map((embedding, index) => ({ object: "embedding", embedding, index })),
    model: "e",
    ...(usage && { usage }),
  },
});

export const messages = [
  { role: "system" as const, content: "Answer in JSON." },
  { role: "user" as const, content: "?" },
  {
    role: "assistant" as const,
    content: "",
    tool_calls: [{ id: "c00000001", type: "function" as const, function: { name: "clock", arguments: "{}" } }],
  },
  { role: "tool" as const, tool_call_id: "c00000001", content: "noon" },
];
export const tools = [{ type: "function" as const, function: { name: "clock", parameters: { type: "object" } } }];
export const schema = { type: "object", properties: { ok: { type: "boolean" } } };
export const schemaFormat = {
  type: "json_schema" as const,
  json_schema: { name: "answer", schema },
};

const completion = (usage: object): ScriptedReply => ({
  json: {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_700_000_000,
    model: "c-2026",
    choices: [{ index: 0, message: { role: "assistant", content: '{"ok":true}' }, finish_reason: "stop" }],
    usage,
  },
});

/** A request to chat as a service gets it, with these fields for what services name differently. */
const chatBody = (own: object) => ({
  model: "c",
  messages,
  tools,
  stream: false,
  temperature: 0.7,
  stop: ["END"],
  ...own,
});
const openaiCounts = { prompt_tokens: 12, completion_tokens: 4, total_tokens: 16 };

const jinaResults = (more: object = {}): ScriptedReply => ({
  json: {
    model: "r",
    results: [
      { index: 1, relevance_score: 0.9 },
      { index: 0, relevance_score: 0.1 },
    ],
    ...more,
  },
});

const inOpenaiForm = {
  body: { model: "e", input, encoding_format: "base64" },
  reply: vectorList(inBase64, { prompt_tokens: 8, total_tokens: 8 }),
  tokens: 8,
};
const inNumbers = {
  body: { model: "e", input },
  reply: vectorList(
    [
      [1, 0],
      [0, 1],
    ],
    { prompt_tokens: 8, total_tokens: 8 },
  ),
  tokens: 8,
};

export const rows: readonly ServiceRow[] = [
  {
    service: "openai",
    embeddings: {
      path: "/v1/embeddings",
      body: { model: "e", input, encoding_format: "base64" },
      reply: vectorList(inBase64, { prompt_tokens: 8, total_tokens: 8 }),
      tokens: 8,
    },
    chat: {
      path: "/v1/chat/completions",
      body: chatBody({
        max_completion_tokens: 50,
        seed: 7,
        response_format: schemaFormat,
        tool_choice: "required",
        parallel_tool_calls: false,
      }),
      reply: completion({ ...openaiCounts, completion_tokens_details: { reasoning_tokens: 0 } }),
    },
    streamUsage: "asked",
  },
  {
    service: "azure-openai",
    keyHeaders: { "api-key": "sk-0123456789" },
    embeddings: {
      path: "/openai/deployments/e/embeddings?api-version=2024-10-21",
      body: { model: "e", input, encoding_format: "base64" },
      reply: vectorList(inBase64, { prompt_tokens: 8, total_tokens: 8 }),
      tokens: 8,
    },
    chat: {
      path: "/openai/deployments/c/chat/completions?api-version=2024-10-21",
      body: chatBody({
        max_completion_tokens: 50,
        seed: 7,
        response_format: schemaFormat,
        tool_choice: "required",
        parallel_tool_calls: false,
      }),
      reply: completion(openaiCounts),
    },
    streamUsage: "asked",
  },
  {
    service: "ollama",
    embeddings: {
      path: "/v1/embeddings",
      body: { model: "e", input, encoding_format: "base64" },
      // Releases before the field existed ignore it.
      reply: vectorList(
        [
          [1, 0],
          [0, 1],
        ],
        { prompt_tokens: 8, total_tokens: 8 },
      ),
      tokens: 8,
    },
    chat: {
      path: "/v1/chat/completions",
      body: chatBody({ max_tokens: 50, seed: 7, response_format: schemaFormat }),
      reply: completion(openaiCounts),
    },
    streamUsage: "asked",
  },
  {
    service: "vllm",
    embeddings: {
      path: "/v1/embeddings",
      body: { model: "e", input, encoding_format: "base64" },
      reply: vectorList(inBase64, { prompt_tokens: 8, total_tokens: 8, completion_tokens: 0 }),
      tokens: 8,
    },
    rerank: {
      path: "/v1/rerank",
      body: { model: "r", query: "q", documents: ["a", "b"], top_n: 1 },
      reply: {
        json: {
          id: "rerank-1",
          model: "r",
          usage: { prompt_tokens: 56, total_tokens: 56 },
          results: [{ index: 1, document: { text: "b" }, relevance_score: 0.9 }],
        },
      },
      tokens: 56,
    },
    chat: {
      path: "/v1/chat/completions",
      body: chatBody({
        max_tokens: 50,
        seed: 7,
        response_format: schemaFormat,
        tool_choice: "required",
        parallel_tool_calls: false,
      }),
      reply: completion(openaiCounts),
    },
    streamUsage: "asked",
  },
  {
    service: "llama.cpp",
    embeddings: {
      path: "/v1/embeddings",
      body: { model: "e", input, encoding_format: "base64" },
      reply: vectorList(inBase64, { prompt_tokens: 8, total_tokens: 8 }),
      tokens: 8,
    },
    rerank: {
      path: "/v1/rerank",
      body: { model: "r", query: "q", documents: ["a", "b"], top_n: 1 },
      reply: jinaResults({ object: "list", usage: { prompt_tokens: 20, total_tokens: 20 } }),
      tokens: 20,
    },
    chat: {
      path: "/v1/chat/completions",
      body: chatBody({
        max_tokens: 50,
        seed: 7,
        response_format: schemaFormat,
        tool_choice: "required",
        parallel_tool_calls: false,
      }),
      reply: completion(openaiCounts),
    },
    streamUsage: "asked",
  },
  {
    service: "tei",
    embeddings: {
      path: "/v1/embeddings",
      body: { model: "e", input, encoding_format: "base64" },
      reply: vectorList(inBase64, { prompt_tokens: 8, total_tokens: 8 }),
      tokens: 8,
    },
    rerank: {
      path: "/rerank",
      body: { model: "r", query: "q", texts: ["a", "b"] },
      reply: {
        json: [
          { index: 1, score: 0.9 },
          { index: 0, score: 0.1 },
        ],
      },
      tokens: undefined,
    },
  },
  {
    service: "cohere",
    embeddings: {
      path: "/v2/embed",
      body: { model: "e", texts: input, input_type: "search_document", embedding_types: ["float"], truncate: "NONE" },
      reply: {
        json: {
          id: "5807ee2e",
          embeddings: {
            float: [
              [1, 0],
              [0, 1],
            ],
          },
          texts: input,
          meta: { api_version: { version: "2" }, billed_units: { input_tokens: 8 } },
        },
      },
      tokens: 8,
    },
    query: { input_type: "search_query" },
    rerank: {
      path: "/v2/rerank",
      body: { model: "r", query: "q", documents: ["a", "b"], top_n: 1 },
      reply: {
        json: {
          results: [{ index: 1, relevance_score: 0.9 }],
          id: "07734bd2",
          meta: { api_version: { version: "2" }, billed_units: { search_units: 1 } },
        },
      },
      tokens: undefined,
    },
    chat: {
      path: "/compatibility/v1/chat/completions",
      body: chatBody({ max_tokens: 50, seed: 7, response_format: { type: "json_object", schema } }),
      reply: completion(openaiCounts),
    },
    streamUsage: "unasked",
  },
  {
    service: "jina",
    embeddings: {
      path: "/v1/embeddings",
      body: { model: "e", input, embedding_type: "base64" },
      reply: vectorList(inBase64, { total_tokens: 8, prompt_tokens: 8 }),
      tokens: 8,
    },
    rerank: {
      path: "/v1/rerank",
      body: { model: "r", query: "q", documents: ["a", "b"], top_n: 1, return_documents: false },
      reply: jinaResults({ usage: { total_tokens: 38 } }),
      tokens: 38,
    },
  },
  {
    service: "voyage",
    embeddings: {
      path: "/v1/embeddings",
      body: { model: "e", input, encoding_format: "base64", input_type: "document", truncation: false },
      reply: vectorList(inBase64, { total_tokens: 8 }),
      tokens: 8,
    },
    query: { input_type: "query" },
    rerank: {
      path: "/v1/rerank",
      body: { model: "r", query: "q", documents: ["a", "b"], top_k: 1 },
      reply: {
        json: {
          object: "list",
          data: [{ relevance_score: 0.9, index: 1 }],
          model: "r",
          usage: { total_tokens: 26 },
        },
      },
      tokens: 26,
    },
  },
  {
    service: "mistral",
    embeddings: {
      path: "/v1/embeddings",
      body: { model: "e", input, encoding_format: "base64" },
      reply: vectorList(inBase64, { prompt_tokens: 8, total_tokens: 8, completion_tokens: 0 }),
      tokens: 8,
    },
    chat: {
      path: "/v1/chat/completions",
      body: chatBody({
        max_tokens: 50,
        random_seed: 7,
        response_format: schemaFormat,
        tool_choice: "required",
        parallel_tool_calls: false,
      }),
      reply: completion(openaiCounts),
    },
    streamUsage: "unasked",
  },
  {
    service: "azure-openai-v1",
    keyHeaders: { "api-key": "sk-0123456789" },
    embeddings: { path: "/openai/v1/embeddings", ...inOpenaiForm },
    chat: {
      path: "/openai/v1/chat/completions",
      body: chatBody({
        max_completion_tokens: 50,
        seed: 7,
        response_format: schemaFormat,
        tool_choice: "required",
        parallel_tool_calls: false,
      }),
      reply: completion(openaiCounts),
    },
    streamUsage: "asked",
  },
  {
    service: "gemini",
    embeddings: { path: "/v1beta/openai/embeddings", ...inNumbers },
    chat: {
      path: "/v1beta/openai/chat/completions",
      body: chatBody({
        max_completion_tokens: 50,
        seed: 7,
        response_format: schemaFormat,
        tool_choice: "required",
      }),
      reply: completion(openaiCounts),
    },
    streamUsage: "asked",
  },
  {
    service: "openrouter",
    embeddings: { path: "/api/v1/embeddings", ...inOpenaiForm },
    rerank: {
      path: "/api/v1/rerank",
      body: { model: "r", query: "q", documents: ["a", "b"], top_n: 1 },
      reply: jinaResults({ id: "gen-1", usage: { total_tokens: 20, search_units: 1 } }),
      tokens: 20,
    },
    chat: {
      path: "/api/v1/chat/completions",
      body: chatBody({
        max_tokens: 50,
        seed: 7,
        response_format: schemaFormat,
        tool_choice: "required",
        parallel_tool_calls: false,
      }),
      reply: completion(openaiCounts),
    },
    streamUsage: "unasked",
  },
  {
    service: "groq",
    chat: {
      path: "/openai/v1/chat/completions",
      body: chatBody({
        max_completion_tokens: 50,
        seed: 7,
        response_format: schemaFormat,
        tool_choice: "required",
        parallel_tool_calls: false,
      }),
      reply: completion(openaiCounts),
    },
    streamUsage: "asked",
  },
  {
    service: "deepseek",
    chat: {
      path: "/chat/completions",
      body: chatBody({ max_tokens: 50, seed: 7, response_format: { type: "json_object" }, tool_choice: "required" }),
      reply: completion({ ...openaiCounts, prompt_cache_hit_tokens: 8 }),
    },
    streamUsage: "asked",
  },
  {
    service: "xai",
    chat: {
      path: "/v1/chat/completions",
      body: chatBody({
        max_completion_tokens: 50,
        seed: 7,
        response_format: schemaFormat,
        tool_choice: "required",
        parallel_tool_calls: false,
      }),
      reply: completion(openaiCounts),
    },
    streamUsage: "asked",
  },
  {
    service: "together",
    embeddings: { path: "/v1/embeddings", ...inNumbers },
    rerank: {
      path: "/v1/rerank",
      body: { model: "r", query: "q", documents: ["a", "b"], top_n: 1 },
      reply: jinaResults({ object: "rerank", usage: { prompt_tokens: 20, total_tokens: 20 } }),
      tokens: 20,
    },
    chat: {
      path: "/v1/chat/completions",
      body: chatBody({ max_tokens: 50, seed: 7, response_format: schemaFormat, tool_choice: "required" }),
      reply: completion(openaiCounts),
    },
    streamUsage: "unasked",
  },
  {
    service: "bedrock",
    chat: {
      path: "/openai/v1/chat/completions",
      body: chatBody({
        max_completion_tokens: 50,
        seed: 7,
        response_format: schemaFormat,
        tool_choice: "required",
      }),
      reply: completion(openaiCounts),
    },
    streamUsage: "asked",
  },
  {
    service: "lm-studio",
    embeddings: { path: "/v1/embeddings", ...inNumbers },
    chat: {
      path: "/v1/chat/completions",
      body: chatBody({ max_tokens: 50, seed: 7, response_format: schemaFormat, tool_choice: "required" }),
      reply: completion(openaiCounts),
    },
    streamUsage: "asked",
  },
];
