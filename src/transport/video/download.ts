import { createHash } from "node:crypto";
import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { asError } from "../../core/errors.js";
import type { CallOptions } from "../../core/ports.js";
import type { Caller } from "../calls/caller.js";
import { type Cancellation, type StopReason, Stopped } from "../failures/cancellation.js";
import { type ResponseHeaders, header } from "../failures/response-headers.js";
import { ResponseReader } from "../http/response-reader.js";
import type { VideoTask } from "./task.js";
import { VideoError } from "./video-error.js";

export interface DownloadVideoOptions extends CallOptions {
  /** Which of the task's results. Default: `video`. */
  readonly part?: "video" | "last-frame";
}

export interface DownloadedVideo {
  readonly path: string;
  readonly sizeBytes: number;
  /** How many of the bytes an earlier attempt had left. */
  readonly resumedBytes: number;
}

type Sizes = Omit<DownloadedVideo, "path">;

const maxRedirects = 5;

/**
 * Streams a result into a file, which appears under its name when it is whole. The key is not sent. The bytes of a failed
 * attempt are kept beside the file and continued from, also by another process, and after an abort, a deadline or the
 * transport's closing.
 *
 * @throws VideoError `no-media`, `link-expired` with the time, or `download` when it could not be fetched.
 */
export async function downloadVideo(
  caller: Caller,
  task: VideoTask,
  path: string,
  { part = "video", ...options }: DownloadVideoOptions,
): Promise<DownloadedVideo> {
  const url = part === "video" ? task.videoUrl : task.lastFrameUrl;
  if (url === undefined || !/^https?:/.test(url) || !URL.canParse(url)) throw noMedia(task, part);
  // The name depends on the content: bytes of another video at the same path are never continued from. The query is left
  // out, because a signed link changes it with every request.
  const { origin, pathname } = new URL(url);
  const mark = createHash("sha256").update(`${task.id} ${origin}${pathname}`).digest("hex").slice(0, 12);
  const partialPath = `${path}.${mark}.part`;
  return caller.during("downloadVideo", options, async (cancellation) => {
    const { maxRetries, backoffMs, maxBackoffMs } = caller.settings;
    for (let attempt = 1; ; attempt++) {
      try {
        cancellation.throwIfStopped();
        const sizes = await fetchInto(partialPath, url, caller, cancellation);
        await rename(partialPath, path);
        return { path, ...sizes };
      } catch (thrown) {
        const failed = await downloadFailure(thrown, { task, part, partialPath, attempt, maxRetries });
        if (failed !== undefined) throw failed;
        const ceilingMs = Math.min(maxBackoffMs, backoffMs * 2 ** (attempt - 1));
        await cancellation.sleep(Math.random() * ceilingMs).catch(() => {});
      }
    }
  });
}

async function fetchInto(path: string, url: string, caller: Caller, cancellation: Cancellation): Promise<Sizes> {
  const file = await open(path, "a+");
  try {
    const { size } = await file.stat();
    const response = await get(url, size, caller, cancellation);
    try {
      return await save(response, file, size);
    } finally {
      cancellation.listen(undefined);
      response.leave();
    }
  } finally {
    await file.close();
  }
}

/** Appends a response to the `size` bytes that the file has, or starts the file anew. */
async function save(response: ResponseReader, file: FileHandle, size: number): Promise<Sizes> {
  const { status, headers } = response;
  const startOver = async (why: string): Promise<never> => {
    await file.truncate(0);
    throw new Error(why);
  };
  if (status === 416 && size > 0) {
    // Either all of it is there already, or the bytes belong to something else.
    if (totalOf(headers) === size) return { sizeBytes: size, resumedBytes: size };
    return startOver("the bytes of an earlier attempt do not fit");
  }
  const resumed = status === 206 && startOf(headers) === size;
  if (status === 206 && !resumed) return startOver("another part was sent than was asked for");
  if (!resumed && status !== 200) throw new UnexpectedStatus(status);
  if (!resumed) await file.truncate(0);
  const resumedBytes = resumed ? size : 0;
  let sizeBytes = resumedBytes;
  for (let piece = await response.piece(); piece; piece = await response.piece()) {
    await file.appendFile(piece);
    sizeBytes += piece.length;
  }
  const wholeBytes = resumed ? totalOf(headers) : numberIn(header(headers, "content-length"));
  if (wholeBytes === undefined || sizeBytes === wholeBytes) return { sizeBytes, resumedBytes };
  throw new Error(`${sizeBytes} bytes of ${wholeBytes} arrived`);
}

/** Returns the response with its head; its body is still to be read. */
async function get(link: string, size: number, caller: Caller, cancellation: Cancellation): Promise<ResponseReader> {
  const { streamIdleMs } = caller.settings;
  let url = new URL(link);
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const response = new ResponseReader(() => {});
    cancellation.listen((stopped) => response.break(stopped));
    caller.fetch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: "GET",
        headers: { "accept-encoding": "identity", ...(size > 0 && { range: `bytes=${size}-` }) },
        headersTimeout: streamIdleMs,
        bodyTimeout: streamIdleMs,
      },
      response,
    );
    await response.head();
    const target = header(response.headers, "location");
    if (response.status < 300 || response.status >= 400 || target === undefined) return response;
    response.leave();
    url = new URL(target, url);
  }
  throw new Error(`its link redirects more than ${maxRedirects} times`);
}

function totalOf(headers: ResponseHeaders): number | undefined {
  return numberIn(/\/(\d+)$/.exec(header(headers, "content-range") ?? "")?.[1]);
}

function startOf(headers: ResponseHeaders): number | undefined {
  return numberIn(/^bytes (\d+)-/.exec(header(headers, "content-range") ?? "")?.[1]);
}

function numberIn(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

/** The server of the link answered with a status that is no success. */
class UnexpectedStatus extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`its server answered with status ${status}`);
    this.status = status;
  }
}

/** Statuses of a link that no longer works. */
const deadStatuses = new Set([401, 403, 404, 410]);

/** Whether another attempt may do better: the connection or the server may recover, a full disk will not. */
function isTransient(thrown: unknown): boolean {
  if (thrown instanceof UnexpectedStatus) return thrown.status >= 500 || thrown.status === 429 || thrown.status === 408;
  return !isFileError(thrown);
}

/** Sockets are written to as well, so the system call alone does not tell. */
function isFileError(thrown: unknown): boolean {
  const { syscall = "", code = "" } = thrown as NodeJS.ErrnoException;
  return /^(open|write|ftruncate|fstat|close|rename)$/.test(syscall) && !/^(ECONN|EPIPE|ETIMEDOUT)/.test(code);
}

function noMedia(task: VideoTask, part: string): VideoError {
  const { id, status } = task;
  const lacksFrame = part !== "video" && status === "succeeded";
  const why = lacksFrame ? "create it with return_last_frame: true to get one" : `it is ${status}`;
  return new VideoError("no-media", `Video task ${id} has no ${part}: ${why}`, { taskId: id, task });
}

function deadLink(task: VideoTask, part: string, cause: UnexpectedStatus): VideoError {
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

/** Makes the error that the caller sees; `undefined` when another attempt is worth it. Removes bytes of no further use. */
async function downloadFailure(thrown: unknown, failed: FailedDownload): Promise<unknown> {
  const { task, part, partialPath, attempt, maxRetries } = failed;
  if (thrown instanceof UnexpectedStatus && deadStatuses.has(thrown.status)) {
    const dead = deadLink(task, part, thrown);
    if (dead.code === "link-expired") await rm(partialPath, { force: true });
    else await keptBytes(partialPath);
    return dead;
  }
  const stopped = thrown instanceof Stopped ? thrown.why : undefined;
  if (stopped === undefined && attempt <= maxRetries && isTransient(thrown)) return undefined;
  const bytes = await keptBytes(partialPath);
  if (stopped?.kind === "aborted") return stopped.reason;
  const times = attempt > 1 ? ` after ${attempt} attempts` : "";
  const kept =
    bytes > 0 ? `. The ${bytes} bytes that arrived are in ${partialPath}; the same call goes on from there` : "";
  const message = `The ${part} of task ${task.id} could not be ${reasonOf(thrown, stopped, partialPath, times)}${kept}`;
  return new VideoError("download", message, { taskId: task.id, task, cause: stopped ? undefined : thrown });
}

function reasonOf(thrown: unknown, stopped: StopReason | undefined, partialPath: string, times: string): string {
  if (stopped?.kind === "closed") return `fetched${times}: the transport was closed`;
  if (stopped?.kind === "deadline") return `fetched${times}: its deadline of ${stopped.deadlineMs} ms passed`;
  const { message } = asError(thrown);
  if (!isFileError(thrown)) return `fetched${times}: ${message}`;
  const isMissing = (thrown as NodeJS.ErrnoException).code === "ENOENT";
  return `written: ${isMissing ? `there is no folder ${dirname(partialPath)}` : message}`;
}

/** Size of the partial file; an empty one is removed. */
async function keptBytes(path: string): Promise<number> {
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  if (size === 0) await rm(path, { force: true });
  return size;
}
