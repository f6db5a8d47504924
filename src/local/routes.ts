import { operations } from "../contract/operations.js";
import { serveChat } from "./chat-route.js";
import { serveEmbeddings } from "./embeddings-route.js";
import { serveRerank } from "./rerank-route.js";
import { route, type Route } from "./route.js";

/** Every operation of the contract that the local service carries out. */
export const routes: readonly Route[] = [
  route(operations.embeddings, ["embedding"], serveEmbeddings),
  route(operations.rerank, ["rerank"], serveRerank),
  route(operations.chat, ["llm", "vlm"], serveChat),
];
