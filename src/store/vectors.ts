import { endianness } from "node:os";
import { StoreError } from "../errors.js";

/**
 * Refuses what is no direction in a space of `dimension`.
 *
 * @throws StoreError `vector` for another type, a component that is no finite number, or all zeros; `dimension` for
 * another length.
 */
export function checkVector(vector: unknown, dimension: number, owner: string): asserts vector is Float32Array {
  if (!(vector instanceof Float32Array)) {
    throw new StoreError("vector", `The vector of ${owner} is no Float32Array. Convert it with Float32Array.from()`);
  }
  if (vector.length !== dimension) {
    throw new StoreError(
      "dimension",
      `The vector of ${owner} has ${vector.length} dimensions, the store holds ${dimension}. Use the embedder that the store was made with, or index into another folder`,
    );
  }
  const squared = squaredLength(vector);
  if (Number.isFinite(squared) && squared > 0) return;
  const at = vector.findIndex((component) => !Number.isFinite(component));
  throw new StoreError(
    "vector",
    at < 0
      ? `The vector of ${owner} is all zeros and has no direction. Embed the text again`
      : `The vector of ${owner} holds ${vector[at]} at index ${at}. Embed the text again`,
  );
}

/** The vector at length 1, so that a dot product is the cosine. */
export function normalised(vector: Float32Array): Float32Array {
  return normalise(vector.slice());
}

/** Brings a vector to length 1 where it lies. */
export function normalise(vector: Float32Array): Float32Array {
  const scale = 1 / Math.sqrt(squaredLength(vector));
  for (let at = 0; at < vector.length; at++) vector[at] = vector[at]! * scale;
  return vector;
}

export function dot(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < left.length; at++) sum += left[at]! * right[at]!;
  return sum;
}

/** The cosine of the angle between `unit`, of length 1, and a vector of any length. */
export function cosine(unit: Float32Array, vector: Float32Array): number {
  let [product, squared] = [0, 0];
  for (let at = 0; at < vector.length; at++) {
    const component = vector[at]!;
    product += unit[at]! * component;
    squared += component * component;
  }
  return product / Math.sqrt(squared);
}

function squaredLength(vector: Float32Array): number {
  return dot(vector, vector);
}

/** Little-endian 32-bit floats. */
export function encodeVector(vector: Float32Array): Buffer {
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
  return endianness() === "LE" ? bytes : Buffer.from(bytes).swap32();
}

/** Lies in the memory of `bytes` where that is possible: they are not to be used again. */
export function decodeVector(bytes: Uint8Array): Float32Array {
  const whole = bytes.byteOffset % Float32Array.BYTES_PER_ELEMENT === 0 ? bytes : new Uint8Array(bytes);
  if (endianness() === "BE") Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength).swap32();
  return new Float32Array(whole.buffer, whole.byteOffset, whole.byteLength / Float32Array.BYTES_PER_ELEMENT);
}
