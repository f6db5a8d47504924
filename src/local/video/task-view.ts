import { framesPerSecond, videoTokens } from "./video-plan.js";
import type { VideoTask, VideoTaskState } from "./video-task.js";

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
