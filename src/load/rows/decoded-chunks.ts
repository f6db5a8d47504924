import { decodeText, streamDecoder } from "../decode.js";

/** Bytes from which an encoding is told. */
const sampleBytes = 262_144;

/**
 * The text of a stream, piece by piece, whatever its encoding; a byte order mark is left out.
 *
 * @throws LoadError (`binary`) when its start is no text.
 */
export async function* decodedChunks(uri: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const held: Uint8Array[] = [];
  let size = 0;
  let decode: ((bytes: Uint8Array, more: boolean) => string) | undefined;
  const start = () => {
    const bytes = Buffer.concat(held);
    decode = streamDecoder(decodeText({ bytes: wholeLines(bytes), uri }).encoding);
    return decode(bytes, true);
  };
  for await (const chunk of chunks) {
    if (decode) {
      yield decode(chunk, true);
      continue;
    }
    held.push(chunk);
    size += chunk.length;
    if (size >= sampleBytes) yield start();
  }
  if (!decode && size > 0) yield start();
  if (decode) yield decode(new Uint8Array(), false);
}

/** Up to the last line end, in steps of four bytes: half a character at the end would look like another encoding. */
function wholeLines(bytes: Buffer): Uint8Array {
  if (bytes.length < sampleBytes) return bytes;
  const aligned = bytes.subarray(0, bytes.length - (bytes.length % 4));
  if (aligned.includes(0)) return aligned;
  const end = aligned.lastIndexOf(10);
  return end < 0 ? aligned : aligned.subarray(0, end + 1);
}
