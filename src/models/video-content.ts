import { open, type FileHandle } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { audioLimits, imageLimits } from "../contract/media.js";
import { maxBodyBytes } from "../contract/operation.js";
import type { ImageRole, VideoContentItem } from "../contract/video-content.js";
import { LoadError, OptionsError } from "../core/errors.js";
import { VideoError } from "../transport/video/video-error.js";
import type { VideoTask } from "../transport/video/task.js";

/** Where a medium is: at a public address, among the service's approved assets, in a local file, or in memory. */
export type MediaSource =
  | {
      /** A public http or https address. */
      readonly url: string;
    }
  /** Asset address, with or without `asset://`. */
  | {
      /** Id of an approved asset, with or without `asset://`. */
      readonly asset: string;
    }
  | {
      /** Path or `file:` URL of a file on this machine. It is sent inline. */
      readonly file: string | URL;
    }
  | {
      /** The file's bytes. They are sent inline. */
      readonly bytes: Uint8Array;
    };

/** Makes items of a video's `content`. Files and bytes are sent inline, in the format that their own header states. */
export const videoContent = {
  /** The prompt: at most 500 Chinese characters or 1,000 English words are recommended. */
  text: (text: string): VideoContentItem => ({ type: "text", text }),
  /** The image that the video begins with. */
  firstFrame: (source: MediaSource): Promise<VideoContentItem> => image(source, "first_frame"),
  /** The image that the video ends with; it needs a first frame beside it. */
  lastFrame: (source: MediaSource): Promise<VideoContentItem> => image(source, "last_frame"),
  /** A prompt may refer to several as `[image 1]`, `[image 2]` and so on. */
  referenceImage: (source: MediaSource): Promise<VideoContentItem> => image(source, "reference_image"),
  /** Only from a public address or an asset: the service takes no videos inline. */
  referenceVideo: (
    source:
      | {
          /** A public http or https address. */
          readonly url: string;
        }
      | {
          /** Id of an approved asset, with or without `asset://`. */
          readonly asset: string;
        },
  ): VideoContentItem => {
    const url = addressOf(source);
    if (url === undefined) {
      throw new OptionsError(
        "options",
        "videoContent.referenceVideo: the service takes videos from public addresses and as assets only: upload it, and give { url } or { asset }",
      );
    }
    return { type: "video_url", video_url: { url, role: "reference_video" } };
  },
  /** A sound that the video takes up; it needs a reference image or video beside it. */
  referenceAudio: async (source: MediaSource): Promise<VideoContentItem> => {
    const url =
      addressOf(source) ?? (await dataUrl("audio", await bytesOf(source as InlineSource, audioLimits.maxBytes)));
    return { type: "audio_url", audio_url: { url, role: "reference_audio" } };
  },
};

/**
 * Turns the last frame of a finished task into the first of the next, so that one video continues the other. The task
 * must have been created with `return_last_frame`.
 *
 * @throws VideoError `no-media` when there is none, `link-expired` when its link no longer works.
 * @example
 * ```ts
 * import { createTransport } from "citewell";
 * import { lastFrameAsFirstFrame, videoContent } from "citewell/video";
 * const transport = createTransport({ baseUrl: "https://api.example.com/v1", apiKey: "…" });
 * const task = await transport.waitForVideo("task-1");
 * const content = [videoContent.text("The boat reaches the shore."), lastFrameAsFirstFrame(task)];
 * await transport.createVideoTask({ model: "…", content });
 * ```
 */
export function lastFrameAsFirstFrame(task: VideoTask, now = new Date()): VideoContentItem {
  const { id, status, lastFrameUrl, linksExpireAt } = task;
  if (lastFrameUrl === undefined) {
    const why = status === "succeeded" ? "create it with return_last_frame: true" : `it is ${status}`;
    throw new VideoError("no-media", `Video task ${id} has no last frame: ${why}`, { taskId: id, task });
  }
  if (linksExpireAt && linksExpireAt <= now) {
    throw new VideoError(
      "link-expired",
      `The link to the last frame of task ${id} expired at ${linksExpireAt.toISOString()}: take the frame from the video, if that was kept`,
      { taskId: id, task },
    );
  }
  return { type: "image_url", image_url: { url: lastFrameUrl, role: "first_frame" } };
}

type InlineSource = Extract<MediaSource, { file: unknown } | { bytes: unknown }>;

async function image(source: MediaSource, role: ImageRole): Promise<VideoContentItem> {
  const url =
    addressOf(source) ?? (await dataUrl("image", await bytesOf(source as InlineSource, imageLimits.belowBytes)));
  return { type: "image_url", image_url: { url, role } };
}

function addressOf(source: MediaSource): string | undefined {
  if ("url" in source) return source.url;
  if ("asset" in source) return source.asset.startsWith("asset://") ? source.asset : `asset://${source.asset}`;
  return undefined;
}

async function dataUrl(kind: "image" | "audio", bytes: Uint8Array): Promise<string> {
  const format = kind === "image" ? await imageFormat(bytes) : audioFormat(bytes);
  const { formats } = kind === "image" ? imageLimits : audioLimits;
  // The check of the request knows which models take the extra formats.
  const taken: readonly string[] = kind === "image" ? [...formats, ...imageLimits.extraFormats] : formats;
  if (!taken.includes(format)) {
    throw new OptionsError(
      "options",
      `videoContent: the ${kind}'s format is ${format}, it must be one of ${formats.join(", ")}`,
    );
  }
  return `data:${kind}/${format};base64,${Buffer.from(bytes).toString("base64")}`;
}

async function imageFormat(bytes: Uint8Array): Promise<string> {
  const { readImageHeader } = await import("../media/image-header.js");
  return readImageHeader(bytes).format;
}

/** Reads just enough to name the format; the transport looks closer, when the reader for it is installed. */
function audioFormat(bytes: Uint8Array): string {
  const start = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  if (/^(RIFF|RF64)....WAVE/s.test(start)) return "wav";
  return start.startsWith("ID3") || /^\xFF[\xE0-\xFF]/.test(start) ? "mp3" : "unknown";
}

async function bytesOf(source: InlineSource, maxBytes: number): Promise<Uint8Array> {
  if ("bytes" in source) return source.bytes;
  const path = source.file instanceof URL ? fileURLToPath(source.file) : source.file;
  let file: FileHandle | undefined;
  try {
    file = await open(path);
    const { size } = await file.stat();
    // A file far too large is not read. The check of the media reports one that is a little too large.
    if (size > Math.min(maxBytes * 2, maxBodyBytes)) {
      throw new LoadError("too-large", path, `${path} has ${size} bytes, the service takes ${maxBytes}`);
    }
    return await file.readFile();
  } catch (cause) {
    if (cause instanceof LoadError) throw cause;
    const missing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    const message = missing ? `No such file: ${path}` : `Cannot read ${path}: ${(cause as Error).message}`;
    throw new LoadError(missing ? "missing" : "unreadable", path, message, { cause });
  } finally {
    await file?.close();
  }
}
