import { open } from "node:fs/promises";
import { z } from "zod";
import { readWhole } from "../derived/whole-file.js";
import type { LatentModel } from "./latent-model.js";

/** Sizes of the parts of the file, which are in its manifest, because the file holds arrays without headers. */
export const LatentFileFacts = z.object({
  dimension: z.int().positive(),
  explained: z.number(),
  terms: z.int().nonnegative(),
  rows: z.int().nonnegative(),
});

/** A model, and the vectors of the chunks, by label. */
interface LatentContent {
  readonly model: LatentModel;
  readonly vectors: {
    readonly size: number;
    readonly entries: () => Iterable<readonly [label: number, vector: Float32Array]>;
  };
}

/** Vectors that are written at once: half a megabyte. */
const rowsPerWrite = 1024;

export function latentFileFacts({ model, vectors }: LatentContent): z.output<typeof LatentFileFacts> {
  const { dimension, explained, weights } = model;
  return { dimension, explained, terms: weights.length, rows: vectors.size };
}

/** Writes the arrays of 32-bit numbers, then the terms as JSON. */
export async function writeLatentFile(path: string, { model, vectors }: LatentContent): Promise<void> {
  const { weights, places, numbers, dimension } = model;
  const file = await open(path, "wx");
  const write = (array: Float32Array | Uint32Array) =>
    file.appendFile(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
  try {
    await write(weights);
    await write(places);
    const labels = new Uint32Array(vectors.size);
    const rows = new Float32Array(rowsPerWrite * dimension);
    let row = 0;
    for (const [label, vector] of vectors.entries()) {
      rows.set(vector, (row % rowsPerWrite) * dimension);
      labels[row++] = label;
      if (row % rowsPerWrite === 0) await write(rows);
    }
    await write(rows.subarray(0, (row % rowsPerWrite) * dimension));
    await write(labels);
    await file.appendFile(JSON.stringify([...numbers.keys()]));
  } finally {
    await file.close();
  }
}

/** Reads what `writeLatentFile` wrote. The caller has checked that the bytes are unchanged. */
export async function readLatentFile(
  path: string,
  facts: z.output<typeof LatentFileFacts>,
  bytesPerPiece?: number,
): Promise<LatentContent> {
  const { dimension, explained, terms, rows } = facts;
  const { buffer } = await readWhole(path, bytesPerPiece);
  let index = 0;
  const floats = (length: number) => {
    const array = new Float32Array(buffer, index, length);
    index += array.byteLength;
    return array;
  };
  const [weights, places, all] = [floats(terms), floats(terms * dimension), floats(rows * dimension)];
  const labels = new Uint32Array(buffer, index, rows);
  const written = JSON.parse(Buffer.from(buffer, index + labels.byteLength).toString()) as readonly string[];
  const numbers = new Map(written.map((term, number) => [term, number]));
  const vectors = new Map(
    Array.from(labels, (label, row) => [label, all.subarray(row * dimension, (row + 1) * dimension)]),
  );
  return { model: { dimension, explained, numbers, weights, places }, vectors };
}
