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
import { jsonCall } from "../operations/json-call.js";
import { type VideoTask, parseVideoTask, readVideoTask } from "./task.js";

/** These calls are about no model: their limits and totals are kept under this name. */
const model = "video tasks";

export interface VideoTaskPage {
  /** Tasks of this page, in the service's order. */
  readonly tasks: readonly VideoTask[];
  /** Number of tasks on all pages, if the service told. */
  readonly total?: number;
  /** Entries of this page, including those that are no tasks. */
  readonly entries: number;
  /** The reply as it came. */
  readonly raw: unknown;
}

/**
 * @throws TransportError `not-found` for an unknown id, and for one whose record was removed after seven days.
 * @internal
 */
export async function videoTask(caller: Caller, id: string, options: CallOptions): Promise<VideoTask> {
  checkId(queryOperation.name, id);
  return caller.perform(
    jsonCall(queryOperation, { model, parameters: { id } }, (reply, { raw }) =>
      readVideoTask(raw, reply, caller.settings),
    ),
    options,
  );
}

/** @internal */
export async function listVideoTasks(
  caller: Caller,
  parameters: VideoTaskListRequest,
  options: CallOptions,
): Promise<VideoTaskPage> {
  const found = violations(listOperation, parameters, { id: model, type: "video" });
  if (found.length > 0) {
    const problems = found.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`));
    throw requestError(listOperation.name, problems.join("; "));
  }
  const call = jsonCall(listOperation, { model, parameters: { ...parameters } }, ({ items, total }, { raw }) => ({
    tasks: items.map((item) => parseVideoTask(item, caller.settings)).filter((task) => task !== undefined),
    entries: items.length,
    ...(typeof total === "number" && { total }),
    raw,
  }));
  return caller.perform(call, options);
}

/** @internal */
export async function cancelVideoTask(caller: Caller, id: string, options: CallOptions): Promise<void> {
  checkId(cancelOperation.name, id);
  try {
    // Some services answer nothing, some `{}`: the status says it all.
    const call = { operation: cancelOperation.name, model, parameters: { id }, accept: "application/json" } as const;
    await caller.perform({ ...call, read: (exchange) => exchange.bytes() }, options);
  } catch (error) {
    // An earlier attempt succeeded, and its answer was lost.
    if (error instanceof TransportError && error.code === "not-found" && error.attempts > 1) return;
    throw error;
  }
}

function checkId(operation: OperationName, id: unknown): void {
  if (typeof id === "string" && !["", ".", ".."].includes(id)) return;
  throw requestError(operation, `id must be a task's id (got ${JSON.stringify(id)})`);
}
