import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { ReadableStream } from "node:stream/web";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { Refusal } from "../../guard/refusal.js";
import { route } from "../route.js";

export const originalRoutes = [
  route({
    method: "GET",
    path: "/api/originals",
    operation: "getOriginal",
    summary: "The file that a document was read from, as a download, where the server gives it",
    request: z.strictObject({
      uri: z
        .string()
        .min(1)
        .describe("Address of the document")
        .meta({ examples: ["file:///docs/keys.md"] }),
    }),
    reply: "file",
    async serve({ uri }, { documents, originals, access, audit, request }) {
      const document = originals === false ? undefined : await documents.document(uri);
      if (!document || originals === false) throw new Refusal(404, "not-found", "There is no such file to open");
      // The row of a table or the mail of a mailbox is in a file with others, which the filter may hide.
      if (originals === true && access.filter !== undefined && uri.includes("#")) {
        const message =
          "The file that this was read from holds other documents, too, which you may not be allowed to see";
        throw new Refusal(403, "forbidden", message);
      }
      // A HEAD request sends nothing of it.
      if (request.method !== "HEAD") audit({ event: "document", uri });
      return { response: originals === true ? await fileOf(document.uri, request) : copyOf(await originals(document)) };
    },
  }),
];

/** The headers of a `Response.redirect` cannot be changed, and every reply gets some more. */
function copyOf({ body, status, statusText, headers }: Response): Response {
  return new Response(body, { status, statusText, headers });
}

/**
 * A download, which no browser opens within this server's address: whole, or the part that is asked for, so that a reader of a
 * large PDF gets its pages as they are looked at.
 */
async function fileOf(uri: string, { headers, method }: Request): Promise<Response> {
  const path = pathOf(uri);
  const file = path === undefined ? undefined : await stat(path).catch(() => undefined);
  if (path === undefined || !file?.isFile()) {
    throw new Refusal(
      404,
      "not-found",
      "The file that this was read from is not there any more, or is not on this machine",
    );
  }
  const name = encodeURIComponent(basename(path)).replaceAll("'", "%27");
  const etag = `"${file.size.toString(36)}-${Math.round(file.mtimeMs).toString(36)}"`;
  const condition = headers.get("if-range");
  const isPart = method === "GET" && (condition === null || condition === etag);
  const range = isPart ? rangeOf(headers.get("range"), file.size) : "whole";
  if (range === "none") {
    const refused = { "content-range": `bytes */${file.size}`, "accept-ranges": "bytes", "cache-control": "no-store" };
    return new Response(undefined, { status: 416, headers: refused });
  }
  const { start, end } = range === "whole" ? { start: 0, end: file.size - 1 } : range;
  return new Response(ReadableStream.from(bytesOf(path, start, end)) as never, {
    status: range === "whole" ? 200 : 206,
    headers: {
      "content-type": "application/octet-stream",
      "content-length": String(end - start + 1),
      ...(range !== "whole" && { "content-range": `bytes ${start}-${end}/${file.size}` }),
      "accept-ranges": "bytes",
      etag,
      "content-disposition": `attachment; filename*=UTF-8''${name}`,
      "content-security-policy": "sandbox; default-src 'none'",
      "cache-control": "no-store",
    },
  });
}

/** Opens the file only when it is read, which a HEAD request does not. */
async function* bytesOf(path: string, start: number, end: number): AsyncGenerator<Uint8Array> {
  if (end < start) return;
  for await (const bytes of createReadStream(path, { start, end })) yield bytes as Uint8Array;
}

/**
 * The part of a file that a `Range` header asks for, both ends included. A header that asks for several parts, or that is
 * malformed, is passed over, as RFC 9110 allows. Pure.
 */
export function rangeOf(
  header: string | null,
  size: number,
): { readonly start: number; readonly end: number } | "whole" | "none" {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? "") ?? [];
  if (first === undefined || last === undefined || (first === "" && last === "")) return "whole";
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "none" : { start: size - length, end: size - 1 };
  }
  if (last !== "" && Number(last) < Number(first)) return "whole";
  if (Number(first) >= size) return "none";
  return { start: Number(first), end: last === "" ? size - 1 : Math.min(Number(last), size - 1) };
}

/** Path of a document's file, without the part of it that the document is, such as a row. */
function pathOf(uri: string): string | undefined {
  if (!uri.startsWith("file:") || !URL.canParse(uri)) return undefined;
  const address = new URL(uri);
  address.hash = "";
  try {
    return fileURLToPath(address);
  } catch {
    return undefined;
  }
}
