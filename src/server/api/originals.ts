import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { ReadableStream } from "node:stream/web";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { Refusal } from "../guard/refusal.js";
import { route } from "./route.js";

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
    async serve({ uri }, { documents, originals, access, audit }) {
      const document = originals === false ? undefined : await documents.document(uri);
      if (!document || originals === false) throw new Refusal(404, "not-found", "There is no such file to open");
      // The row of a table or the mail of a mailbox is in a file with others, which the filter may hide.
      if (originals === true && access.filter !== undefined && uri.includes("#")) {
        const message =
          "The file that this was read from holds other documents, too, which you may not be allowed to see";
        throw new Refusal(403, "forbidden", message);
      }
      audit({ event: "document", uri });
      return { response: originals === true ? await fileOf(document.uri) : await originals(document) };
    },
  }),
];

/** A download, which no browser opens within this server's address. */
async function fileOf(uri: string): Promise<Response> {
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
  return new Response(ReadableStream.from(bytesOf(path)) as never, {
    headers: {
      "content-type": "application/octet-stream",
      "content-length": String(file.size),
      "content-disposition": `attachment; filename*=UTF-8''${name}`,
      "content-security-policy": "sandbox; default-src 'none'",
      "cache-control": "no-store",
    },
  });
}

/** Opens the file only when it is read, which a HEAD request does not. */
async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  for await (const bytes of createReadStream(path)) yield bytes as Uint8Array;
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
