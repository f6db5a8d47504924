import { Refusal } from "../failure/refusal.js";
import type { ServiceParts } from "../service-parts.js";
import { byteRange } from "./byte-range.js";
import { lastFrameFile, videoFile } from "./task-files.js";
import { taskFiles } from "./task-view.js";
import { linksWork } from "./video-task.js";

export interface FileRequest {
  readonly task: string;
  readonly name: string;
  /** What the link to it carries, in the place of a key. */
  readonly link: string;
  readonly range: string | undefined;
}

/** A file of a task. Needs no key, as the links of such services do not. */
export function serveFile({ task: id, name, link, range }: FileRequest, { tasks, clock }: ServiceParts): Response {
  const task = tasks.get(id);
  const wanted = name === taskFiles.video || (name === taskFiles.lastFrame && task?.plan.returnLastFrame === true);
  if (task === undefined || !wanted || link !== task.linkToken) throw new Refusal("no-path", "404 page not found");
  if (!linksWork(task, clock.nowSeconds())) throw new Refusal("link-expired", "Request has expired");
  const video = name === taskFiles.video;
  const bytes = video ? videoFile(task.plan) : lastFrameFile(task.plan);
  const type = video ? "video/mp4" : "image/png";
  const headers = { "content-type": type, "accept-ranges": "bytes", "content-length": String(bytes.length) };
  const part = byteRange(range, bytes.length);
  if (part === "outside") {
    const details = { headers: { "content-range": `bytes */${bytes.length}` } };
    throw new Refusal("range-not-satisfiable", `The file has ${bytes.length} bytes`, details);
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
