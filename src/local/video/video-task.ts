import { z } from "zod";
import { mediaLinkHours, taskRetentionDays, type VideoStatus } from "../../contract/video-tasks.js";
import { fixedRatios } from "./file/frame-size.js";

/** The video to be made, with every default filled in and every choice made. */
const VideoPlan = z.object({
  model: z.string(),
  resolution: z.string(),
  ratio: z.enum(fixedRatios),
  size: z.object({ width: z.number(), height: z.number() }),
  durationSeconds: z.number(),
  /** Present when the caller counted in frames. */
  frames: z.number().optional(),
  seed: z.number(),
  generateAudio: z.boolean(),
  returnLastFrame: z.boolean(),
  serviceTier: z.string(),
  expiresAfterSeconds: z.number(),
  watermark: z.boolean(),
  safetyIdentifier: z.string().optional(),
  /** Times the model searched; undefined when it was not allowed to. */
  searches: z.number().optional(),
  /** Counted for what a model reads of its reference videos. */
  referenceSeconds: z.number(),
  /** Decides the picture, with the seed: equal for equal content. */
  contentHash: z.number(),
});
export type VideoPlan = Readonly<z.output<typeof VideoPlan>>;

export const framesPerSecond = 24;

/**
 * A task as it was created, and as a file keeps it. Its state at any time follows from this. Times are seconds of the
 * service's clock since 1970.
 */
export const VideoTask = z.object({
  id: z.string(),
  createdSeconds: z.number(),
  queueSeconds: z.number(),
  runSeconds: z.number(),
  /** `stuck` never ends by itself. */
  outcome: z.enum(["succeeded", "failed", "stuck"]),
  error: z.object({ code: z.string(), message: z.string() }),
  cancelledSeconds: z.number().optional(),
  plan: VideoPlan,
  callbackUrl: z.string().optional(),
  /** The secret that links to its files must carry. */
  linkToken: z.string(),
});
export type VideoTask = Readonly<z.output<typeof VideoTask>>;

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

/** Names of a task's files. */
export const taskFiles = { video: "video.mp4", lastFrame: "last-frame.png" } as const;

/** The result of the query and the body of a callback: what a task is in a state. Pure. */
export function taskView(
  task: VideoTask,
  { status, sinceSeconds }: VideoTaskState,
  baseUrl: string,
): Readonly<Record<string, unknown>> {
  const { plan } = task;
  const link = (name: string) => `${baseUrl}/files/${task.id}/${name}?link=${task.linkToken}`;
  const tokens = videoTokens(plan);
  return {
    id: task.id,
    model: plan.model,
    status,
    error: status === "failed" ? task.error : null,
    created_at: Math.floor(task.createdSeconds),
    updated_at: Math.floor(sinceSeconds),
    ...(status === "succeeded" && {
      content: {
        video_url: link(taskFiles.video),
        ...(plan.returnLastFrame && { last_frame_url: link(taskFiles.lastFrame) }),
      },
      usage: {
        completion_tokens: tokens,
        total_tokens: tokens,
        ...(plan.searches !== undefined && { tool_usage: { web_search: plan.searches } }),
      },
    }),
    seed: plan.seed,
    resolution: plan.resolution,
    ratio: plan.ratio,
    ...(plan.frames === undefined ? { duration: plan.durationSeconds } : { frames: plan.frames }),
    framespersecond: framesPerSecond,
    generate_audio: plan.generateAudio,
    ...((plan.searches ?? 0) > 0 && { tools: [{ type: "web_search" }] }),
    ...(plan.safetyIdentifier !== undefined && { safety_identifier: plan.safetyIdentifier }),
    service_tier: plan.serviceTier,
    execution_expires_after: plan.expiresAfterSeconds,
  };
}

/** `w × h / 1024 × (24 × seconds + 1)`, with the frames of reference videos counted too. Pure. */
export function videoTokens({ size, durationSeconds, referenceSeconds }: VideoPlan): number {
  const frames = framesPerSecond * (durationSeconds + referenceSeconds) + 1;
  return Math.floor(((size.width * size.height) / 1024) * frames);
}
