import type { Operation } from "../../contract/operation.js";
import type { Failure } from "../failures/failure.js";

export interface RetryPolicy {
  readonly maxRetries: number;
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  /** Maximum wait that the service may ask for when there is no deadline. */
  readonly maxRetryAfterMs: number;
  /** The operation's rule: whether carrying it out twice does harm. */
  readonly repeat: Operation["repeat"];
}

export interface RetrySituation {
  readonly failure: Failure;
  /** Number of attempts so far; 1 after the first. */
  readonly attempt: number;
  readonly nowMs: number;
  /** On the clock of `nowMs`. */
  readonly deadlineAtMs?: number | undefined;
  /** Random number in [0, 1). */
  readonly random: number;
}

/** Limits counted by the minute need waits that together outlast one: these times the ordinary ones. */
const minuteBackoffFactor = 8;
const minuteCapFactor = 7.5;

/**
 * Milliseconds to wait before sending again, or `undefined` to give up now. The wait that the service asked for wins over
 * our backoff, however long, if the deadline allows it. Our own wait is uniform between nothing and a doubling ceiling
 * ("full jitter", https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/). For limits counted by the
 * minute it lies in the upper half of a higher ceiling, because four full-jitter waits would not outlast the minute. Pure.
 */
export function retryDelayMs(situation: RetrySituation, policy: RetryPolicy): number | undefined {
  const { failure, attempt, nowMs, deadlineAtMs, random } = situation;
  if (!failure.retryable || attempt > policy.maxRetries) return undefined;
  if (policy.repeat === "undelivered" && !failure.undelivered) return undefined;
  const delayMs = failure.retryAfterMs ?? backoff(failure.minuteWindow ?? false, attempt, random, policy);
  if (deadlineAtMs !== undefined) return nowMs + delayMs < deadlineAtMs ? delayMs : undefined;
  return delayMs <= policy.maxRetryAfterMs ? delayMs : undefined;
}

function backoff(minuteWindow: boolean, attempt: number, random: number, policy: RetryPolicy): number {
  const doubled = policy.backoffMs * 2 ** (attempt - 1);
  if (!minuteWindow) return random * Math.min(policy.maxBackoffMs, doubled);
  const ceiling = Math.min(policy.maxBackoffMs * minuteCapFactor, doubled * minuteBackoffFactor);
  return ceiling * (0.5 + random / 2);
}
