import type { Changes } from "../changes.js";
import { exactNearest, recallOf, sampledVectors } from "../dense/exact-nearest.js";
import type { Ranking } from "../top-k.js";

const neighbours = 10;

/**
 * The share of the exact ten nearest that `search` finds too, for questions spread evenly over the store's own vectors.
 * Undefined for a store without vectors.
 */
export async function measureRecall(
  changes: Changes,
  search: (vector: Float32Array, count: number) => Promise<Ranking>,
  sample: number,
  signal?: AbortSignal,
): Promise<number | undefined> {
  const questions = sampledVectors(changes, sample);
  if (questions.length === 0) return undefined;
  const exact = await exactNearest(changes, questions, neighbours, signal && { signal });
  const found: Ranking[] = [];
  for (const question of questions) {
    signal?.throwIfAborted();
    found.push(await search(question, neighbours));
  }
  return recallOf(found, exact);
}
