import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw } from "node:zlib";

/** Why the body of a request cannot be read. */
export interface BodyProblem {
  /** `too-large`: 413. `encoding`: compressed in a way that is not read here, 415. `damaged`: not what its header says, 400. */
  readonly problem: "too-large" | "encoding" | "damaged";
  /** Message for the caller. */
  readonly message: string;
}

const limits = (maxBytes: number) => ({ maxOutputLength: maxBytes });
const decoders = {
  gzip: promisify(gunzip),
  br: promisify(brotliDecompress),
  // HTTP's deflate has a zlib header, which some clients leave out.
  deflate: (body: Uint8Array, options: ReturnType<typeof limits>) =>
    promisify((body[0]! & 0x0f) === 8 ? inflate : inflateRaw)(body, options),
};
/** Maximum number of encodings of a body: each one may unpack up to the limit again. */
const maxEncodings = 2;

/**
 * Reads the whole body of a request, unpacked where it is compressed with gzip, deflate or br. It is refused as soon as it is
 * known to have more than `maxBytes`, as it was sent or unpacked; the rest is then neither read nor unpacked.
 */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array | BodyProblem> {
  const tooLarge = { problem: "too-large", message: `The request body must have at most ${maxBytes} bytes` } as const;
  const encodings = (request.headers.get("content-encoding") ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase().replace(/^x-/, ""))
    .filter((name) => name !== "" && name !== "identity");
  const unread = encodings.find((currentEncoding) => !Object.hasOwn(decoders, currentEncoding));
  if (unread !== undefined || encodings.length > maxEncodings) {
    const which = unread === undefined ? `with ${encodings.length} encodings` : `as ${unread.slice(0, 40)}`;
    const message = `The request body is compressed ${which}; send it plain, or as gzip, deflate or br`;
    return { problem: "encoding", message };
  }
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) return tooLarge;
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += part.byteLength;
    if (size > maxBytes) return tooLarge;
    parts.push(part);
  }
  let body: Uint8Array = Buffer.concat(parts);
  if (body.length === 0) return body;
  for (const encoding of encodings.toReversed()) {
    try {
      body = await decoders[encoding as keyof typeof decoders](body, limits(maxBytes));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") return tooLarge;
      return {
        problem: "damaged",
        message: `The request body cannot be unpacked as ${encoding}: it is damaged or cut off`,
      };
    }
  }
  return body;
}
