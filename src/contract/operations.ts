import { chat } from "./chat.js";
import { embeddings } from "./embeddings.js";
import { listModels } from "./model-list.js";
import { rerank } from "./rerank.js";
import { createVideoTask } from "./video.js";
import { cancelVideoTask, listVideoTasks, videoTask } from "./video-tasks.js";

/** Names of the operations, as errors and events carry them. */
export type OperationName =
  | "embeddings"
  | "rerank"
  | "chat"
  | "createVideoTask"
  | "videoTask"
  | "listVideoTasks"
  | "cancelVideoTask"
  | "listModels";

/** All operations by name. Client methods and server routes are made from these rows. @internal */
export const operations = {
  embeddings,
  rerank,
  chat,
  createVideoTask,
  videoTask,
  listVideoTasks,
  cancelVideoTask,
  listModels,
} as const satisfies Readonly<Record<OperationName, object>>;
