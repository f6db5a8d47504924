import { StoreError } from "../../core/errors.js";

/**
 * Refuses a vector that has no direction in a space of `dimension`.
 *
 * @throws StoreError `vector` for another type, a component that is not finite, or all zeros; `dimension` for another
 * length.
 */
export function checkVector(vector: unknown, dimension: number, owner: string): asserts vector is Float32Array {
  if (!(vector instanceof Float32Array)) {
    throw new StoreError("vector", `The vector of ${owner} is not a Float32Array. Convert it with Float32Array.from()`);
  }
  if (vector.length !== dimension) {
    throw new StoreError(
      "dimension",
      `The vector of ${owner} has ${vector.length} dimensions, the store holds ${dimension}. Use the embedder that the store was created with, or index into another folder`,
    );
  }
  const squared = dot(vector, vector);
  if (Number.isFinite(squared) && squared > 0) return;
  const index = vector.findIndex((component) => !Number.isFinite(component));
  throw new StoreError(
    "vector",
    index < 0
      ? `The vector of ${owner} is all zeros and has no direction. Embed the text again`
      : `The vector of ${owner} holds ${vector[index]} at index ${index}. Embed the text again`,
  );
}

/** A copy scaled to length 1, so that a dot product is the cosine. */
export function normalised(vector: Float32Array): Float32Array {
  const scale = 1 / Math.sqrt(dot(vector, vector));
  const unit = new Float32Array(vector.length);
  for (let index = 0; index < vector.length; index++) unit[index] = vector[index]! * scale;
  return unit;
}

export function dot(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < left.length; index++) sum += left[index]! * right[index]!;
  return sum;
}

/** The cosine of the angle between `unit`, of length 1, and a vector of any length. */
export function cosine(unit: Float32Array, vector: Float32Array): number {
  let [product, squared] = [0, 0];
  for (let index = 0; index < vector.length; index++) {
    const component = vector[index]!;
    product += unit[index]! * component;
    squared += component * component;
  }
  return product / Math.sqrt(squared);
}
