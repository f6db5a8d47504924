import { z } from "zod";

export const VideoPollOptions = z.strictObject({
  /** Wait before the second query. 1 to 600,000, default 10,000. */
  firstMs: z.number().min(1).max(600_000).default(10_000),
  /** By what each wait grows. 1 to 10, default 1.5. */
  factor: z.number().min(1).max(10).default(1.5),
  /** Longest wait, before it is varied. 1 to 3,600,000, default 30,000. */
  maxMs: z.number().min(1).max(3_600_000).default(30_000),
  /** Share by which a wait is varied either way, so that many waiters do not ask at once. 0 to 1, default 0.2. */
  jitter: z.number().min(0).max(1).default(0.2),
  /** A task that is not found this soon after the wait began may not be visible yet. Default 10,000. */
  notFoundGraceMs: z.number().min(0).default(10_000),
  /** Queries that may fail in a row, each after the transport's own retries. 0 or more, default 5. */
  maxFailures: z.int().min(0).default(5),
});
export type VideoPollOptions = z.input<typeof VideoPollOptions>;

type Cadence = Pick<z.output<typeof VideoPollOptions>, "firstMs" | "factor" | "maxMs" | "jitter">;

export interface PollSituation {
  /** Queries so far, 1 or more. */
  readonly polls: number;
  /** Until the wait is over. */
  readonly remainingMs: number;
  /** In [0, 1). */
  readonly random: number;
}

/** Milliseconds until the next query, the last of which comes when the wait is over; `undefined` once it is. Pure. */
export function pollDelayMs({ polls, remainingMs, random }: PollSituation, cadence: Cadence): number | undefined {
  if (remainingMs <= 0) return undefined;
  const plain = Math.min(cadence.maxMs, cadence.firstMs * cadence.factor ** (polls - 1));
  const varied = plain * (1 + cadence.jitter * (2 * random - 1));
  return Math.min(varied, remainingMs);
}

/** Most time for a wait that names none; a task of the `flex` tier may take as long as it may live. */
export const defaultWaitMs = 30 * 60_000;

/** How long to wait for a task from `nowMs`, in milliseconds, when the caller did not say. Pure. */
export function waitBudgetMs(
  task: { readonly serviceTier?: string; readonly createdAt?: Date; readonly expiresAfterSeconds?: number },
  nowMs: number,
): number {
  if (task.serviceTier !== "flex" || task.expiresAfterSeconds === undefined) return defaultWaitMs;
  const createdAtMs = task.createdAt?.getTime() ?? nowMs;
  return Math.max(defaultWaitMs, createdAtMs + task.expiresAfterSeconds * 1000 - nowMs);
}
