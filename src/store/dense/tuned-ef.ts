import type { Changes } from "../changes.js";
import { TimeSlice } from "../time-slice.js";
import type { Ranking } from "../top-k.js";
import { normalised } from "../vectors.js";
import { exactNearest, recallOf, sampledVectors } from "./exact-nearest.js";
import type { HnswGraph } from "./hnsw.js";
import type { NativeCode } from "./native-code.js";

/** Well above the 0.95 that is promised: the sample is small, and real questions may lie further out. */
const targetRecall = 0.985;
const neighbours = 10;
const sampleSize = 48;
const steps = [32, 48, 64, 96, 128, 200, 300, 450, 700, 1000];

export interface EfTuning {
  readonly changes: Changes;
  readonly graph: HnswGraph;
  /** Last of the labels that the graph holds: it is measured against those alone. */
  readonly upToLabel: number;
  readonly native: NativeCode;
  readonly signal: AbortSignal;
}

/**
 * The smallest `ef` by which a graph finds the target's share of the exact nearest, for questions that lie beside the
 * store's vectors: each is one of them, turned towards another. The largest that is tried where none reaches it.
 * Compares all vectors with the sample once: 48 dot products a vector. Lets other work run meanwhile.
 */
export async function tunedEf({ changes, graph, upToLabel, native, signal }: EfTuning): Promise<number> {
  const sampled = sampledVectors(changes, sampleSize);
  const questions = sampled.map((vector, at) => {
    const towards = sampled[(at + 1) % sampled.length]!;
    return normalised(vector.map((component, index) => component + towards[index]! / 2));
  });
  const exact = await exactNearest(changes, questions, neighbours, { upToLabel, signal });
  const slice = new TimeSlice();
  for (const ef of steps) {
    const found: Ranking[] = [];
    for (const question of questions) {
      found.push(native.run(() => graph.search(question, neighbours, ef)));
      if (slice.over) await slice.next();
      signal.throwIfAborted();
    }
    if (recallOf(found, exact) >= targetRecall) return ef;
  }
  return steps.at(-1)!;
}
