import { evidence, passageScore } from "./evidence.js";
import { passages, type Passage } from "./passages.js";
import type { QuestionReading } from "./question-reading.js";
import type { ScoredStatement } from "./statement-score.js";

/** The passage that answers best, and the log-odds that it does. */
export interface ChosenPassage {
  readonly passage: Passage;
  readonly evidence: number;
}

/** The best place of the answer; `undefined` when no passage has a word of the question. */
export function choosePassage(reading: QuestionReading, scored: readonly ScoredStatement[]): ChosenPassage | undefined {
  const ranked = passages(reading, scored)
    .map((passage) => ({ passage, score: passageScore(passage.facts), source: passage.statements[0]?.source }))
    .toSorted((a, b) => b.score - a.score);
  const best = ranked[0];
  if (best === undefined) return undefined;
  const mean = ranked.reduce((sum, { score }) => sum + score, 0) / ranked.length;
  const rival = ranked.find(({ source }) => source !== best.source)?.score ?? ranked.at(-1)!.score - 1;
  const standing = { score: best.score, lead: best.score - rival, aboveMean: best.score - mean };
  return { passage: best.passage, evidence: evidence(best.passage.facts, standing) };
}
