import { normalised } from "../database/vectors.js";
import type { Changes } from "../derived/changes.js";
import { TimeSlice } from "../derived/scheduling.js";
import { type Ranking, TopK } from "../derived/top-k.js";
import { FlatIndex } from "./flat/flat-index.js";

/** Recall is measured among this many nearest. */
export const neighbours = 10;

/** Vectors compared at a time: a few megabytes for a store of any size. */
const rowsPerRead = 512;

/**
 * The share of the exact ten nearest that `search` finds, for questions spread evenly over the store's own vectors;
 * undefined for a store without vectors.
 */
export async function measureRecall(
  changes: Changes,
  search: (vector: Float32Array, count: number) => Promise<Ranking>,
  sample: number,
  signal?: AbortSignal,
): Promise<number | undefined> {
  const questions = sampleVectors(changes, sample);
  if (questions.length === 0) return undefined;
  const exact = await exactNearest(changes, questions, signal && { signal });
  const found: Ranking[] = [];
  for (const question of questions) {
    signal?.throwIfAborted();
    found.push(await search(question, neighbours));
  }
  return recallOf(found, exact);
}

/** Up to `count` of a store's vectors, at length 1, spread evenly over its chunks by age. */
export function sampleVectors(changes: Changes, count: number): Float32Array[] {
  const { label: last } = changes.head();
  const sample = new Map<number, Float32Array>();
  for (let index = 0; index < count; index++) {
    const [row] = changes.vectorsAfter(Math.floor((last * index) / count), 1);
    if (row) sample.set(row.label, normalised(row.vector));
  }
  return [...sample.values()];
}

/**
 * The ten nearest of each question, found by comparing all of the store's vectors. Lets other work run meanwhile.
 *
 * @param upToLabel chunks with higher labels are left out. Default: none.
 */
export async function exactNearest(
  changes: Changes,
  questions: readonly Float32Array[],
  { upToLabel = Infinity, signal }: { readonly upToLabel?: number; readonly signal?: AbortSignal } = {},
): Promise<Ranking[]> {
  const best = questions.map(() => new TopK(neighbours));
  const slice = new TimeSlice();
  for (let after = 0; ;) {
    signal?.throwIfAborted();
    const rows = Array.from(changes.vectorsAfter(after, rowsPerRead)).filter(({ label }) => label <= upToLabel);
    if (rows.length === 0) return best.map((one) => one.ranking());
    after = rows.at(-1)!.label;
    const flat = new FlatIndex(rows[0]!.vector.length);
    for (const { label, vector } of rows) flat.add(label, vector);
    for (const [index, question] of questions.entries()) {
      const { labels, scores } = flat.searchAtOnce(question, neighbours);
      for (const [place, label] of labels.entries()) best[index]!.offer(label, scores[place]!);
      if (slice.over) await slice.next();
    }
  }
}

/** The share of the exact nearest that were found, by score: any of several equally near vectors counts. */
export function recallOf(found: readonly Ranking[], exact: readonly Ranking[]): number {
  let [shared, all] = [0, 0];
  for (const [index, { scores }] of exact.entries()) {
    const minScore = scores.at(-1)! - 1e-5;
    shared += Math.min(scores.length, found[index]!.scores.filter((score) => score >= minScore).length);
    all += scores.length;
  }
  return shared / all;
}
