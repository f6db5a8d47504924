import { minSimilarity, termSimilarity } from "../question/word-forms.js";
import { meantShare, weightedShare, type QuestionReading, type SourceTerms } from "../question/question-reading.js";
import { lacksAsked } from "../question/wanted.js";
import { wordCount } from "../question/written-words.js";
import { evidenceOf, type Candidate } from "./evidence.js";
import { wordingShare, type ScoredStatement } from "./statement-score.js";
import type { Statement } from "./statements.js";

/** A quote of one statement, or of a sentence and the one that follows it. */
export interface Passage {
  readonly statements: readonly Statement[];
  /** The sentence after them, if all together still fit one citation. */
  readonly next: Statement | undefined;
  /** How surely it answers: 0 is the least that is quoted, more is surer. */
  readonly evidence: number;
}

/** Two sentences up to this length are still a citation, in UTF-16 units. */
const maxPairLength = 700;
/** Score of a sentence that by itself answers nothing. */
const unscored = -0.5;
/** Words at most this far apart stand together. */
const maxTogetherWords = 10;
const maxRank = 5;

/** The sentence, or pair of neighbouring sentences, that answers best; `undefined` when none was scored. */
export function bestPassage(reading: QuestionReading, scored: readonly ScoredStatement[]): Passage | undefined {
  const { read, sources } = reading;
  const scores = new Map(scored.map(({ index, score }) => [index, score]));
  const joined = (at: number) => joins(read[at]?.statement, read[at + 1]?.statement);
  const found: Candidate[] = [];
  for (const [at, { statement }] of read.entries()) {
    const places = joined(at) ? [at, at + 1] : joined(at - 1) ? [] : [at];
    if (!places.some((place) => scores.has(place))) continue;
    const source = sources.get(statement.source)!;
    const statementScore = Math.max(...places.map((place) => scores.get(place) ?? unscored));
    found.push({ places, source, statementScore, score: passageScore(reading, places, source, statementScore) });
  }
  const ofSources = [...new Set(found.map(({ source }) => source))].map((source) =>
    found.filter((one) => one.source === source).reduce((best, one) => (one.score > best.score ? one : best)),
  );
  const judged = evidenceOf(reading, ofSources);
  const evidence = Math.max(...judged);
  const best = ofSources[judged.indexOf(evidence)];
  if (best === undefined) return undefined;
  const statements = best.places.map((at) => read[at]!.statement);
  const last = best.places.at(-1)!;
  const length = statements.reduce((sum, { text }) => sum + text.length, 0);
  const next = joins(read[last]?.statement, read[last + 1]?.statement) ? read[last + 1]!.statement : undefined;
  return {
    statements,
    next: statements.length > 1 && length + (next?.text.length ?? 0) <= maxPairLength ? next : undefined,
    evidence,
  };
}

function joins(first: Statement | undefined, second: Statement | undefined): boolean {
  return (
    first?.kind === "prose" &&
    second?.kind === "prose" &&
    second.joint !== undefined &&
    first.source === second.source &&
    first.text.length + second.text.length <= maxPairLength
  );
}

/** Ranks passages: all words of the question, with those of the headings, close together, in a source that came first. */
function passageScore(
  reading: QuestionReading,
  places: readonly number[],
  { headed, rank }: SourceTerms,
  statementScore: number,
): number {
  const { question, weights, read } = reading;
  const words = places.flatMap((at) => read[at]!.words);
  const found = new Set(words);
  const withHeadings = meantShare(reading, new Set([...found, ...headed]));
  const missing = wordCount([...weights.keys()].filter((term) => termSimilarity(term, found) < minSimilarity));
  return (
    statementScore +
    4 * withHeadings +
    2 * closest(words, weights) +
    0.5 * wordingShare(reading, words) -
    (places.every((at) => lacksAsked(question, read[at]!.statement.text)) ? 2 : 0) -
    0.5 * missing -
    0.3 * Math.min(maxRank, rank)
  );
}

/** The largest share of the weight whose distinct terms stand together. */
function closest(words: readonly string[], weights: ReadonlyMap<string, number>): number {
  const places = [...words.entries()].filter(([, term]) => weights.has(term));
  let most = 0;
  for (const [from, [start]] of places.entries()) {
    const together = new Set<string>();
    for (const [at, term] of places.slice(from)) {
      if (at - start > maxTogetherWords) break;
      together.add(term);
    }
    most = Math.max(
      most,
      weightedShare(weights, (term) => Number(together.has(term))),
    );
  }
  return most;
}
