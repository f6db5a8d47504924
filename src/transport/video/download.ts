import { createHash } from "node:crypto";
import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { callOptions } from "../../core/call-options.js";
import { asError } from "../../core/errors.js";
import { optionsOf, resolve } from "../../core/options.js";
import type { CallOptions } from "../../core/ports.js";
import type { Caller } from "../calls/caller.js";
import { type Cancellation, type StopReason, Stopped, maxTimerMs } from "../failures/cancellation.js";
import { FailedAttempt } from "../failures/failure.js";
import { type ResponseHeaders, header } from "../failures/response-headers.js";
import { codingOf } from "../http/body-decoder.js";
import { Exchange } from "../http/exchange.js";
import type { VideoTask } from "./task.js";
import { VideoError } from "./video-error.js";

export interface DownloadVideoOptions extends CallOptions {
  /** Result of the task to download. Default: `video`. */
  readonly part?: "video" | "last-frame";
}

const downloadVideoOptions = optionsOf<DownloadVideoOptions>()({
  ...callOptions.shape,
  part: z.enum(["video", "last-frame"]).default("video"),
});

export interface DownloadedVideo {
  /** The file that holds it. */
  readonly path: string;
  /** Size of the whole file. */
  readonly sizeBytes: number;
  /** Bytes that were continued from an earlier attempt. */
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
 * @internal
 */
export async function downloadVideo(
  caller: Caller,
  task: VideoTask,
  path: string,
  given: DownloadVideoOptions,
): Promise<DownloadedVideo> {
  const { part, ...options } = resolve("downloadVideo", downloadVideoOptions, given);
  const url = part === "video" ? task.videoUrl : task.lastFrameUrl;
  const shown = caller.secrecy.redactAll(task);
  if (url === undefined || !/^https?:/.test(url) || !URL.canParse(url)) throw noMedia(shown, part);
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
        const failed = await downloadFailure(thrown, { task: shown, part, partialPath, attempt, maxRetries });
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
    const exchange = await get(url, size, caller, cancellation);
    try {
      return await save(exchange, file, size);
    } finally {
      exchange.end();
    }
  } finally {
    await file.close();
  }
}

/** Appends a response to the `size` bytes that the file has, or starts the file anew. */
async function save(exchange: Exchange, file: FileHandle, size: number): Promise<Sizes> {
  const { status, headers } = exchange;
  const startOver = async (why: string): Promise<never> => {
    await file.truncate(0);
    throw new Error(why);
  };
  if (status === 416 && size > 0) {
    // Either all of it is there already, or the bytes belong to something else.
    if (totalOf(headers) === size) return { sizeBytes: size, resumedBytes: size };
    return startOver("the bytes of an earlier attempt do not fit");
  }
  // Ranges of a coded body count its coded bytes.
  const coded = codingOf(headers) !== undefined;
  const resumed = status === 206 && startOf(headers) === size && !coded;
  if (status === 206 && !resumed) return startOver("another part was sent than was asked for");
  if (!resumed && status !== 200) throw unexpected(status);
  if (!resumed) await file.truncate(0);
  const resumedBytes = resumed ? size : 0;
  let sizeBytes = resumedBytes;
  for (let piece = await exchange.piece(); piece; piece = await exchange.piece()) {
    await file.appendFile(piece);
    sizeBytes += piece.length;
  }
  const wholeBytes = coded ? undefined : resumed ? totalOf(headers) : numberIn(header(headers, "content-length"));
  if (wholeBytes === undefined || sizeBytes === wholeBytes) return { sizeBytes, resumedBytes };
  throw new Error(`${sizeBytes} bytes of ${wholeBytes} arrived`);
}

/** Returns the exchange with its head; the body is still to be read. Outside all limits, and without the key. */
async function get(link: string, size: number, caller: Caller, cancellation: Cancellation): Promise<Exchange> {
  const { streamIdleMs } = caller.settings;
  let url = new URL(link);
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const exchange = await Exchange.open({
      connections: caller.connections,
      request: {
        origin: url.origin,
        path: url.pathname + url.search,
        method: "GET",
        headers: { "accept-encoding": "identity", ...(size > 0 && { range: `bytes=${size}-` }) },
        headersTimeout: streamIdleMs,
        bodyTimeout: streamIdleMs,
      },
      timeoutMs: maxTimerMs,
      cancellation,
    });
    const target = header(exchange.headers, "location");
    if (exchange.status < 300 || exchange.status >= 400 || target === undefined) return exchange;
    exchange.end();
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

/** Statuses of a link that no longer works. */
const deadStatuses: ReadonlySet<number | undefined> = new Set([401, 403, 404, 410]);

/** The server of the link answered with a status that is no success. */
function unexpected(status: number): FailedAttempt {
  const retryable = status >= 500 || status === 429 || status === 408;
  const message = `its server answered with status ${status}`;
  return new FailedAttempt({ code: "upstream", message, retryable, undelivered: false, status });
}

/** Failures of connections come as `FailedAttempt`. */
function isFileError(thrown: unknown): boolean {
  return (thrown as NodeJS.ErrnoException).syscall !== undefined;
}

function noMedia(task: VideoTask, part: string): VideoError {
  const { id, status } = task;
  const lacksFrame = part !== "video" && status === "succeeded";
  const why = lacksFrame ? "create it with return_last_frame: true to get one" : `it is ${status}`;
  return new VideoError("no-media", `Video task ${id} has no ${part}: ${why}`, { taskId: id, task });
}

interface FailedDownload {
  readonly task: VideoTask;
  readonly part: string;
  readonly partialPath: string;
  /** Number of the attempt; 1 for the first. */
  readonly attempt: number;
  readonly maxRetries: number;
}

/** Makes the error that the caller sees; `undefined` when another attempt is worth it. Removes bytes of no further use. */
async function downloadFailure(thrown: unknown, failed: FailedDownload): Promise<unknown> {
  const { task, part, partialPath, attempt, maxRetries } = failed;
  const { id: taskId, linksExpireAt } = task;
  const failure = thrown instanceof FailedAttempt ? thrown.failure : undefined;
  const stopped = thrown instanceof Stopped ? thrown.why : undefined;
  if (deadStatuses.has(failure?.status)) {
    const expired = linksExpireAt !== undefined && linksExpireAt.getTime() <= Date.now();
    await keptBytes(partialPath, expired);
    const message = expired
      ? `The link to the ${part} of task ${taskId} expired at ${linksExpireAt.toISOString()}, 24 hours after it was made. The task's record lives longer than its links: create the video again`
      : `The link to the ${part} of task ${taskId} was refused with status ${failure?.status}: query the task for a fresh link`;
    return new VideoError(expired ? "link-expired" : "download", message, { taskId, task });
  }
  // The connection or the server may recover, but a full disk will not.
  const isTransient = failure?.retryable ?? !(stopped || isFileError(thrown));
  if (isTransient && attempt <= maxRetries) return undefined;
  const bytes = await keptBytes(partialPath);
  if (stopped?.kind === "aborted") return stopped.reason;
  const times = attempt > 1 ? ` after ${attempt} attempts` : "";
  const kept =
    bytes > 0 ? `. The ${bytes} bytes that arrived are in ${partialPath}; the same call goes on from there` : "";
  const message = `The ${part} of task ${taskId} could not be ${reasonOf(thrown, stopped, partialPath, times)}${kept}`;
  const cause = failure ? failure.cause : thrown;
  return new VideoError("download", message, { taskId, task, cause: stopped ? undefined : cause });
}

function reasonOf(thrown: unknown, stopped: StopReason | undefined, partialPath: string, times: string): string {
  if (stopped?.kind === "closed") return `fetched${times}: the transport was closed`;
  if (stopped?.kind === "deadline") return `fetched${times}: its deadline of ${stopped.deadlineMs} ms passed`;
  const { message } = asError(thrown);
  if (!isFileError(thrown)) return `fetched${times}: ${message}`;
  const isMissing = (thrown as NodeJS.ErrnoException).code === "ENOENT";
  return `written: ${isMissing ? `there is no folder ${dirname(partialPath)}` : message}`;
}

/** Size of the partial file; one that is empty or of no use is removed. */
async function keptBytes(path: string, useless = false): Promise<number> {
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  if (size === 0 || useless) await rm(path, { force: true });
  return size;
}
