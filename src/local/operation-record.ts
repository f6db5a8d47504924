import { z } from "zod";
import type { OperationName } from "../contract/operations.js";

const names = [
  "embeddings",
  "rerank",
  "chat",
  "createVideoTask",
  "videoTask",
  "listVideoTasks",
  "cancelVideoTask",
  "listModels",
] as const satisfies readonly OperationName[];

export const OperationNames = z.enum(names);

/** One value for some operations, by name. */
export function perOperation<Value extends z.ZodType>(value: Value) {
  return z.partialRecord(OperationNames, value);
}
