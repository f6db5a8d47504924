import type { Chunk, Embedded } from "../types.js";

/**
 * The chunk with its vector, in place of any that it has. New fields come before the spread: behind it, V8 makes a hidden
 * class for each object, which takes five times as long and stays until the next full collection.
 */
export function withVector<C extends Chunk, Space extends string>(
  chunk: C,
  vector: Float32Array,
  space: Space,
): Embedded<C, Space> {
  return "vector" in chunk || "space" in chunk ? { ...chunk, vector, space } : { vector, space, ...chunk };
}
