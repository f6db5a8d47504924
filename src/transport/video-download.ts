import { createHash } from "node:crypto";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Dispatcher } from "undici";
import { asError } from "../errors.js";
import type { CallOptions } from "../ports.js";
import type { Upstream } from "./upstream.js";
import { VideoError } from "./video-error.js";
import type { VideoTask } from "./video-task.js";
import { type Headers, header } from "./wait-headers.js";

export interface DownloadVideoOptions extends CallOptions {
  /** Which of the task's results. Default: `video`. */
  readonly part?: "video" | "last-frame";
}

export interface DownloadedVideo {
  readonly path: string;
  readonly sizeBytes: number;
  /** Of them, how many an earlier attempt had left. */
  readonly resumedBytes: number;
}

const maxRedirects = 5;
/** Statuses that a link gives when it works no more. */
const deadStatuses = new Set([401, 403, 404, 410]);

/**
 * Streams a result into a file, which appears under its name when it is whole. The key stays home. What an attempt left
 * is kept beside it and gone on from, also by another process.
 *
 * @throws VideoError `no-media`, `link-expired` with the time, or `download` when it could not be fetched.
 */
export async function downloadVideo(
  upstream: Upstream,
  task: VideoTask,
  path: string,
  { part = "video", signal, deadlineMs }: DownloadVideoOptions,
): Promise<DownloadedVideo> {
  const url = part === "video" ? task.videoUrl : task.lastFrameUrl;
  if (url === undefined || !/^https?:/.test(url) || !URL.canParse(url)) throw noMedia(task, part);
  const stops = [
    upstream.closing,
    ...(signal ? [signal] : []),
    ...(deadlineMs === undefined ? [] : [AbortSignal.timeout(deadlineMs)]),
  ];
  const stop = AbortSignal.any(stops);
  // Named after what it holds: what another video left at the same path is never gone on from. A signed link changes its
  // query with every request for it.
  const { origin, pathname } = new URL(url);
  const mark = createHash("sha256").update(`${task.id} ${origin}${pathname}`).digest("hex").slice(0, 12);
  const partialPath = `${path}.${mark}.part`;
  const { maxRetries, backoffMs, maxBackoffMs } = upstream.settings;
  for (let attempt = 1; ; attempt++) {
    try {
      const sizes = await fetchInto(partialPath, url, upstream, stop);
      await rename(partialPath, path);
      return { path, ...sizes };
    } catch (thrown) {
      signal?.throwIfAborted();
      const failed = thrown instanceof Refused ? thrown : undefined;
      if (failed && deadStatuses.has(failed.status)) {
        await rm(partialPath, { force: true });
        throw deadLink(task, part, failed.status, thrown);
      }
      const again = !stop.aborted && attempt <= maxRetries && isPassing(thrown);
      if (!again) throw downloadFailed(task, part, partialPath, attempt, thrown);
      const ceilingMs = Math.min(maxBackoffMs, backoffMs * 2 ** (attempt - 1));
      await sleep(Math.random() * ceilingMs, undefined, { signal: stop }).catch(() => {});
    }
  }
}

/** The server said no. */
class Refused extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`its server answered with status ${status}`);
    this.status = status;
  }
}

/** The connection or the server may do better; a full disk will not. */
function isPassing(thrown: unknown): boolean {
  if (thrown instanceof Refused) return thrown.status >= 500 || thrown.status === 429 || thrown.status === 408;
  return (thrown as NodeJS.ErrnoException).syscall === undefined || /^(ECONN|EPIPE|ETIMEDOUT)/.test(codeOf(thrown));
}

function codeOf(thrown: unknown): string {
  return (thrown as NodeJS.ErrnoException).code ?? "";
}

async function fetchInto(
  path: string,
  url: string,
  upstream: Upstream,
  signal: AbortSignal,
): Promise<{ readonly sizeBytes: number; readonly resumedBytes: number }> {
  const file = await open(path, "a+");
  try {
    const { size } = await file.stat();
    const reply = await get(url, size, upstream, signal);
    const { statusCode, headers, body } = reply;
    if (statusCode === 416 && size > 0) {
      body.destroy();
      // All of it is there already, or it is of something else.
      if (totalOf(headers) === size) return { sizeBytes: size, resumedBytes: size };
      await file.truncate(0);
      throw new Error(`what was left of an earlier attempt does not fit`);
    }
    const resumed = statusCode === 206 && startOf(headers) === size;
    if (!resumed && statusCode !== 200) {
      body.destroy();
      throw new Refused(statusCode);
    }
    if (!resumed) await file.truncate(0);
    const startBytes = resumed ? size : 0;
    const sizeBytes = startBytes + (await write(file, body));
    const wholeBytes = resumed ? totalOf(headers) : lengthOf(headers);
    if (wholeBytes !== undefined && sizeBytes !== wholeBytes) {
      throw new Error(`${sizeBytes} bytes of ${wholeBytes} arrived`);
    }
    return { sizeBytes, resumedBytes: startBytes };
  } finally {
    await file.close();
  }
}

async function get(
  link: string,
  size: number,
  { dispatcher, settings }: Upstream,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  let url = new URL(link);
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const reply = await dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: "GET",
      headers: { "accept-encoding": "identity", ...(size > 0 && { range: `bytes=${size}-` }) },
      headersTimeout: settings.streamIdleMs,
      bodyTimeout: settings.streamIdleMs,
      signal,
    });
    reply.body.on("error", () => {});
    const target = header(reply.headers, "location");
    if (reply.statusCode < 300 || reply.statusCode >= 400 || target === undefined) return reply;
    reply.body.destroy();
    url = new URL(target, url);
  }
  throw new Error(`its link redirects more than ${maxRedirects} times`);
}

async function write(file: FileHandle, body: AsyncIterable<unknown>): Promise<number> {
  let bytes = 0;
  for await (const piece of body) {
    await file.appendFile(piece as Buffer);
    bytes += (piece as Buffer).length;
  }
  return bytes;
}

function totalOf(headers: Headers): number | undefined {
  return numberIn(/\/(\d+)$/.exec(header(headers, "content-range") ?? "")?.[1]);
}

function startOf(headers: Headers): number | undefined {
  return numberIn(/^bytes (\d+)-/.exec(header(headers, "content-range") ?? "")?.[1]);
}

function lengthOf(headers: Headers): number | undefined {
  return numberIn(header(headers, "content-length"));
}

function numberIn(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

function noMedia(task: VideoTask, part: string): VideoError {
  const why =
    part === "video" || task.status !== "succeeded"
      ? `it is ${task.status}`
      : "create it with return_last_frame: true to get one";
  return new VideoError("no-media", `Video task ${task.id} has no ${part}: ${why}`, { taskId: task.id, task });
}

function deadLink(task: VideoTask, part: string, status: number, cause: unknown): VideoError {
  const { id, linksExpireAt } = task;
  const expired = linksExpireAt !== undefined && linksExpireAt.getTime() <= Date.now();
  const message = expired
    ? `The link to the ${part} of task ${id} expired at ${linksExpireAt.toISOString()}, 24 hours after it was made. The task's record lives longer than its links: create the video again`
    : `The link to the ${part} of task ${id} was refused with status ${status}: query the task for a fresh link`;
  return new VideoError(expired ? "link-expired" : "download", message, { taskId: id, task, cause });
}

function downloadFailed(task: VideoTask, part: string, path: string, attempts: number, cause: unknown): VideoError {
  const times = attempts > 1 ? ` after ${attempts} attempts` : "";
  const message = `The ${part} of task ${task.id} could not be fetched${times}: ${asError(cause).message}. What arrived is in ${path}; the same call goes on from there`;
  return new VideoError("download", message, { taskId: task.id, task, cause });
}
