import { z } from "zod";
import { optionsOf } from "../core/options.js";
import type { Operation } from "./operation.js";
import { amount, flag, optional, text } from "./reply-fields.js";
import { createVideoTask, type ServiceTier, serviceTiers } from "./video.js";

/** The five that the contract names, and `cancelled`, which services of the same shape know. */
export const videoStatuses = ["queued", "running", "succeeded", "failed", "expired", "cancelled"] as const;
/** The statuses of a video task. The last four are final. */
export type VideoStatus = (typeof videoStatuses)[number];

/** The statuses in which a task never changes again. */
export const terminalVideoStatuses: ReadonlySet<string> = new Set<VideoStatus>([
  "succeeded",
  "failed",
  "expired",
  "cancelled",
]);

/** Days after which the service removes a task's record. */
export const taskRetentionDays = 7;
/** Hours after success for which links to results work. The contract does not say; services of the same shape say 24. */
export const mediaLinkHours = 24;

/** The reply to a query, and the body of a callback. */
export const VideoTaskReply = z.object({
  id: z.string().min(1),
  status: z.string().min(1),
  model: text,
  error: optional(z.object({ code: z.union([z.string(), z.number()]).nullish(), message: text })),
  /** Seconds since 1970. */
  created_at: amount,
  /** Time of the last change of status. */
  updated_at: amount,
  content: optional(z.object({ video_url: text, last_frame_url: text })),
  seed: amount,
  resolution: text,
  ratio: text,
  framespersecond: amount,
  /** Present unless `frames` is. */
  duration: amount,
  frames: amount,
  generate_audio: flag,
  service_tier: text,
  execution_expires_after: amount,
  usage: optional(
    z.object({
      completion_tokens: amount,
      total_tokens: amount,
      tool_usage: optional(z.object({ web_search: amount })),
    }),
  ),
});

const TaskId = z.strictObject({ id: z.string().min(1) });

/**
 * The published contract mentions the query without method and path: these are those of services of its shape.
 * @internal
 */
export const videoTask = {
  name: "videoTask",
  method: "GET",
  path: `${createVideoTask.path}/{id}`,
  request: TaskId,
  reply: VideoTaskReply,
  repeat: "always",
  readTimeoutMs: 60_000,
} as const satisfies Operation<typeof TaskId, typeof VideoTaskReply>;

const page = z.int().min(1).max(500).optional();

/** Lists the last seven days. Without `filter.service_tier: "flex"`, tasks of that tier may stay invisible. */
export interface VideoTaskListRequest {
  /** Page to return, 1 to 500. The service's default is 1. */
  readonly page_num?: number;
  /** Tasks a page, 1 to 500. Default: the service's own. */
  readonly page_size?: number;
  /** Only tasks of this status. */
  readonly "filter.status"?: VideoStatus;
  /** Only tasks of these ids. Sent as one parameter for each. */
  readonly "filter.task_ids"?: readonly string[];
  /** Only tasks of this model. */
  readonly "filter.model"?: string;
  /** Only tasks of this tier. */
  readonly "filter.service_tier"?: ServiceTier;
}

export const VideoTaskListRequest = optionsOf<VideoTaskListRequest>()({
  page_num: page,
  page_size: page,
  "filter.status": z.enum(videoStatuses).optional(),
  "filter.task_ids": z.array(z.string().min(1)).min(1).optional(),
  "filter.model": z.string().min(1).optional(),
  "filter.service_tier": z.enum(serviceTiers).optional(),
});

export const VideoTaskListReply = z.object({ items: z.array(z.unknown()), total: amount });

export const listVideoTasks = {
  name: "listVideoTasks",
  method: "GET",
  path: createVideoTask.path,
  request: VideoTaskListRequest,
  reply: VideoTaskListReply,
  repeat: "always",
  readTimeoutMs: 60_000,
  extension: true,
} as const satisfies Operation<typeof VideoTaskListRequest, typeof VideoTaskListReply>;

/**
 * A queued task becomes `cancelled`, a running one is refused with 409, the record of a finished one is deleted.
 * @internal
 */
export const cancelVideoTask = {
  name: "cancelVideoTask",
  method: "DELETE",
  path: videoTask.path,
  request: TaskId,
  reply: z.unknown(),
  repeat: "always",
  readTimeoutMs: 60_000,
  extension: true,
} as const satisfies Operation<typeof TaskId, z.ZodUnknown>;
