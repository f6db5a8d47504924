import { z } from "zod";
import { callOptions } from "../../core/call-options.js";
import { TransportError } from "../../core/errors.js";
import { observerOption, optionsOf, resolve } from "../../core/options.js";
import type { CallOptions } from "../../core/ports.js";
import type { Caller } from "../calls/caller.js";
import { type Cancellation, type StopReason, Stopped } from "../failures/cancellation.js";
import type { VideoTask } from "./task.js";
import { videoTask } from "./tasks.js";
import { VideoError } from "./video-error.js";

export interface VideoPollOptions {
  /** Wait before the second query, in milliseconds. 1 to 600,000, default 10,000. */
  readonly firstMs?: number;
  /** Factor by which each wait grows. 1 to 10, default 1.5. */
  readonly factor?: number;
  /** Maximum wait in milliseconds, before it is varied. 1 to 3,600,000, default 30,000. */
  readonly maxMs?: number;
  /** Share by which a wait is varied either way, so that many waiters do not ask at once. 0 to 1, default 0.2. */
  readonly jitter?: number;
  /** A task that is not found this soon after the wait began may not be visible yet. In milliseconds, 0 or more, default 10,000. */
  readonly notFoundGraceMs?: number;
  /** Queries that may fail in a row, each after the transport's own retries. 0 or more, default 5. */
  readonly maxFailures?: number;
}

const videoPollOptions = optionsOf<VideoPollOptions>()({
  firstMs: z.number().min(1).max(600_000).default(10_000),
  factor: z.number().min(1).max(10).default(1.5),
  maxMs: z.number().min(1).max(3_600_000).default(30_000),
  jitter: z.number().min(0).max(1).default(0.2),
  notFoundGraceMs: z.number().min(0).default(10_000),
  maxFailures: z.int().min(0).default(5),
});

type Cadence = z.output<typeof videoPollOptions>;

/** The progress of a wait, after each query. */
export interface VideoProgress {
  /** The task as the service reported it; left out when the query failed. */
  readonly task?: VideoTask;
  /** Why the query failed; there will be another. */
  readonly error?: Error;
  /** Time until the next query. */
  readonly nextQueryMs: number;
}

export interface WaitForVideoOptions extends CallOptions {
  /**
   * Maximum time to wait, in milliseconds. Default: 30 minutes; for a task of the `flex` tier, as long as the task may
   * live.
   */
  readonly deadlineMs?: number;
  /** Intervals of the queries. Default: the first after 10 seconds, then ever longer ones. */
  readonly poll?: VideoPollOptions;
  /** Called for every query after which the wait continues. Must not throw. */
  readonly onProgress?: (progress: VideoProgress) => void;
}

const waitForVideoOptions = optionsOf<WaitForVideoOptions>()({
  ...callOptions.shape,
  deadlineMs: z.number("must be a number of milliseconds").min(0).or(z.literal(Infinity)).optional(),
  poll: videoPollOptions.prefault({}),
  onProgress: observerOption<NonNullable<WaitForVideoOptions["onProgress"]>>("onProgress").optional(),
});

/**
 * Asks for a task until it is finished. Needs nothing but the id: any process can wait for any task, and wait again.
 *
 * @throws VideoError `failed`, `expired` or `cancelled` with the task, or `wait-timeout` with what was seen last.
 * @internal
 */
export async function waitForVideo(caller: Caller, id: string, given: WaitForVideoOptions): Promise<VideoTask> {
  const { poll: cadence, ...options } = resolve("waitForVideo", waitForVideoOptions, given);
  const { signal } = options;
  // The deadline ends the wait, not a query: the last one still has its moment.
  return caller.during("waitForVideo", { signal }, (cancellation) =>
    poll(caller, id, { options, cadence, cancellation }).catch((thrown: unknown) => {
      throw thrown instanceof Stopped ? stoppedWait(thrown.why, id) : thrown;
    }),
  );
}

interface Polling {
  readonly options: WaitForVideoOptions;
  readonly cadence: Cadence;
  readonly cancellation: Cancellation;
}

async function poll(caller: Caller, id: string, { options, cadence, cancellation }: Polling): Promise<VideoTask> {
  const { signal, deadlineMs, onProgress } = options;
  const startedAtMs = performance.now();
  const elapsedMs = () => performance.now() - startedAtMs;
  let budgetMs = deadlineMs ?? defaultWaitMs;
  let task: VideoTask | undefined;
  let failures = 0;
  for (let polls = 1; ; polls++) {
    let error: TransportError | undefined;
    try {
      // A query that begins at the end of the deadline still gets some time.
      const queryMs = deadlineMs === undefined ? undefined : Math.max(minQueryMs, deadlineMs - elapsedMs());
      task = await videoTask(caller, id, { signal, deadlineMs: queryMs });
      failures = 0;
      if (task.status === "succeeded") return task;
      if (task.finished) throw withoutVideo(caller.secrecy.redactAll(task));
      if (deadlineMs === undefined) budgetMs = elapsedMs() + waitBudgetMs(task, Date.now());
    } catch (thrown) {
      error = transient(thrown, { isEarly: task === undefined && elapsedMs() < cadence.notFoundGraceMs });
      if (!error || (++failures > cadence.maxFailures && error.code !== "not-found")) throw thrown;
    }
    const delayMs = pollDelayMs({ polls, remainingMs: budgetMs - elapsedMs(), random: Math.random() }, cadence);
    if (delayMs === undefined) throw timedOut(id, caller.secrecy.redactAll(task), elapsedMs(), error);
    // A task that is not visible yet will be soon, or never.
    const nextQueryMs = error?.code === "not-found" ? Math.min(delayMs, cadence.notFoundGraceMs / 5) : delayMs;
    onProgress?.({ ...(error ? { error } : task && { task }), nextQueryMs });
    await cancellation.sleep(nextQueryMs);
  }
}

export interface PollSituation {
  /** Queries so far, 1 or more. */
  readonly polls: number;
  /** Time until the wait is over. */
  readonly remainingMs: number;
  /** Random number in [0, 1). */
  readonly random: number;
}

/** Milliseconds until the next query, the last of which comes when the wait is over; `undefined` once it is. Pure. */
export function pollDelayMs(
  { polls, remainingMs, random }: PollSituation,
  { firstMs, factor, maxMs, jitter }: Pick<Cadence, "firstMs" | "factor" | "maxMs" | "jitter">,
): number | undefined {
  if (remainingMs <= 0) return undefined;
  const plain = Math.min(maxMs, firstMs * factor ** (polls - 1));
  return Math.min(plain * (1 + jitter * (2 * random - 1)), remainingMs);
}

const minQueryMs = 1000;

/** Default for the longest wait; a task of the `flex` tier may take as long as it may live. */
export const defaultWaitMs = 30 * 60_000;

/** Milliseconds to wait for a task from `nowMs`, when the caller did not say. Pure. */
export function waitBudgetMs(
  task: { readonly serviceTier?: string; readonly createdAt?: Date; readonly expiresAfterSeconds?: number },
  nowMs: number,
): number {
  if (task.serviceTier !== "flex" || task.expiresAfterSeconds === undefined) return defaultWaitMs;
  const createdAtMs = task.createdAt?.getTime() ?? nowMs;
  return Math.max(defaultWaitMs, createdAtMs + task.expiresAfterSeconds * 1000 - nowMs);
}

/** Returns the error if asking again later may work. */
function transient(thrown: unknown, { isEarly }: { readonly isEarly: boolean }): TransportError | undefined {
  if (!(thrown instanceof TransportError)) return undefined;
  return thrown.retryable || (isEarly && thrown.code === "not-found") ? thrown : undefined;
}

/** Makes the error of a task that ended in another way than with a video. */
function withoutVideo(task: VideoTask): VideoError {
  const { id, status, error, expiresAfterSeconds } = task;
  const code = status as "failed" | "expired" | "cancelled";
  const reason = error ? `: ${[error.code, error.message].filter(Boolean).join(", ")}` : "";
  const after = expiresAfterSeconds === undefined ? "" : ` after ${expiresAfterSeconds} s`;
  const advice = `${after}: create it again, with a longer execution_expires_after if it may take longer`;
  const verb = code === "cancelled" ? "was cancelled" : code;
  return new VideoError(code, `Video task ${id} ${verb}${code === "expired" ? advice : reason}`, { taskId: id, task });
}

function timedOut(id: string, task: VideoTask | undefined, elapsedMs: number, cause: unknown): VideoError {
  const seen = task ? `is still ${task.status}` : "was not seen";
  const message = `Video task ${id} ${seen} after ${Math.round(elapsedMs / 1000)} s of waiting. It goes on at the service: wait again by its id (waitForVideo, or citewell video wait ${id}), with a longer deadlineMs if need be`;
  return new VideoError("wait-timeout", message, { taskId: id, task, cause });
}

/** The signal's own reason is thrown as it is. */
function stoppedWait(why: StopReason, taskId: string): unknown {
  if (why.kind === "aborted") return why.reason;
  const message = `waitForVideo of ${taskId}: the transport was closed: wait again by this id`;
  return new TransportError("request", message, { operation: "videoTask", taskId });
}
