import { operations } from "../contract/operations.js";
import { modelRoute, plainRoute, type Route } from "./route.js";

/** Every operation of the contract, with what carries it out here. */
export const routes: readonly Route[] = [
  modelRoute(operations.embeddings, ["embedding"], async () => (await import("./embeddings-route.js")).serveEmbeddings),
  modelRoute(operations.rerank, ["rerank"], async () => (await import("./rerank-route.js")).serveRerank),
  modelRoute(operations.chat, ["llm", "vlm"], async () => (await import("./chat-route.js")).serveChat),
  modelRoute(
    operations.createVideoTask,
    ["video"],
    async () => (await import("./video/create-route.js")).serveCreateVideoTask,
  ),
  plainRoute(operations.videoTask, async () => (await import("./video/task-routes.js")).serveVideoTask),
  plainRoute(operations.listVideoTasks, async () => (await import("./video/task-routes.js")).serveVideoTaskList),
  plainRoute(operations.cancelVideoTask, async () => (await import("./video/task-routes.js")).serveCancelVideoTask),
  plainRoute(operations.listModels, async () => (await import("./model-list-route.js")).serveModelList),
];
