import { z } from "zod";
import { dateOf } from "../../contract/reply-fields.js";
import { VideoTaskReply, type VideoStatus, mediaLinkHours, terminalVideoStatuses } from "../../contract/video-tasks.js";

/** A video task as the service last reported it. Fields that it did not report are left out. */
export interface VideoTask {
  /** Id of the task. */
  readonly id: string;
  /** The names of other services are translated. An unknown one is kept, and counts as unfinished. */
  readonly status: VideoStatus | (string & {});
  /** Whether the status will never change again. */
  readonly finished: boolean;
  /** The model that was really used. */
  readonly model?: string;
  /** Reason of a failed task. */
  readonly error?: {
    /** The service's own code. */
    readonly code?: string;
    /** The service's own words. */
    readonly message: string;
  };
  /** Time of the creation. */
  readonly createdAt?: Date;
  /** Time of the last change of status. */
  readonly updatedAt?: Date;
  /** Address of the video, until `linksExpireAt`. */
  readonly videoUrl?: string;
  /** A PNG, when the request asked for it. */
  readonly lastFrameUrl?: string;
  /** When the links stop working, though the record lives on. */
  readonly linksExpireAt?: Date;
  /** The resolution that was made: `480p`, `720p` or `1080p`. */
  readonly resolution?: string;
  /** The ratio that was chosen when `adaptive` was asked for. */
  readonly ratio?: string;
  /** Length of the video. Absent where the service tells its frames. */
  readonly durationSeconds?: number;
  /** Number of frames. */
  readonly frames?: number;
  /** Rate of the frames. */
  readonly framesPerSecond?: number;
  /** The seed that was used. */
  readonly seed?: number;
  /** Whether the video has sound. */
  readonly generateAudio?: boolean;
  /** `default`, or `flex` where it runs when there is capacity. */
  readonly serviceTier?: string;
  /** Time from creation until an unfinished task ends as `expired`. */
  readonly expiresAfterSeconds?: number;
  /** Billed usage, as the service counted it. */
  readonly usage?: {
    /** Tokens of the video. */
    readonly outputTokens?: number;
    /** Tokens in total. */
    readonly totalTokens?: number;
    /** Web searches that the model made. */
    readonly webSearches?: number;
  };
  /** The reply as it came. */
  readonly raw: unknown;
}

const aliases: Readonly<Record<string, VideoStatus>> = {
  pending: "queued",
  processing: "running",
  in_progress: "running",
  completed: "succeeded",
  canceled: "cancelled",
};

/** Settings for services that differ. */
export interface VideoTaskReading {
  /** Added to the names that are known anyway. */
  readonly videoStatusAliases: Readonly<Record<string, VideoStatus>>;
  readonly videoLinkLifetimeMs: number;
}

const defaultReading: VideoTaskReading = { videoStatusAliases: {}, videoLinkLifetimeMs: mediaLinkHours * 3_600_000 };

/** Translates a task from the body of a query, a list or a callback. Pure. */
export function readVideoTask(
  raw: unknown,
  reply: z.output<typeof VideoTaskReply>,
  { videoStatusAliases, videoLinkLifetimeMs }: VideoTaskReading = defaultReading,
): VideoTask {
  const { content, usage } = reply;
  const written = reply.status.toLowerCase();
  const names = { ...aliases, ...videoStatusAliases };
  const status = Object.hasOwn(names, written) ? names[written]! : written;
  const finished = terminalVideoStatuses.has(status);
  const updatedAt = dateOf(reply.updated_at);
  const hasLinks = Boolean(content?.video_url ?? content?.last_frame_url);
  const linksExpireAt = hasLinks && updatedAt ? new Date(updatedAt.getTime() + videoLinkLifetimeMs) : undefined;
  return {
    ...present({
      model: reply.model,
      error: errorOf(reply.error),
      createdAt: dateOf(reply.created_at),
      updatedAt,
      videoUrl: content?.video_url,
      lastFrameUrl: content?.last_frame_url,
      linksExpireAt,
      resolution: reply.resolution?.toLowerCase(),
      ratio: reply.ratio,
      durationSeconds: reply.duration,
      frames: reply.frames,
      framesPerSecond: reply.framespersecond,
      seed: reply.seed,
      generateAudio: reply.generate_audio,
      serviceTier: reply.service_tier,
      expiresAfterSeconds: reply.execution_expires_after,
      usage:
        usage &&
        present({
          outputTokens: usage.completion_tokens,
          totalTokens: usage.total_tokens,
          webSearches: usage.tool_usage?.web_search,
        }),
    }),
    id: reply.id,
    status,
    finished,
    raw,
  };
}

/** Like `readVideoTask`, for a value that may be no task at all. */
export function parseVideoTask(raw: unknown, reading?: VideoTaskReading): VideoTask | undefined {
  const parsed = VideoTaskReply.safeParse(raw);
  return parsed.success ? readVideoTask(raw, parsed.data, reading) : undefined;
}

function errorOf(error: z.output<typeof VideoTaskReply>["error"]): VideoTask["error"] {
  const { code, message } = error ?? {};
  const told = code !== undefined && code !== null && code !== "";
  if (!told && !message) return undefined;
  return { message: message ?? "", ...(told && { code: String(code) }) };
}

type Present<T> = { [Field in keyof T]?: Exclude<T[Field], null | undefined> };

/** Keeps the fields that hold something. */
function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== ""),
  ) as Present<T>;
}
