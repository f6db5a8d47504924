import {
  type VideoTaskListRequest,
  cancelVideoTask as cancelOperation,
  listVideoTasks as listOperation,
  videoTask as queryOperation,
} from "../contract/video-tasks.js";
import { violations } from "../contract/operation.js";
import { TransportError } from "../errors.js";
import type { CallOptions } from "../ports.js";
import { readReply } from "./read-reply.js";
import type { Upstream } from "./upstream.js";
import { parseVideoTask, readVideoTask, type VideoTask } from "./video-task.js";

/** Limits and totals of queries are kept under this name, for they are about no model. */
const model = "video tasks";

export interface VideoTaskPage {
  readonly tasks: readonly VideoTask[];
  /** Of all pages, where the service told. */
  readonly total?: number;
  /** Entries of this page, those that are no tasks included. */
  readonly entries: number;
  readonly raw: unknown;
}

/** @throws TransportError `not-found` for an unknown id, and for one whose record was removed after seven days. */
export async function videoTask(upstream: Upstream, id: string, call: CallOptions): Promise<VideoTask> {
  checkId(queryOperation.name, id);
  return upstream.perform(
    {
      operation: queryOperation,
      model,
      parameters: { id },
      accept: "application/json",
      read: async (exchange) => {
        const { reply, raw } = await readReply(queryOperation, exchange);
        return readVideoTask(raw, reply, upstream.settings);
      },
      learned: () => ({}),
    },
    call,
  );
}

export async function listVideoTasks(
  upstream: Upstream,
  request: VideoTaskListRequest,
  call: CallOptions,
): Promise<VideoTaskPage> {
  const found = violations(listOperation, request, { id: model, type: "video" });
  if (found.length > 0) {
    const listed = found.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`)).join("; ");
    throw new TransportError("request", `${listOperation.name}: ${listed}`, { operation: listOperation.name });
  }
  return upstream.perform(
    {
      operation: listOperation,
      model,
      parameters: request,
      accept: "application/json",
      read: async (exchange) => {
        const { reply, raw } = await readReply(listOperation, exchange);
        const tasks = reply.items
          .map((item) => parseVideoTask(item, upstream.settings))
          .filter((task) => task !== undefined);
        return {
          tasks,
          entries: reply.items.length,
          ...(typeof reply.total === "number" && { total: reply.total }),
          raw,
        };
      },
      learned: () => ({}),
    },
    call,
  );
}

export async function cancelVideoTask(upstream: Upstream, id: string, call: CallOptions): Promise<void> {
  checkId(cancelOperation.name, id);
  try {
    await upstream.perform(
      {
        operation: cancelOperation,
        model,
        parameters: { id },
        accept: "application/json",
        // Some services answer nothing, some `{}`: the status has said it all.
        read: async (exchange) => void (await exchange.text()),
        learned: () => ({}),
      },
      call,
    );
  } catch (error) {
    // An attempt before this one did it, and its answer was lost.
    if (error instanceof TransportError && error.code === "not-found" && error.attempts > 1) return;
    throw error;
  }
}

function checkId(operation: string, id: unknown): void {
  if (typeof id === "string" && id !== "" && id !== "." && id !== "..") return;
  throw new TransportError("request", `${operation}: id must be a task's id (got ${JSON.stringify(id)})`, {
    operation,
  });
}
