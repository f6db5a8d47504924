import { endianness } from "node:os";

/** A text as a column holds it: UTF-8, or UTF-16 bytes if UTF-8 cannot express it. */
export type StoredText = string | Buffer;

/** SQLite stores UTF-8, which turns a lone surrogate into U+FFFD. A text that has one is stored as UTF-16 bytes instead. */
export function encodeText(text: string): StoredText {
  return /\p{Surrogate}/u.test(text) ? Buffer.from(text, "utf16le") : text;
}

/** @param stored a number only where the column was altered. */
export function decodeText(stored: StoredText | number): string {
  return stored instanceof Uint8Array ? stored.toString("utf16le") : String(stored);
}

/**
 * Vectors are stored as little-endian 32-bit floats. One that is mostly zeros, as those of words are, leaves them out: its
 * length, a bit for each component, those that are not zero, and one byte, by which it differs from all whole vectors.
 */
export function encodeVector(vector: Float32Array): Buffer {
  const components = new Uint32Array(vector.buffer, vector.byteOffset, vector.length);
  const bitWords = Math.ceil(vector.length / 32);
  let kept = 0;
  for (let at = 0; at < components.length; at++) if (components[at] !== 0) kept++;
  const packedLength = 1 + bitWords + kept;
  if (packedLength > maxPackedShare * vector.length) return littleEndian(components);
  const packed = new Uint32Array(packedLength);
  packed[0] = vector.length;
  let end = 1 + bitWords;
  for (let at = 0; at < components.length; at++) {
    if (components[at] === 0) continue;
    packed[1 + (at >>> 5)]! |= 1 << (at & 31);
    packed[end++] = components[at]!;
  }
  return Buffer.concat([littleEndian(packed), Buffer.of(0)]);
}

/** Packing that saves less than this is not worth the reading. */
const maxPackedShare = 0.75;

/**
 * The vector shares the memory of `bytes` if its alignment allows, so the caller must not use them again. Altered bytes make
 * some vector of at most 32 components a byte, possibly none.
 */
export function decodeVector(bytes: Uint8Array): Float32Array {
  const aligned = bytes.byteOffset % Float32Array.BYTES_PER_ELEMENT === 0 ? bytes : new Uint8Array(bytes);
  const words = new Uint32Array(aligned.buffer, aligned.byteOffset, Math.floor(aligned.byteLength / 4));
  if (endianness() === "BE") Buffer.from(words.buffer, words.byteOffset, words.byteLength).swap32();
  const isPacked = aligned.byteLength % 4 !== 0;
  return isPacked ? unpacked(words) : new Float32Array(words.buffer, words.byteOffset, words.length);
}

function unpacked(packed: Uint32Array): Float32Array {
  const vector = new Float32Array(packedDimension(packed[0], packed.length));
  const components = new Uint32Array(vector.buffer);
  let next = 1 + Math.ceil(vector.length / 32);
  for (let from = 0; from < vector.length; from += 32) {
    for (let bits = packed[1 + from / 32]!; bits !== 0; bits &= bits - 1) {
      components[from + 31 - Math.clz32(bits & -bits)] = packed[next++]!;
    }
  }
  return vector;
}

/** Length of a stored vector; 0 where its bytes were altered so that it has none. */
export function dimensionOf(bytes: Buffer): number {
  const words = Math.floor(bytes.length / 4);
  return bytes.length % 4 === 0 ? words : packedDimension(words > 0 ? bytes.readUInt32LE(0) : undefined, words);
}

/** The length that a packed vector of so many words says it has, if it holds the bits of that many components; else 0. */
function packedDimension(said: number | undefined, words: number): number {
  return said !== undefined && 1 + Math.ceil(said / 32) <= words ? said : 0;
}

function littleEndian(words: Uint32Array): Buffer {
  const bytes = Buffer.from(words.buffer, words.byteOffset, words.byteLength);
  return endianness() === "LE" ? bytes : Buffer.from(bytes).swap32();
}
