import { z } from "zod";
import { OpenAiChatRequest } from "../../dialects/openai-chat.js";
import { OpenAiEmbeddingsRequest } from "../../dialects/openai-embeddings.js";
import { NeighbourRerankRequest } from "../../dialects/rerank-requests.js";
import { OpenAiResponsesRequest } from "../../dialects/openai-responses.js";
import type { OperationGroup } from "../api/openapi.js";
import { WireCitation } from "../api/wire.js";
import { modelId } from "./openai-answer.js";
import { ChatRequest } from "./ui-messages.js";

const model = z
  .string()
  .describe(`"${modelId}"`)
  .meta({ examples: [modelId] });
const question = "When do API keys expire?";

const Usage = z.object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() });

const ChatCompletion = z
  .object({
    id: z.string(),
    object: z.literal("chat.completion"),
    created: z.int(),
    model,
    choices: z.array(
      z.object({
        index: z.int(),
        message: z.looseObject({
          role: z.literal("assistant"),
          content: z.string(),
          annotations: z.array(z.looseObject({ type: z.literal("url_citation") })),
        }),
        finish_reason: z.enum(["stop", "length", "content_filter"]),
      }),
    ),
    usage: Usage.optional(),
    citations: z.array(WireCitation).describe("The citations as the API has them"),
  })
  .meta({ id: "ChatCompletion" });

const Response = z
  .looseObject({
    id: z.string(),
    object: z.literal("response"),
    created_at: z.number(),
    status: z.string(),
    model,
    output: z.array(z.looseObject({ type: z.string() })),
  })
  .meta({ id: "Response" });

const Model = z
  .object({ id: z.string(), object: z.literal("model"), created: z.int(), owned_by: z.string() })
  .meta({ id: "Model" });

const OpenAiFailure = z
  .object({
    error: z.object({ message: z.string(), type: z.string(), param: z.null(), code: z.string() }),
  })
  .meta({ id: "OpenAiFailure" });

/** The operations that clients of OpenAI's API use. */
export const openAiOperations: OperationGroup = {
  tag: "OpenAI's API",
  description: "For clients of OpenAI's API",
  failure: OpenAiFailure,
  streams: true,
  operations: [
    {
      method: "POST",
      path: "/v1/chat/completions",
      operation: "createChatCompletion",
      summary: "Answer the last message, with those before it as history",
      request: OpenAiChatRequest.extend({
        model,
        messages: OpenAiChatRequest.shape.messages.meta({ examples: [[{ role: "user", content: question }]] }),
      }),
      reply: ChatCompletion,
    },
    {
      method: "POST",
      path: "/v1/responses",
      operation: "createResponse",
      summary: "Answer a question, and keep it unless store is false",
      request: OpenAiResponsesRequest.extend({
        model,
        input: OpenAiResponsesRequest.shape.input.meta({ examples: [question] }),
      }),
      reply: Response,
    },
    {
      method: "GET",
      path: "/v1/responses/{id}",
      operation: "getResponse",
      summary: "An answer that was kept",
      request: z.object({ id: z.string() }),
      reply: Response,
    },
    {
      method: "GET",
      path: "/v1/models",
      operation: "listModels",
      summary: "The one model: answers from the documents",
      request: z.object({}),
      reply: z.object({ object: z.literal("list"), data: z.array(Model) }),
    },
    {
      method: "GET",
      path: "/v1/models/{id}",
      operation: "getModel",
      summary: "The model by its id",
      request: z.object({ id: z.string() }),
      reply: Model,
    },
  ],
};

const InputUsage = z.object({ prompt_tokens: z.int(), total_tokens: z.int() });

/** The operations of a server that shares its models. */
export const ownModelOperations: OperationGroup = {
  tag: "Models",
  description: "The collection's own models",
  failure: OpenAiFailure,
  operations: [
    {
      method: "POST",
      path: "/v1/embeddings",
      operation: "createEmbedding",
      summary: "Vectors of texts, by the model that made those of the documents",
      request: OpenAiEmbeddingsRequest.extend({
        model: z.string().meta({ examples: ["BAAI/bge-m3"] }),
        input: OpenAiEmbeddingsRequest.shape.input.meta({ examples: [[question]] }),
      }),
      reply: z
        .object({
          object: z.literal("list"),
          model: z.string(),
          data: z.array(
            z.object({
              object: z.literal("embedding"),
              index: z.int(),
              embedding: z.union([z.array(z.number()), z.string()]).describe("Numbers, or their bytes in base64"),
            }),
          ),
          usage: InputUsage,
        })
        .meta({ id: "EmbeddingList" }),
    },
    {
      method: "POST",
      path: "/v1/rerank",
      operation: "rerank",
      summary: "Documents in the order of their relevance to a query, by the reranker of the collection",
      request: NeighbourRerankRequest.extend({
        query: z.string().meta({ examples: [question] }),
        documents: NeighbourRerankRequest.shape.documents.meta({ examples: [["Keys expire after 90 days."]] }),
      }),
      reply: z
        .object({
          id: z.string(),
          model: z.string(),
          results: z.array(
            z.object({
              index: z.int(),
              relevance_score: z.number(),
              document: z.object({ text: z.string() }).optional(),
            }),
          ),
          usage: InputUsage,
        })
        .meta({ id: "RerankResult" }),
    },
  ],
};

const id = z.string().meta({ examples: ["chat-1"] });

/** The operation that the AI SDK's `useChat` uses. */
export const uiMessageOperations: OperationGroup = {
  tag: "AI SDK",
  description: "For `useChat` of the AI SDK",
  failure: "text",
  operations: [
    {
      method: "POST",
      path: "/api/chat",
      operation: "chat",
      summary: "Answer the last message of a chat as a stream of UI message parts; leaving the stream stops the answer",
      request: ChatRequest.extend({
        id,
        messages: ChatRequest.shape.messages.meta({
          examples: [[{ id: "m1", role: "user", parts: [{ type: "text", text: question }] }]],
        }),
      }),
      reply: "events",
    },
    {
      method: "GET",
      path: "/api/chat/{id}/stream",
      operation: "resumeChat",
      summary: "Nothing: an answer ends with its reader",
      request: z.object({ id }),
      reply: "nothing",
    },
  ],
};
