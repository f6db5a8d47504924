import { chat } from "../contract/chat.js";
import { embeddings } from "../contract/embeddings.js";
import { rerank } from "../contract/rerank.js";
import { type ModelContext, route, type Route } from "./route.js";

/** The operations that a model carries out at once. */
export const modelRoutes: readonly Route<ModelContext>[] = [
  route(embeddings, {
    models: ["embedding"],
    errorShape: "flat-with-error",
    load: async () => (await import("./http/embeddings-route.js")).serveEmbeddings,
  }),
  route(rerank, {
    models: ["rerank"],
    errorShape: "flat-with-error",
    load: async () => (await import("./http/rerank-route.js")).serveRerank,
  }),
  route(chat, {
    models: ["llm", "vlm"],
    errorShape: "flat-with-error",
    load: async () => (await import("./http/chat-route.js")).serveChat,
  }),
];
