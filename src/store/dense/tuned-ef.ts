import type { Changes } from "../changes.js";
import { TimeSlice } from "../time-slice.js";
import type { Ranking } from "../top-k.js";
import { normalised } from "../vectors.js";
import { exactNearest, recallOf, sampledVectors } from "./exact-nearest.js";
import type { HnswGraph } from "./hnsw.js";
import type { NativeCode } from "./native-code.js";

/** Well above the 0.95 that is promised: the sample is small. */
const tunedRecall = 0.985;
/** What is found of questions that had no part in the tuning and lie further out, as real ones may. */
const checkedRecall = 0.97;
const neighbours = 10;
const sampleSize = 96;
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
 * The smallest `ef` by which a graph finds the target's share of the exact nearest, and then of those for other questions
 * too; the largest that is tried where none does. Questions are made of the store's vectors: those it is tuned by lie beside
 * one of them, turned towards another, and those it is checked by lie midway between two. Compares all vectors with the
 * sample once: 96 dot products a vector. Lets other work run meanwhile.
 */
export async function tunedEf({ changes, graph, upToLabel, native, signal }: EfTuning): Promise<number> {
  const sampled = sampledVectors(changes, sampleSize);
  const midway = (at: number) => at % 2 === 1;
  const questions = sampled.map((vector, at) => {
    const towards = sampled[(at + 2) % sampled.length]!;
    const share = midway(at) ? 1 : 0.5;
    return normalised(vector.map((component, index) => component + share * towards[index]!));
  });
  const exact = await exactNearest(changes, questions, neighbours, { upToLabel, signal });
  const asked = questions.map((question, at) => ({ question, exact: exact[at]! }));
  const tuning = asked.filter((_, at) => !midway(at));
  const checking = asked.filter((_, at) => midway(at));
  const slice = new TimeSlice();
  const recall = async (sample: typeof asked, ef: number) => {
    const found: Ranking[] = [];
    for (const { question } of sample) {
      found.push(native.run(() => graph.search(question, neighbours, ef)));
      if (slice.over) await slice.next();
      signal.throwIfAborted();
    }
    return recallOf(
      found,
      sample.map((one) => one.exact),
    );
  };
  for (const ef of steps) {
    if ((await recall(tuning, ef)) >= tunedRecall && (await recall(checking, ef)) >= checkedRecall) return ef;
  }
  return steps.at(-1)!;
}
