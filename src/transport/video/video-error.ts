import { CitewellError } from "../../core/errors.js";
import type { VideoTask } from "./task.js";

/** The cases of a `VideoError`. */
export type VideoErrorCode =
  /** The task ended without a video; `task.error` says why if the service told. */
  | "failed"
  /** The task was not finished within its `execution_expires_after`. */
  | "expired"
  /** The task was cancelled. */
  | "cancelled"
  /** The wait ended before the task: wait again by its id. */
  | "wait-timeout"
  /** The link to the result no longer works; the video has to be made again. */
  | "link-expired"
  /** The task has no such result. */
  | "no-media"
  /** The result could not be fetched; another try continues where this stopped. */
  | "download";

/** A video task did not give a video. */
export class VideoError extends CitewellError {
  /** Why there is no video. */
  declare readonly code: VideoErrorCode;
  readonly taskId: string;
  /** The task as it was last seen, if it was. */
  readonly task: VideoTask | undefined;
  /** For `link-expired`: when the link stopped working. */
  readonly expiresAt: Date | undefined;

  constructor(
    code: VideoErrorCode,
    message: string,
    details: ErrorOptions & {
      readonly taskId: string;
      /** The task as it was last seen, if it was. */
      readonly task?: VideoTask | undefined;
    },
  ) {
    super(code, message, details.cause === undefined ? {} : { cause: details.cause });
    this.taskId = details.taskId;
    this.task = details.task;
    this.expiresAt = code === "link-expired" ? details.task?.linksExpireAt : undefined;
  }
}
