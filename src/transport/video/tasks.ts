import { violations } from "../../contract/operation.js";
import type { OperationName } from "../../contract/operations.js";
import {
  type VideoTaskListRequest,
  cancelVideoTask as cancelOperation,
  listVideoTasks as listOperation,
  videoTask as queryOperation,
} from "../../contract/video-tasks.js";
import { TransportError } from "../../core/errors.js";
import type { CallOptions } from "../../core/ports.js";
import type { Caller } from "../calls/caller.js";
import { requestError } from "../operations/check-request.js";
import { readReply } from "../operations/read-reply.js";
import { type VideoTask, parseVideoTask, readVideoTask } from "./task.js";

/** These calls are about no model: their limits and totals are kept under this name. */
const request = { model: "video tasks", accept: "application/json" } as const;

export interface VideoTaskPage {
  readonly tasks: readonly VideoTask[];
  /** Number of tasks on all pages, if the service told. */
  readonly total?: number;
  /** Entries of this page, including those that are no tasks. */
  readonly entries: number;
  readonly raw: unknown;
}

/** @throws TransportError `not-found` for an unknown id, and for one whose record was removed after seven days. */
export async function videoTask(caller: Caller, id: string, options: CallOptions): Promise<VideoTask> {
  checkId(queryOperation.name, id);
  const call = { ...request, operation: queryOperation, parameters: { id } };
  const { reply, received } = await caller.perform(
    { ...call, read: (exchange) => readReply(queryOperation, exchange) },
    options,
  );
  return readVideoTask(received.raw, reply, caller.settings);
}

export async function listVideoTasks(
  caller: Caller,
  parameters: VideoTaskListRequest,
  options: CallOptions,
): Promise<VideoTaskPage> {
  const found = violations(listOperation, parameters, { id: request.model, type: "video" });
  if (found.length > 0) {
    const problems = found.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`));
    throw requestError(listOperation.name, problems.join("; "));
  }
  const call = { ...request, operation: listOperation, parameters };
  const { reply, received } = await caller.perform(
    { ...call, read: (exchange) => readReply(listOperation, exchange) },
    options,
  );
  const tasks = reply.items.map((item) => parseVideoTask(item, caller.settings)).filter((task) => task !== undefined);
  const total = typeof reply.total === "number" ? { total: reply.total } : {};
  return { tasks, entries: reply.items.length, ...total, raw: received.raw };
}

export async function cancelVideoTask(caller: Caller, id: string, options: CallOptions): Promise<void> {
  checkId(cancelOperation.name, id);
  try {
    // Some services answer nothing, some `{}`: the status says it all.
    const call = { ...request, operation: cancelOperation, parameters: { id } };
    await caller.perform({ ...call, read: (exchange) => exchange.bytes() }, options);
  } catch (error) {
    // An earlier attempt did it, and its answer was lost.
    if (error instanceof TransportError && error.code === "not-found" && error.attempts > 1) return;
    throw error;
  }
}

function checkId(operation: OperationName, id: unknown): void {
  if (typeof id === "string" && !["", ".", ".."].includes(id)) return;
  throw requestError(operation, `id must be a task's id (got ${JSON.stringify(id)})`);
}
