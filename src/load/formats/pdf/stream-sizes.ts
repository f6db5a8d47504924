import { inflateSync, constants } from "node:zlib";

/**
 * Bytes that one stream may unpack to. The reader keeps each character of a string as an entry of an array, and ends its
 * whole process when there are too many for the engine. Streams that are encrypted, or packed in rarer ways, do that still.
 */
const maxStreamBytes = 50_000_000;

/** A PDF that the reader can take, or why it cannot. */
export type BoundedPdf = { readonly bytes: Uint8Array } | { readonly reason: string };

/**
 * A copy of a PDF without pictures that unpack too far: no text is in a picture, but a page may name one as its text. A file
 * with any other such stream has a reason instead.
 */
export function boundedPdf(bytes: Uint8Array): BoundedPdf {
  const file = Buffer.from(Uint8Array.from(bytes).buffer);
  let before = 0;
  for (let offset = file.indexOf(keyword); offset >= 0; offset = file.indexOf(keyword, offset + 1)) {
    // The dictionary of a stream stands before it, behind the end of the stream before.
    const dictionary = file.toString("latin1", Math.max(before, offset - maxDictionaryBytes), offset);
    before = offset + keyword.length;
    if (dictionary.endsWith("end")) continue;
    const start = startOfData(file, before);
    if (!unpacksTooFar(file.subarray(start))) continue;
    if (!picture.test(dictionary.slice(dictionary.lastIndexOf("obj") + 1))) {
      return {
        reason: `has a stream that unpacks to more than ${maxStreamBytes / 1e6} MB: split it, or print it to a new PDF`,
      };
    }
    // Without its header the reader finds nothing in the stream.
    file.fill(0, start, start + 2);
  }
  return { bytes: new Uint8Array(file.buffer) };
}

const keyword = "stream";
/** Longer dictionaries are not those of streams. */
const maxDictionaryBytes = 4096;
const picture = /\/Subtype\s*\/Image(?![A-Za-z])/;

/** The data starts on the line after the keyword. */
function startOfData(file: Buffer, after: number): number {
  if (file[after] === 0x0d && file[after + 1] === 0x0a) return after + 2;
  return file[after] === 0x0d || file[after] === 0x0a ? after + 1 : after;
}

/** A stream may be packed several times over. */
const maxLayers = 4;

function unpacksTooFar(data: Uint8Array): boolean {
  let unpacked = data;
  try {
    for (let layer = 0; layer < maxLayers && isPacked(unpacked); layer++) {
      unpacked = inflateSync(unpacked, { maxOutputLength: maxStreamBytes, finishFlush: constants.Z_SYNC_FLUSH });
    }
    return false;
  } catch (thrown) {
    // Data that is damaged, or encrypted, is the reader's concern.
    return (thrown as { readonly code?: unknown }).code === "ERR_BUFFER_TOO_LARGE";
  }
}

/** Whether data starts as RFC 1950 says, whatever the dictionary says, which may point to another object for it. */
function isPacked([method = 0, flags = 0]: Uint8Array): boolean {
  return (method & 0x0f) === 8 && (256 * method + flags) % 31 === 0;
}
