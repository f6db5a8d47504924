import { chat } from "./chat.js";
import { embeddings } from "./embeddings.js";
import { rerank } from "./rerank.js";

/** The service, one row an operation. Client methods and server routes are made from these rows. */
export const operations = { embeddings, rerank, chat } as const;
export type OperationName = keyof typeof operations;
