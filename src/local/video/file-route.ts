import { RequestFailure } from "../failure/request-failure.js";
import type { ServiceParts } from "../route.js";
import { lastFrameFile, videoFile } from "./file/task-files.js";
import { taskFiles, linksWork } from "./video-task.js";

export interface FileRequest {
  readonly task: string;
  readonly name: string;
  /** The secret in the link, in place of a key. */
  readonly link: string;
  readonly range: string | undefined;
}

/** A file of a task. Needs no key, as the links of such services do not. */
export function serveFile({ task: id, name, link, range }: FileRequest, { tasks, clock }: ServiceParts): Response {
  const task = tasks.get(id);
  const wanted = name === taskFiles.video || (name === taskFiles.lastFrame && task?.plan.returnLastFrame === true);
  if (task === undefined || !wanted || link !== task.linkToken)
    throw new RequestFailure("no-path", "404 page not found");
  if (!linksWork(task, clock.nowSeconds())) throw new RequestFailure("link-expired", "Request has expired");
  const video = name === taskFiles.video;
  const bytes = video ? videoFile(task.plan) : lastFrameFile(task.plan);
  const type = video ? "video/mp4" : "image/png";
  const headers = { "content-type": type, "accept-ranges": "bytes", "content-length": String(bytes.length) };
  const part = byteRange(range, bytes.length);
  if (part === "outside") {
    const details = { headers: { "content-range": `bytes */${bytes.length}` } };
    throw new RequestFailure("range-not-satisfiable", `The file has ${bytes.length} bytes`, details);
  }
  if (part === undefined) return new Response(new Uint8Array(bytes), { headers });
  return new Response(new Uint8Array(bytes.subarray(part.first, part.last + 1)), {
    status: 206,
    headers: {
      ...headers,
      "content-length": String(part.last - part.first + 1),
      "content-range": `bytes ${part.first}-${part.last}/${bytes.length}`,
    },
  });
}

/**
 * Reads a `Range` header for a file of `size` bytes: `undefined` for all (no header, or one of a kind that may be ignored,
 * such as several ranges), `"outside"` when nothing of it is there. Bytes count from 0. RFC 9110, 14.1.2. Pure.
 */
export function byteRange(
  header: string | undefined,
  size: number,
): { readonly first: number; readonly last: number } | "outside" | undefined {
  const asked = /^bytes=(\d*)-(\d*)$/.exec(header ?? "");
  if (asked === null) return undefined;
  const [, from = "", to = ""] = asked;
  if (from === "") {
    if (to === "") return undefined;
    const count = Number(to);
    return count === 0 ? "outside" : { first: Math.max(0, size - count), last: size - 1 };
  }
  const first = Number(from);
  if (to !== "" && Number(to) < first) return undefined;
  if (first >= size) return "outside";
  return { first, last: to === "" ? size - 1 : Math.min(Number(to), size - 1) };
}
