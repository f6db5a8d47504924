import { operations } from "../contract/operations.js";
import { modelRoutes } from "./model-routes.js";
import { neighbourRoutes } from "./neighbours/neighbour-routes.js";
import { route, type Route, type RouteContext, type RouteReply } from "./route.js";

const video = { errorShape: "nested" } as const;
const videoRoutes = () => import("./video/task-routes.js");
const videoTask = { ...video, load: async () => (await videoRoutes()).serveVideoTask };

/** Every operation of the contract, with what carries it out here; behind them the paths of its neighbours. */
export const routes: readonly Route[] = [
  ...modelRoutes,
  route(operations.createVideoTask, {
    ...video,
    models: ["video"],
    load: async () => (await videoRoutes()).serveCreateVideoTask,
  }),
  route(operations.videoTask, videoTask),
  // The contract says that all operations are POST, and leaves the query's method open: both are answered.
  route({ ...operations.videoTask, method: "POST" }, videoTask),
  route(operations.listVideoTasks, { ...video, load: async () => (await videoRoutes()).serveVideoTaskList }),
  route(operations.cancelVideoTask, { ...video, load: async () => (await videoRoutes()).serveCancelVideoTask }),
  route(operations.listModels, { errorShape: "flat-with-error", load: () => Promise.resolve(serveModelList) }),
  ...neighbourRoutes,
];

function serveModelList(_: object, { models }: RouteContext): RouteReply {
  const data = models.map(({ id, type, family }) => ({ id, object: "model", type, ...(family && { family }) }));
  return { json: { object: "list", data } };
}
