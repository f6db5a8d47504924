import { rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { asError } from "../errors.js";
import { type StopReason, Stopped } from "./stopping.js";
import { VideoError } from "./video-error.js";
import type { VideoTask } from "./video-task.js";

/** Statuses that a link gives when it works no more. */
const deadStatuses = new Set([401, 403, 404, 410]);

/** The server said no. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`its server answered with status ${status}`);
    this.status = status;
  }
}

/** The connection or the server may do better; a full disk will not. */
function isPassing(thrown: unknown): boolean {
  if (thrown instanceof Refused) return thrown.status >= 500 || thrown.status === 429 || thrown.status === 408;
  return !ofFiles(thrown);
}

/** Rather than of the connection, which is written to as well. */
function ofFiles(thrown: unknown): boolean {
  const { syscall = "", code = "" } = thrown as NodeJS.ErrnoException;
  return /^(open|write|ftruncate|fstat|close|rename)$/.test(syscall) && !/^(ECONN|EPIPE|ETIMEDOUT)/.test(code);
}

export function noMedia(task: VideoTask, part: string): VideoError {
  const why =
    part === "video" || task.status !== "succeeded"
      ? `it is ${task.status}`
      : "create it with return_last_frame: true to get one";
  return new VideoError("no-media", `Video task ${task.id} has no ${part}: ${why}`, { taskId: task.id, task });
}

function deadLink(task: VideoTask, part: string, cause: Refused): VideoError {
  const { id, linksExpireAt } = task;
  const expired = linksExpireAt !== undefined && linksExpireAt.getTime() <= Date.now();
  const message = expired
    ? `The link to the ${part} of task ${id} expired at ${linksExpireAt.toISOString()}, 24 hours after it was made. The task's record lives longer than its links: create the video again`
    : `The link to the ${part} of task ${id} was refused with status ${cause.status}: query the task for a fresh link`;
  return new VideoError(expired ? "link-expired" : "download", message, { taskId: id, task, cause });
}

interface FailedDownload {
  readonly task: VideoTask;
  readonly part: string;
  readonly partialPath: string;
  /** 1 for the first. */
  readonly attempt: number;
  readonly maxRetries: number;
}

/** What the caller is to see; `undefined` when it is worth another attempt. What is of no use to one is removed. */
export async function downloadFailure(thrown: unknown, failed: FailedDownload): Promise<unknown> {
  const { task, part, partialPath, attempt, maxRetries } = failed;
  if (thrown instanceof Refused && deadStatuses.has(thrown.status)) {
    const dead = deadLink(task, part, thrown);
    if (dead.code === "link-expired") await rm(partialPath, { force: true });
    else await leftBytes(partialPath);
    return dead;
  }
  const stopped = thrown instanceof Stopped ? thrown.why : undefined;
  if (stopped === undefined && attempt <= maxRetries && isPassing(thrown)) return undefined;
  const left = await leftBytes(partialPath);
  if (stopped?.kind === "aborted") return stopped.reason;
  const times = attempt > 1 ? ` after ${attempt} attempts` : "";
  const kept = left > 0 ? `. What arrived, ${left} bytes, is in ${partialPath}; the same call goes on from there` : "";
  const message = `The ${part} of task ${task.id} could not be ${reasonOf(thrown, stopped, partialPath, times)}${kept}`;
  return new VideoError("download", message, { taskId: task.id, task, cause: stopped ? undefined : thrown });
}

function reasonOf(thrown: unknown, stopped: StopReason | undefined, partialPath: string, times: string): string {
  if (stopped?.kind === "closed") return `fetched${times}: the transport was closed`;
  if (stopped?.kind === "deadline") return `fetched${times}: its deadline of ${stopped.deadlineMs} ms passed`;
  const { message } = asError(thrown);
  if (!ofFiles(thrown)) return `fetched${times}: ${message}`;
  const missing =
    (thrown as NodeJS.ErrnoException).code === "ENOENT" ? `there is no folder ${dirname(partialPath)}` : message;
  return `written: ${missing}`;
}

/** An empty file is no use to a later attempt. */
async function leftBytes(path: string): Promise<number> {
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  if (size === 0) await rm(path, { force: true });
  return size;
}
