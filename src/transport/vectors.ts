import { endianness } from "node:os";
import type { EmbeddingsReply } from "../contract/embeddings.js";
import type { z } from "zod";
import { badReply } from "./failure.js";

type Item = z.output<typeof EmbeddingsReply>["data"][number];

/**
 * One vector per text, in the order of the texts, whatever order they came in; as many as were asked for, all of one
 * length, the one that was asked for if any was, every number finite.
 */
export function vectorsOf(items: readonly Item[], count: number, dimensions?: number): Float32Array[] {
  if (items.length !== count) throw badReply(`sent ${count} texts, got ${items.length} vectors`);
  const vectors: Float32Array[] = [];
  for (const [position, { index = position, embedding }] of items.entries()) {
    if (index >= count) throw badReply(`a vector has index ${index}, but ${count} texts were sent`);
    if (vectors[index]) throw badReply(`two vectors have index ${index}`);
    vectors[index] = decodeVector(embedding, index);
  }
  const dimension = vectors[0]?.length;
  const odd = vectors.findIndex((vector) => vector.length !== dimension);
  if (odd !== -1) {
    throw badReply(
      `vectors of one reply differ in length: number 0 has ${dimension}, number ${odd} has ${vectors[odd]!.length}`,
    );
  }
  if (dimensions !== undefined && dimension !== dimensions) {
    throw badReply(`asked for vectors of ${dimensions} numbers, got ${dimension}`);
  }
  return vectors;
}

/** Decodes by what arrived, not by what was asked for: a text is base64 of little-endian float32, a list is numbers. */
function decodeVector(embedding: unknown, index: number): Float32Array {
  const refuse = (problem: string) => badReply(`vector ${index} ${problem}`);
  let vector: Float32Array;
  if (typeof embedding === "string") {
    const decoded = fromBase64(embedding);
    if (!decoded) throw refuse("is not base64 of whole float32 numbers");
    vector = decoded;
  } else if (Array.isArray(embedding)) {
    vector = new Float32Array(embedding.length);
    for (let at = 0; at < vector.length; at++) {
      const value: unknown = embedding[at];
      vector[at] = typeof value === "number" ? value : NaN;
    }
  } else throw refuse(`is ${embedding === null ? "null" : typeof embedding}, neither numbers nor base64`);
  if (vector.length === 0) throw refuse("is empty");
  if (!allFinite(vector))
    throw refuse(`has no finite float32 number at ${vector.findIndex((value) => !Number.isFinite(value))}`);
  return vector;
}

/**
 * Float32 numbers never add up to more than a double holds, and an infinity or NaN in a sum stays: one look for all of
 * them. Eight at a time, since each addition to the sum waits for the one before it.
 */
function allFinite(vector: Float32Array): boolean {
  const { length } = vector;
  let sum = 0;
  let at = 0;
  for (; at + 7 < length; at += 8) {
    const left = vector[at]! + vector[at + 1]! + (vector[at + 2]! + vector[at + 3]!);
    const right = vector[at + 4]! + vector[at + 5]! + (vector[at + 6]! + vector[at + 7]!);
    sum += left + right;
  }
  for (; at < length; at++) sum += vector[at]!;
  return Number.isFinite(sum);
}

/** Decoded straight into the vector's own memory: aligned, not pooled, and no number is copied by itself. */
function fromBase64(text: string): Float32Array | undefined {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const sizeBytes = Math.floor(((text.length - padding) * 3) / 4);
  if (sizeBytes % 4 !== 0) return undefined;
  const bytes = Buffer.allocUnsafeSlow(sizeBytes);
  if (bytes.write(text, "base64") !== sizeBytes) return undefined;
  if (endianness() === "BE") bytes.swap32();
  return new Float32Array(bytes.buffer);
}
