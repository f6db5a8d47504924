import type { z } from "zod";
import { OptionsError, TransportError } from "../errors.js";
import { resolve } from "../options.js";
import type { CallOptions } from "../ports.js";
import { type StopReason, Stopped, type Stopping } from "./stopping.js";
import type { Upstream } from "./upstream.js";
import { VideoError } from "./video-error.js";
import { VideoPollOptions, defaultWaitMs, pollDelayMs, waitBudgetMs } from "./video-poll.js";
import type { VideoTask } from "./video-task.js";
import { videoTask } from "./video-tasks.js";

/** What a wait tells of each query. */
export interface VideoProgress {
  /** As the service told; left out where the query failed. */
  readonly task?: VideoTask;
  /** Why the query failed; there will be another. */
  readonly error?: Error;
  /** Until the next query. */
  readonly nextQueryMs: number;
}

export interface WaitForVideoOptions extends CallOptions {
  /**
   * Most time to wait, in milliseconds. Default: 30 minutes; for a task of the `flex` tier, as long as the task may
   * live.
   */
  readonly deadlineMs?: number;
  readonly poll?: VideoPollOptions;
  /** Hears of every query after which the wait goes on. Must not throw. */
  readonly onProgress?: (progress: VideoProgress) => void;
}

/**
 * Asks for a task until it is finished. Needs nothing but the id: any process can wait for any task, and wait again.
 *
 * @throws VideoError `failed`, `expired` or `cancelled` with the task, or `wait-timeout` with what was seen last.
 */
export async function waitForVideo(upstream: Upstream, id: string, options: WaitForVideoOptions): Promise<VideoTask> {
  const { signal, deadlineMs } = options;
  const cadence = resolve("waitForVideo", VideoPollOptions, options.poll ?? {});
  if (deadlineMs !== undefined && !(deadlineMs >= 0)) {
    throw new OptionsError("options", `waitForVideo: deadlineMs must be 0 or more (got ${String(deadlineMs)})`);
  }
  // The deadline ends the wait, not a query: the last one still has its moment.
  return upstream.during("waitForVideo", signal ? { signal } : {}, (stopping) =>
    poll(upstream, id, { options, cadence, stopping }).catch((thrown: unknown) => {
      throw thrown instanceof Stopped ? stoppedWait(thrown.why) : thrown;
    }),
  );
}

interface Polling {
  readonly options: WaitForVideoOptions;
  readonly cadence: z.output<typeof VideoPollOptions>;
  readonly stopping: Stopping;
}

async function poll(upstream: Upstream, id: string, { options, cadence, stopping }: Polling): Promise<VideoTask> {
  const { signal, deadlineMs, onProgress } = options;
  const startedAtMs = performance.now();
  let budgetMs = deadlineMs ?? defaultWaitMs;
  let task: VideoTask | undefined;
  let failures = 0;
  for (let polls = 1; ; polls++) {
    const elapsedMs = () => performance.now() - startedAtMs;
    let error: TransportError | undefined;
    try {
      task = await videoTask(upstream, id, queryCall(signal, deadlineMs, elapsedMs()));
      failures = 0;
      if (task.finished) return succeeded(task);
      if (deadlineMs === undefined) budgetMs = elapsedMs() + waitBudgetMs(task, Date.now());
    } catch (thrown) {
      error = passing(thrown, { early: task === undefined && elapsedMs() < cadence.notFoundGraceMs });
      if (!error || (++failures > cadence.maxFailures && error.code !== "not-found")) throw thrown;
    }
    const delayMs = pollDelayMs({ polls, remainingMs: budgetMs - elapsedMs(), random: Math.random() }, cadence);
    if (delayMs === undefined) throw timedOut(id, task, elapsedMs(), error);
    // What is not visible yet will be soon, or never.
    const nextQueryMs = error?.code === "not-found" ? Math.min(delayMs, cadence.notFoundGraceMs / 5) : delayMs;
    onProgress?.({ ...(error ? { error } : task && { task }), nextQueryMs });
    await stopping.sleep(nextQueryMs);
  }
}

/** A query has what is left of the deadline; one that begins at its end still gets a moment. */
function queryCall(signal: AbortSignal | undefined, deadlineMs: number | undefined, elapsedMs: number): CallOptions {
  const leastMs = 1000;
  return {
    ...(signal && { signal }),
    ...(deadlineMs !== undefined && { deadlineMs: Math.max(leastMs, deadlineMs - elapsedMs) }),
  };
}

/** The error, if asking again later may work. */
function passing(thrown: unknown, { early }: { readonly early: boolean }): TransportError | undefined {
  if (!(thrown instanceof TransportError)) return undefined;
  return thrown.retryable || (early && thrown.code === "not-found") ? thrown : undefined;
}

function succeeded(task: VideoTask): VideoTask {
  const { id, status, error } = task;
  if (status === "succeeded") return task;
  const code = status as "failed" | "expired" | "cancelled";
  const reason = error ? `: ${[error.code, error.message].filter(Boolean).join(", ")}` : "";
  const after = task.expiresAfterSeconds === undefined ? "" : ` after ${task.expiresAfterSeconds} s`;
  const advice =
    code === "expired"
      ? `${after}: create it again, with a longer execution_expires_after if it may take longer`
      : reason;
  const verb = code === "cancelled" ? "was cancelled" : code;
  throw new VideoError(code, `Video task ${id} ${verb}${advice}`, { taskId: id, task });
}

function timedOut(id: string, task: VideoTask | undefined, elapsedMs: number, cause: unknown): VideoError {
  const seen = task ? `is still ${task.status}` : "was not seen";
  return new VideoError(
    "wait-timeout",
    `Video task ${id} ${seen} after ${Math.round(elapsedMs / 1000)} s of waiting. It goes on at the service: wait again by its id (waitForVideo, or citewell video wait ${id}), with a longer deadlineMs if need be`,
    { taskId: id, task, cause },
  );
}

/** The signal's own reason as it is. */
function stoppedWait(why: StopReason): unknown {
  if (why.kind === "aborted") return why.reason;
  return new TransportError("request", "waitForVideo: the transport was closed: wait again by the task's id", {
    operation: "videoTask",
  });
}
