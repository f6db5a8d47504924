import type { VideoStatus } from "../../contract/video-tasks.js";
import { mediaLinkHours, taskRetentionDays } from "../../contract/video-tasks.js";
import type { VideoPlan } from "./video-plan.js";

/** What a task was created with. Its state at any time follows from this. Times are seconds of the service's clock since 1970. */
export interface VideoTask {
  readonly id: string;
  readonly createdSeconds: number;
  readonly queueSeconds: number;
  readonly runSeconds: number;
  /** `stuck` never ends by itself. */
  readonly outcome: "succeeded" | "failed" | "stuck";
  readonly error: { readonly code: string; readonly message: string };
  readonly cancelledSeconds?: number;
  readonly plan: VideoPlan;
  readonly callbackUrl?: string;
  /** What the links to its files must carry. */
  readonly linkToken: string;
}

export interface VideoTaskState {
  readonly status: VideoStatus;
  /** When it began. */
  readonly sinceSeconds: number;
}

const daySeconds = 86_400;
/** A cancelled task's record is removed after a day. */
const cancelledRetentionSeconds = daySeconds;

/** All states that a task goes through, in order, with their times. Pure. */
export function taskStates(task: VideoTask): readonly VideoTaskState[] {
  const { createdSeconds, cancelledSeconds, outcome } = task;
  const queued: VideoTaskState = { status: "queued", sinceSeconds: createdSeconds };
  if (cancelledSeconds !== undefined) return [queued, { status: "cancelled", sinceSeconds: cancelledSeconds }];
  const runs = createdSeconds + task.queueSeconds;
  const ends = outcome === "stuck" ? Number.POSITIVE_INFINITY : runs + task.runSeconds;
  const expires = createdSeconds + task.plan.expiresAfterSeconds;
  const running: VideoTaskState = { status: "running", sinceSeconds: runs };
  const expired: VideoTaskState = { status: "expired", sinceSeconds: expires };
  if (runs >= expires) return [queued, expired];
  if (outcome === "stuck" || ends > expires) return [queued, running, expired];
  return [queued, running, { status: outcome, sinceSeconds: ends }];
}

/** The state at a time. Pure. */
export function taskState(task: VideoTask, nowSeconds: number): VideoTaskState {
  const states = taskStates(task);
  return states.findLast(({ sinceSeconds }) => sinceSeconds <= nowSeconds) ?? states[0]!;
}

/**
 * The states to tell a receiver that was last told of the one that began at `toldSeconds`: what is to come, and of those
 * that began meanwhile only the last, since it has overtaken the others. Pure.
 */
export function untoldStates(task: VideoTask, toldSeconds: number, nowSeconds: number): readonly VideoTaskState[] {
  const untold = taskStates(task).filter(({ sinceSeconds }) => sinceSeconds > toldSeconds);
  const begun = untold.filter(({ sinceSeconds }) => sinceSeconds <= nowSeconds);
  return untold.slice(Math.max(0, begun.length - 1));
}

/** Whether the service has removed the record. Pure. */
export function isForgotten(task: VideoTask, nowSeconds: number): boolean {
  if (task.cancelledSeconds !== undefined && nowSeconds >= task.cancelledSeconds + cancelledRetentionSeconds)
    return true;
  return nowSeconds >= task.createdSeconds + taskRetentionDays * daySeconds;
}

/** Whether links to the results still work. Pure. */
export function linksWork(task: VideoTask, nowSeconds: number): boolean {
  const { status, sinceSeconds } = taskState(task, nowSeconds);
  return status === "succeeded" && nowSeconds < sinceSeconds + mediaLinkHours * 3600;
}
