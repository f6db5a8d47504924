import { endianness } from "node:os";

/** A text as a column holds it: UTF-8, or UTF-16 bytes if UTF-8 cannot express it. */
export type StoredText = string | Buffer;

/** SQLite stores UTF-8, which turns a lone surrogate into U+FFFD. A text that has one is stored as UTF-16 bytes instead. */
export function encodeText(text: string): StoredText {
  return text.isWellFormed() ? text : Buffer.from(text, "utf16le");
}

/** @param stored a number only where the column was altered. */
export function decodeText(stored: StoredText | number): string {
  return stored instanceof Uint8Array ? stored.toString("utf16le") : String(stored);
}

/**
 * Vectors are stored as little-endian 32-bit floats. One that is mostly zeros, as those of words are, leaves them out: its
 * length and a bit for each component precede those that are not zero. Where few values occur, as frequencies of words do,
 * each value stands there once, and each component is a byte that names it. The
 * number of bytes, modulo four, tells the three forms apart: 0 for a whole vector, 1 without zeros, 2 with bytes.
 */
export function encodeVector(vector: Float32Array): Buffer {
  const components = new Uint32Array(vector.buffer, vector.byteOffset, vector.length);
  const bitWords = Math.ceil(vector.length / 32);
  let kept = 0;
  for (let index = 0; index < components.length; index++) if (components[index] !== 0) kept++;
  if (1 + bitWords + kept > maxPackedShare * vector.length) return littleEndian(components);
  const header = new Uint32Array(1 + bitWords);
  header[0] = vector.length;
  const [values, names] = [new Uint32Array(kept), new Uint8Array(kept)];
  const nameOf = new Map<number, number>();
  let end = 0;
  for (let position = 0; position < components.length; position++) {
    const value = components[position]!;
    if (value === 0) continue;
    header[1 + (position >>> 5)]! |= 1 << (position & 31);
    let name = nameOf.get(value);
    if (name === undefined) nameOf.set(value, (name = nameOf.size));
    names[end] = name;
    values[end++] = value;
  }
  const distinct = nameOf.size;
  if (distinct > maxNamed || 4 * distinct + kept + 4 > 4 * kept) {
    return Buffer.concat([littleEndian(header), littleEndian(values), Buffer.of(0)]);
  }
  const filling = Buffer.alloc((namedForm + 3 - (kept % 4)) % 4);
  const named = littleEndian(Uint32Array.from(nameOf.keys()));
  return Buffer.concat([littleEndian(header), named, names, filling, Buffer.of(distinct - 1)]);
}

/** Packing that saves less than this is not worth the reading. */
const maxPackedShare = 0.75;

/** Number of values that a byte can identify. */
const maxNamed = 256;

/** The length in bytes, modulo four, of a vector whose values bytes name; the last one is their number less one. */
const namedForm = 2;

/**
 * The vector shares the memory of `bytes` if its alignment allows, so the caller must not use them again. Altered bytes make
 * some vector of at most 32 components a byte, possibly none.
 */
export function decodeVector(bytes: Uint8Array): Float32Array {
  const aligned = bytes.byteOffset % Float32Array.BYTES_PER_ELEMENT === 0 ? bytes : new Uint8Array(bytes);
  const { byteLength: sizeBytes } = aligned;
  const names = namesIn(aligned, sizeBytes);
  const words = new Uint32Array(aligned.buffer, aligned.byteOffset, Math.floor(sizeBytes / 4));
  hostWords(words, sizeBytes);
  if (sizeBytes % 4 === 0) return new Float32Array(words.buffer, words.byteOffset, words.length);
  const dimension = packedDimension(words[0], words.length);
  const vector = new Float32Array(dimension);
  unpack(words, names, dimension, vector);
  return vector;
}

/** A vector as it was packed: its components that are not zero, in the order of their places. */
export interface SparseVector {
  /** Number of its components, zeros included. */
  readonly length: number;
  /** Number of those that are not zero; the arrays may be longer. */
  readonly count: number;
  readonly places: Uint32Array;
  readonly values: Float32Array;
}

/**
 * Decodes vectors that stand in buffers from `start` to `end`, into memory of its own, so that many leave no garbage: each is
 * valid until the next. A packed one stays sparse.
 */
export function vectorDecoder(): (bytes: Buffer, start?: number, end?: number) => Float32Array | SparseVector {
  let words = new Uint32Array(0);
  let room = new Uint8Array(words.buffer);
  let [places, values] = [new Uint32Array(0), new Float32Array(0)];
  return (bytes, start = 0, end = bytes.length) => {
    const sizeBytes = end - start;
    if (room.length < sizeBytes) {
      words = new Uint32Array(sizeBytes);
      room = new Uint8Array(words.buffer);
    }
    bytes.copy(room, 0, start, end);
    const names = namesIn(room, sizeBytes);
    const count = hostWords(words, sizeBytes);
    if (sizeBytes % 4 === 0) return new Float32Array(words.buffer, 0, count);
    const length = packedDimension(words[0], count);
    if (places.length < length) [places, values] = [new Uint32Array(length), new Float32Array(length)];
    return { length, count: unpack(words, names, length, values, places), places, values };
  };
}

/** A vector with its zeros: a sparse one with those that it leaves out. */
export function wholeVector(given: SparseVector | Float32Array): Float32Array {
  if (given instanceof Float32Array) return given;
  const { length, count, places, values } = given;
  const vector = new Float32Array(length);
  for (let index = 0; index < count; index++) vector[places[index]!] = values[index]!;
  return vector;
}

/** The bytes that name values, with the number of values less one. */
interface Names {
  readonly bytes: Uint8Array;
  readonly last: number;
}

function namesIn(bytes: Uint8Array, sizeBytes: number): Names | undefined {
  if (sizeBytes % 4 !== namedForm) return undefined;
  return { bytes: endianness() === "BE" ? bytes.slice() : bytes, last: bytes[sizeBytes - 1]! };
}

/** Puts whole little-endian words into the order of this machine. Returns their number. */
function hostWords(words: Uint32Array, sizeBytes: number): number {
  const count = Math.floor(sizeBytes / 4);
  if (endianness() === "BE") Buffer.from(words.buffer, words.byteOffset, 4 * count).swap32();
  return count;
}

/**
 * Writes the components of a packed vector to their places in `vector`, which is all zeros; or with `places` one after the
 * other, and their places there. Returns their number.
 */
function unpack(
  packed: Uint32Array,
  names: Names | undefined,
  dimension: number,
  vector: Float32Array,
  places?: Uint32Array,
): number {
  const components = new Uint32Array(vector.buffer, vector.byteOffset, vector.length);
  const valuesAt = 1 + Math.ceil(dimension / 32);
  const namesAt = names ? 4 * (valuesAt + names.last + 1) : 0;
  let count = 0;
  for (let from = 0; from < dimension; from += 32) {
    for (let bits = packed[1 + from / 32]!; bits !== 0; bits &= bits - 1) {
      const place = from + 31 - Math.clz32(bits & -bits);
      const value = names ? names.bytes[namesAt + count]! : count;
      if (places) places[count] = place;
      components[places ? count : place] = packed[valuesAt + value]!;
      count++;
    }
  }
  return count;
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
