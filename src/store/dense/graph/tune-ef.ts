import { normalised } from "../../database/vectors.js";
import type { Changes } from "../../derived/changes.js";
import { TimeSlice } from "../../derived/scheduling.js";
import type { Ranking } from "../../derived/top-k.js";
import { exactNearest, neighbours, recallOf, sampleVectors } from "../recall.js";

/** Well above the promised 0.95, because the sample is small. */
const tuningRecall = 0.985;
/** The recall on questions that had no part in the tuning and lie further from the vectors, as real questions may. */
const checkingRecall = 0.97;
const sampleSize = 96;
const steps = [32, 48, 64, 96, 128, 200, 300, 450, 700, 1000];

export interface EfTuning {
  readonly changes: Changes;
  /** The `count` nearest in the graph. */
  readonly search: (vector: Float32Array, count: number, ef: number) => Ranking;
  /** Last label in the graph: recall is measured up to it. */
  readonly upToLabel: number;
  readonly signal: AbortSignal;
}

/**
 * Finds the smallest `ef` that reaches the recall on the tuning questions and on the checking questions, or the largest
 * that is tried. Questions are made from the store's vectors: those for tuning lie near a vector, in the direction of
 * another, and those for checking lie midway between two. Compares all vectors with the sample once, which takes 96 dot
 * products a vector. Lets other work run meanwhile.
 */
export async function tuneEf({ changes, search, upToLabel, signal }: EfTuning): Promise<number> {
  const sample = sampleVectors(changes, sampleSize);
  const isMidway = (position: number) => position % 2 === 1;
  const questions = sample.map((vector, offset) => {
    const towards = sample[(offset + 2) % sample.length]!;
    const share = isMidway(offset) ? 1 : 0.5;
    return normalised(vector.map((component, index) => component + share * towards[index]!));
  });
  const exact = await exactNearest(changes, questions, { upToLabel, signal });
  const asked = questions.map((question, index) => ({ question, exact: exact[index]! }));
  const tuning = asked.filter((_, index) => !isMidway(index));
  const checking = asked.filter((_, index) => isMidway(index));
  const slice = new TimeSlice();
  const recall = async (part: typeof asked, ef: number) => {
    const found: Ranking[] = [];
    for (const { question } of part) {
      found.push(search(question, neighbours, ef));
      if (slice.over) await slice.next();
      signal.throwIfAborted();
    }
    return recallOf(
      found,
      part.map((one) => one.exact),
    );
  };
  for (const ef of steps) {
    if ((await recall(tuning, ef)) >= tuningRecall && (await recall(checking, ef)) >= checkingRecall) return ef;
  }
  return steps.at(-1)!;
}
