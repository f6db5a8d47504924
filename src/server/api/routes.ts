import { conversationRoutes } from "./conversations.js";
import { documentRoutes } from "./documents.js";
import { questionRoutes } from "./questions.js";
import type { Route } from "./route.js";
import { uploadRoutes } from "./upload-routes.js";

/** Every operation of the API. */
export const routes: readonly Route[] = [...documentRoutes, ...questionRoutes, ...conversationRoutes, ...uploadRoutes];
