import { conversationRoutes } from "./conversations.js";
import { documentRoutes } from "./documents.js";
import { feedbackRoutes } from "./feedback.js";
import { originalRoutes } from "./files/originals.js";
import { pictureRoutes } from "./files/pictures.js";
import { questionRoutes } from "./questions.js";
import type { Route } from "./route.js";
import { suggestionRoutes } from "./suggestions.js";
import { uploadRoutes } from "./upload-routes.js";

/** Operations of the API by what they are about. */
export const routeGroups = [
  {
    tag: "Documents",
    description: "The collection and its documents",
    operations: [...documentRoutes, ...originalRoutes, ...pictureRoutes],
  },
  {
    tag: "Questions",
    description: "Searches, and answers that nobody keeps",
    operations: [...questionRoutes, ...suggestionRoutes],
  },
  {
    tag: "Conversations",
    description: "Answers that are kept, and go on without a reader",
    operations: [...conversationRoutes, ...feedbackRoutes],
  },
  { tag: "Uploads", description: "Files that people add", operations: uploadRoutes },
] satisfies readonly { readonly operations: readonly Route[]; readonly [about: string]: unknown }[];

/** Every operation of the API. */
export const routes: readonly Route[] = routeGroups.flatMap(({ operations }): readonly Route[] => operations);
