import type { Changes } from "../changes.js";
import { FlatIndex } from "../dense/flat-index.js";
import { type Ranking, TopK } from "../top-k.js";
import { normalised } from "../vectors.js";

const neighbours = 10;
/** Vectors that are compared at a time: a few megabytes, however large the store. */
const rowsPerBlock = 2048;

/**
 * The share of the exact ten nearest that `search` finds too, for questions spread evenly over the store's own vectors.
 * Undefined for a store without vectors.
 */
export async function measureRecall(
  changes: Changes,
  search: (vector: Float32Array, count: number) => Promise<Ranking>,
  sample: number,
): Promise<number | undefined> {
  const every = Math.max(1, Math.floor(changes.chunkCount() / sample));
  const questions: { readonly vector: Float32Array; readonly best: TopK }[] = [];
  let seen = 0;
  for await (const rows of blocks(changes)) {
    for (const { vector } of rows) {
      if (seen++ % every === 0 && questions.length < sample) {
        questions.push({ vector: normalised(vector), best: new TopK(neighbours) });
      }
    }
  }
  if (questions.length === 0) return undefined;
  for await (const rows of blocks(changes)) {
    const flat = new FlatIndex(rows[0]!.vector.length);
    for (const { label, vector } of rows) flat.add(label, normalised(vector));
    for (const { vector, best } of questions) {
      const { labels, scores } = await flat.search(vector, neighbours);
      for (const [at, label] of labels.entries()) best.offer(label, scores[at]!);
    }
  }
  let [shared, all] = [0, 0];
  for (const { vector, best } of questions) {
    const exact = best.ranking();
    const found = await search(vector, neighbours);
    // By score: of vectors that are equally near, any ten are the nearest.
    const least = exact.scores.at(-1)! - 1e-5;
    shared += Math.min(exact.scores.length, found.scores.filter((score) => score >= least).length);
    all += exact.scores.length;
  }
  return shared / all;
}

async function* blocks(changes: Changes) {
  for (let after = 0; ;) {
    const rows = Array.from(changes.vectorsAfter(after, rowsPerBlock));
    if (rows.length === 0) return;
    yield rows;
    after = rows.at(-1)!.label;
  }
}
