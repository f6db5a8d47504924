import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Collection } from "../../src/evaluate/collection.js";
import type { Embedder } from "../../src/core/ports.js";

const dimension = 128;

/**
 * The vectors of SciFact that a sentence model (MiniLM, its first 128 components) gave elsewhere, found again by the text that
 * they were made of: an abstract without its title, or a question.
 *
 * @param folder of the collection, with `vectors/`.
 */
export async function scifactVectors(folder: string, collection: Collection): Promise<Embedder<"minilm-128">> {
  const rows = async (file: string) => {
    const bytes = await readFile(join(folder, "vectors", file));
    const numbers = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
    return (row: number) => numbers.subarray(row * dimension, (row + 1) * dimension);
  };
  const known = new Map<string, Float32Array>();
  const [ofCorpus, ofQueries] = [await rows("corpus.f32"), await rows("queries.f32")];
  let row = 0;
  for await (const { text } of collection.documents()) known.set(text, ofCorpus(row++));
  for (const [index, { text }] of collection.queries.entries()) known.set(text, ofQueries(index));
  return {
    space: "minilm-128",
    dimension,
    maxInputTokens: 8192,
    maxBatchTexts: 512,
    tokens: { name: "characters", count: (text) => Math.ceil(text.length / 4) },
    embed: async (texts) => ({
      vectors: texts.map((text) => known.get(text) ?? known.get(text.slice(text.indexOf("\n\n") + 2))!),
      tokens: texts.length,
    }),
  };
}
