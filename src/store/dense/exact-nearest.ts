import type { Changes } from "../changes.js";
import { TimeSlice } from "../time-slice.js";
import { type Ranking, TopK } from "../top-k.js";
import { normalised } from "../vectors.js";
import { FlatIndex } from "./flat-index.js";

/** Vectors that are compared at a time: a few megabytes, however large the store. */
const rowsPerBlock = 512;

/** Up to `count` of a store's vectors, at length 1, spread evenly over its chunks by age. */
export function sampledVectors(changes: Changes, count: number): Float32Array[] {
  const { label: last } = changes.head();
  const sampled = new Map<number, Float32Array>();
  for (let at = 0; at < count; at++) {
    const [row] = changes.vectorsAfter(Math.floor((last * at) / count), 1);
    if (row) sampled.set(row.label, normalised(row.vector));
  }
  return [...sampled.values()];
}

export interface ExactNearestOptions {
  /** Chunks with higher labels are left out. Default: none is. */
  readonly upToLabel?: number;
  /** Ends it with its reason. */
  readonly signal?: AbortSignal;
}

/** The `count` nearest of each question by comparing all of the store's vectors. Lets other work run meanwhile. */
export async function exactNearest(
  changes: Changes,
  questions: readonly Float32Array[],
  count: number,
  { upToLabel = Infinity, signal }: ExactNearestOptions = {},
): Promise<Ranking[]> {
  const best = questions.map(() => new TopK(count));
  const slice = new TimeSlice();
  for (let after = 0; ;) {
    signal?.throwIfAborted();
    const rows = Array.from(changes.vectorsAfter(after, rowsPerBlock)).filter(({ label }) => label <= upToLabel);
    if (rows.length === 0) return best.map((one) => one.ranking());
    after = rows.at(-1)!.label;
    const flat = new FlatIndex(rows[0]!.vector.length);
    for (const { label, vector } of rows) flat.add(label, vector);
    for (const [at, question] of questions.entries()) {
      const { labels, scores } = flat.searchAtOnce(question, count);
      for (const [place, label] of labels.entries()) best[at]!.offer(label, scores[place]!);
      if (slice.over) await slice.next();
    }
  }
}

/** The share of the exact nearest that were found too. By score: of those that are equally near, any are the nearest. */
export function recallOf(found: readonly Ranking[], exact: readonly Ranking[]): number {
  let [shared, all] = [0, 0];
  for (const [at, { scores }] of exact.entries()) {
    const least = scores.at(-1)! - 1e-5;
    shared += Math.min(scores.length, found[at]!.scores.filter((score) => score >= least).length);
    all += scores.length;
  }
  return shared / all;
}
