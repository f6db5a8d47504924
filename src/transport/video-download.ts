import { createHash } from "node:crypto";
import { type FileHandle, open, rename } from "node:fs/promises";
import type { CallOptions } from "../ports.js";
import { Refused, downloadFailure, noMedia } from "./download-failure.js";
import { Incoming } from "./incoming.js";
import type { Stopping } from "./stopping.js";
import type { Upstream } from "./upstream.js";
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

/**
 * Streams a result into a file, which appears under its name when it is whole. The key stays home. What an attempt left
 * is kept beside it and gone on from, also by another process, and where an abort, a deadline or the transport's closing
 * ended it.
 *
 * @throws VideoError `no-media`, `link-expired` with the time, or `download` when it could not be fetched.
 */
export async function downloadVideo(
  upstream: Upstream,
  task: VideoTask,
  path: string,
  { part = "video", ...call }: DownloadVideoOptions,
): Promise<DownloadedVideo> {
  const url = part === "video" ? task.videoUrl : task.lastFrameUrl;
  if (url === undefined || !/^https?:/.test(url) || !URL.canParse(url)) throw noMedia(task, part);
  // Named after what it holds: what another video left at the same path is never gone on from. A signed link changes its
  // query with every request for it.
  const { origin, pathname } = new URL(url);
  const mark = createHash("sha256").update(`${task.id} ${origin}${pathname}`).digest("hex").slice(0, 12);
  const partialPath = `${path}.${mark}.part`;
  return upstream.during("downloadVideo", call, async (stopping) => {
    const { maxRetries, backoffMs, maxBackoffMs } = upstream.settings;
    for (let attempt = 1; ; attempt++) {
      try {
        stopping.throwIfStopped();
        const sizes = await fetchInto(partialPath, url, upstream, stopping);
        await rename(partialPath, path);
        return { path, ...sizes };
      } catch (thrown) {
        const failed = await downloadFailure(thrown, { task, part, partialPath, attempt, maxRetries });
        if (failed !== undefined) throw failed;
        const ceilingMs = Math.min(maxBackoffMs, backoffMs * 2 ** (attempt - 1));
        await stopping.sleep(Math.random() * ceilingMs).catch(() => {});
      }
    }
  });
}

async function fetchInto(
  path: string,
  url: string,
  upstream: Upstream,
  stopping: Stopping,
): Promise<{ readonly sizeBytes: number; readonly resumedBytes: number }> {
  const file = await open(path, "a+");
  try {
    const { size } = await file.stat();
    const incoming = await get(url, size, upstream, stopping);
    try {
      const { status, headers } = incoming;
      if (status === 416 && size > 0) {
        // All of it is there already, or it is of something else.
        if (totalOf(headers) === size) return { sizeBytes: size, resumedBytes: size };
        await file.truncate(0);
        throw new Error(`what was left of an earlier attempt does not fit`);
      }
      const resumed = status === 206 && startOf(headers) === size;
      if (status === 206 && !resumed) {
        await file.truncate(0);
        throw new Error("another part was sent than was asked for");
      }
      if (!resumed && status !== 200) throw new Refused(status);
      if (!resumed) await file.truncate(0);
      const startBytes = resumed ? size : 0;
      const sizeBytes = startBytes + (await write(file, incoming));
      const wholeBytes = resumed ? totalOf(headers) : lengthOf(headers);
      if (wholeBytes !== undefined && sizeBytes !== wholeBytes) {
        throw new Error(`${sizeBytes} bytes of ${wholeBytes} arrived`);
      }
      return { sizeBytes, resumedBytes: startBytes };
    } finally {
      stopping.listen(undefined);
      incoming.leave();
    }
  } finally {
    await file.close();
  }
}

/** The answer's head; its body is still to be read. */
async function get(link: string, size: number, upstream: Upstream, stopping: Stopping): Promise<Incoming> {
  const { streamIdleMs } = upstream.settings;
  let url = new URL(link);
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const incoming = new Incoming(() => {});
    stopping.listen((stopped) => incoming.break(stopped));
    upstream.fetch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: "GET",
        headers: { "accept-encoding": "identity", ...(size > 0 && { range: `bytes=${size}-` }) },
        headersTimeout: streamIdleMs,
        bodyTimeout: streamIdleMs,
      },
      incoming,
    );
    await incoming.head();
    const target = header(incoming.headers, "location");
    if (incoming.status < 300 || incoming.status >= 400 || target === undefined) return incoming;
    incoming.leave();
    url = new URL(target, url);
  }
  throw new Error(`its link redirects more than ${maxRedirects} times`);
}

async function write(file: FileHandle, incoming: Incoming): Promise<number> {
  let bytes = 0;
  for (let piece = await incoming.piece(); piece; piece = await incoming.piece()) {
    await file.appendFile(piece);
    bytes += piece.length;
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
