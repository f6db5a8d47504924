import { z } from "zod";
import { CohereChatRequest, CohereEmbedRequest } from "../../dialects/cohere-requests.js";
import { OpenAiChatRequest } from "../../dialects/openai-chat.js";
import { ModelResponsesRequest } from "../../dialects/openai-responses.js";
import { OpenAiEmbeddingsRequest } from "../../dialects/openai-embeddings.js";
import { NeighbourRerankRequest, TextsRerankRequest } from "../../dialects/rerank-requests.js";
import type { Route } from "../route.js";
import { neighbourRoute } from "./neighbour-route.js";

const responses = () => import("./responses.js");
const models = () => import("./models.js");
const rerank = () => import("./rerank.js");
const reranker = { name: "rerank", models: ["rerank"], modelOptional: true } as const;

/** The paths of the contract's neighbours, each with the operation that it is translated to. */
export const neighbourRoutes: readonly Route[] = [
  neighbourRoute({
    name: "chat",
    path: "/v1/chat/completions",
    body: OpenAiChatRequest,
    models: ["llm", "vlm"],
    load: async () => (await import("./chat.js")).serveOpenAiChat,
  }),
  neighbourRoute({
    name: "chat",
    path: "/v1/responses",
    body: ModelResponsesRequest,
    models: ["llm", "vlm"],
    load: async () => (await responses()).serveOpenAiResponse,
  }),
  neighbourRoute({
    name: "chat",
    method: "GET",
    path: "/v1/responses/{id}",
    body: z.object({ id: z.string() }),
    load: async () => (await responses()).serveKeptResponse,
  }),
  neighbourRoute({
    name: "chat",
    path: "/v2/chat",
    body: CohereChatRequest,
    models: ["llm", "vlm"],
    load: async () => (await import("./cohere-chat.js")).serveCohereChat,
  }),
  neighbourRoute({
    name: "embeddings",
    path: "/v2/embed",
    body: CohereEmbedRequest,
    models: ["embedding"],
    load: async () => (await import("./cohere-embed.js")).serveCohereEmbed,
  }),
  neighbourRoute({
    name: "embeddings",
    path: "/v1/embeddings",
    body: OpenAiEmbeddingsRequest,
    models: ["embedding"],
    load: async () => (await import("./embeddings.js")).serveOpenAiEmbeddings,
  }),
  neighbourRoute({
    name: "listModels",
    method: "GET",
    path: "/v1/models",
    body: z.object({}),
    load: async () => (await models()).serveOpenAiModels,
  }),
  // Clients send the slash in an id as it is, or encoded.
  ...["/v1/models/{id}", "/v1/models/{vendor}/{id}"].map((path) =>
    neighbourRoute({
      name: "listModels",
      method: "GET",
      path,
      body: z.object({ vendor: z.string().optional(), id: z.string() }),
      load: async () => (await models()).serveOpenAiModel,
    }),
  ),
  neighbourRoute({
    ...reranker,
    path: "/v1/rerank",
    body: NeighbourRerankRequest,
    load: async () => (await rerank()).serveRerankV1,
  }),
  neighbourRoute({
    ...reranker,
    path: "/v2/rerank",
    body: NeighbourRerankRequest,
    load: async () => (await rerank()).serveRerankV2,
  }),
  neighbourRoute({
    ...reranker,
    path: "/rerank",
    body: TextsRerankRequest,
    load: async () => (await rerank()).serveTextsRerank,
  }),
];
