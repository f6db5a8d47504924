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

/** Vectors are stored as little-endian 32-bit floats. */
export function encodeVector(vector: Float32Array): Buffer {
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
  return endianness() === "LE" ? bytes : Buffer.from(bytes).swap32();
}

/** The vector shares the memory of `bytes` if its alignment allows, so the caller must not use them again. */
export function decodeVector(bytes: Uint8Array): Float32Array {
  const aligned = bytes.byteOffset % Float32Array.BYTES_PER_ELEMENT === 0 ? bytes : new Uint8Array(bytes);
  if (endianness() === "BE") Buffer.from(aligned.buffer, aligned.byteOffset, aligned.byteLength).swap32();
  return new Float32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / Float32Array.BYTES_PER_ELEMENT);
}
