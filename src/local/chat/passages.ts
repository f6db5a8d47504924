import { terms } from "../../text/terms.js";
import { askedWords, heldBy, heldTogether, isMissing, type AskedWord, type Held } from "./asked-words.js";
import { timesIn } from "./question-kind.js";
import type { QuestionReading } from "./question-reading.js";
import type { ScoredStatement } from "./statement-score.js";
import type { Statement } from "./statements.js";
import { plainForm } from "./word-forms.js";

/** What can be quoted in one: a statement, or a sentence and the one that follows it. */
export interface Passage {
  readonly statements: readonly Statement[];
  readonly facts: PassageFacts;
}

/** What speaks for and against a passage as the place of the answer. Shares are 0 to 1. */
export interface PassageFacts {
  /** Score of its better statement. */
  readonly score: number;
  /** Share of the question's weight in one of its statements, other forms and near meanings counted in part. */
  readonly covered: number;
  /** Share in the passage and the headings of its source. */
  readonly withHeadings: number;
  /** Share of the weight that stands together within a few words. */
  readonly dense: number;
  /** Share of the question's neighbouring words that stand near each other here, too. */
  readonly phrases: number;
  /** Words of the question that the passage lacks, and its source. */
  readonly missing: number;
  readonly missingInSource: number;
  /** Telling words that it holds. */
  readonly telling: number;
  /** Words beside the subject, which headings name, that it lacks. */
  readonly missingSpecific: number;
  /** Share of those words in the passage and beside it. */
  readonly specificAround: number;
  /** Shares of the question's names and numbers that its source holds. */
  readonly namesInSource: number;
  readonly numbersInSource: number;
  /** Numbers of the question that stand neither here nor beside. */
  readonly missingNumbers: number;
  /** When the question asks for a time: 1 when the passage brings one, -1 when it does not; else 0. */
  readonly time: number;
  /** Share of the question's words that are pairs of characters, as of Chinese. */
  readonly unspaced: number;
  /** Place of the source among the sources, 0 to 5. */
  readonly rank: number;
  /** Terms, as a logarithm. */
  readonly length: number;
  /** Words of the question, as a logarithm. */
  readonly asked: number;
}

/** Two sentences up to this length are still a citation, in UTF-16 units. */
const longestPair = 700;
/** Score of a sentence that by itself answers nothing. */
const noScore = -0.5;
/** Words at most this far apart stand together; neighbours of the question at most this far. */
const denseReach = 10;
const phraseReach = 4;
/** What words that tell little of the matter count for beside those that do. */
const askingShare = 0.2;
const commonShare = 0.5;
const lowestRank = 5;

/** Every sentence with the one that follows it, and what has none beside it alone. */
export function passages(reading: QuestionReading, scored: readonly ScoredStatement[]): readonly Passage[] {
  const asked = askedWords(reading);
  const judge = passageJudge(reading, asked, new Map(scored.map((one) => [one.index, one.score])));
  const { read } = reading;
  const usable = new Set(scored.map(({ index }) => index));
  const pairs = (at: number) => joins(read[at]?.statement, read[at + 1]?.statement);
  const found: Passage[] = [];
  for (const [at, { statement }] of read.entries()) {
    if (pairs(at)) {
      if (usable.has(at) || usable.has(at + 1)) {
        found.push({ statements: [statement, read[at + 1]!.statement], facts: judge(at, at + 1) });
      }
    } else if (usable.has(at) && !pairs(at - 1)) found.push({ statements: [statement], facts: judge(at, at) });
  }
  return found;
}

function joins(first: Statement | undefined, second: Statement | undefined): boolean {
  return (
    first?.kind === "prose" &&
    second?.kind === "prose" &&
    second.joint !== undefined &&
    first.source === second.source &&
    first.text.length + second.text.length <= longestPair
  );
}

/** What is known of one statement before it is paired. */
interface Alone {
  readonly held: Held;
  readonly dense: number;
  readonly near: ReadonlySet<string>;
  readonly time: number;
  readonly length: number;
}

function passageJudge(
  reading: QuestionReading,
  asked: readonly AskedWord[],
  scores: ReadonlyMap<number, number>,
): (first: number, last: number) => PassageFacts {
  const { read, question } = reading;
  const weights = new Map(asked.map(({ term, weight }) => [term, weight] as const));
  const weigh = (held: Held, of: (word: AskedWord) => boolean = () => true) => share(asked, held, of);
  const own = terms(question).map(plainForm);
  const neighbours = own
    .slice(1)
    .map((term, at) => ({ pair: `${own[at]} ${term}`, weight: pairWeight(weights, own[at]!, term) }));
  const neighbourTotal = neighbours.reduce((all, { weight }) => all + weight, 0);
  const timeIn = timesIn(question, new Set(own));

  const sources = new Map<number, { headed: Held; held: Held; rank: number }>();
  const alone: Alone[] = read.map(({ statement, words }) => {
    const plain = words.map(plainForm);
    const found = new Set(plain);
    const held = heldBy(asked, found);
    const known = sources.get(statement.source);
    const headed =
      known?.headed ?? heldBy(asked, new Set([...(reading.headed.get(statement.source) ?? [])].map(plainForm)));
    sources.set(statement.source, {
      headed,
      held: heldTogether(known?.held ?? headed, held),
      rank: known?.rank ?? sources.size,
    });
    return {
      held,
      dense: densest(plain, weights),
      near: nearPairs(plain),
      time: timeIn(statement.text),
      length: words.length,
    };
  });
  const total = asked.reduce((all, { weight }) => all + weight, 0);
  const headings = [...sources.values()].map(({ headed }) => headed);
  const specific = asked.map(({ kind, words }, at) => {
    const headingShare = headings.filter((headed) => headed[at]! >= 0.9).length / headings.length;
    const kindShare = kind === "asking" ? askingShare : kind === "common" ? commonShare : 1;
    return words * (1 - headingShare) * kindShare;
  });
  const specificTotal = sum(specific);
  const count = (held: Held, of: (share: number, word: AskedWord) => number) =>
    sum(asked.map((word, at) => word.words * of(held[at]!, word)));

  return (first, last) => {
    const [a, b] = [alone[first]!, alone[last]!];
    const { source } = read[first]!.statement;
    const { headed, held: inSource, rank } = sources.get(source)!;
    const held = heldTogether(a.held, b.held);
    const beside = [first - 1, last + 1].filter((at) => read[at]?.statement.source === source);
    const around = beside.reduce((all, at) => heldTogether(all, alone[at]!.held), held);
    const near = (pair: string) => a.near.has(pair) || b.near.has(pair);
    return {
      score: Math.max(noScore, scores.get(first) ?? noScore, scores.get(last) ?? noScore),
      covered: Math.max(weigh(a.held) ?? 0, weigh(b.held) ?? 0),
      withHeadings: weigh(heldTogether(held, headed)) ?? 0,
      dense: total === 0 ? 0 : Math.max(a.dense, b.dense) / total,
      phrases:
        neighbourTotal === 0
          ? 0.3
          : sum(neighbours.map(({ pair, weight }) => (near(pair) ? weight : 0))) / neighbourTotal,
      missing: count(held, (of) => (isMissing(of) ? 1 : 0)),
      missingInSource: count(inSource, (of) => (isMissing(of) ? 1 : 0)),
      telling: count(held, (of, { kind }) => (kind === "telling" ? of : 0)),
      missingSpecific: sum(specific.map((of, at) => of * (1 - held[at]!))),
      specificAround: specificTotal === 0 ? 0.7 : sum(specific.map((of, at) => of * around[at]!)) / specificTotal,
      namesInSource: weigh(inSource, ({ named }) => named) ?? 0.9,
      numbersInSource: weigh(inSource, ({ kind }) => kind === "number") ?? 0.9,
      missingNumbers: count(around, (of, { kind }) => (kind === "number" ? 1 - of : 0)),
      time: Math.max(a.time, b.time),
      rank: Math.min(lowestRank, rank),
      unspaced: asked.filter(({ words }) => words < 1).length / Math.max(1, asked.length),
      length: Math.log1p(a.length + (first === last ? 0 : b.length)),
      asked: Math.log1p(sum(asked.map(({ words }) => words))),
    };
  };
}

/** Share of the weight of some words that is held; `undefined` when there are no such words. */
function share(asked: readonly AskedWord[], held: Held, of: (word: AskedWord) => boolean): number | undefined {
  let total = 0;
  let covered = 0;
  for (const [at, word] of asked.entries()) {
    if (!of(word)) continue;
    total += word.weight;
    covered += word.weight * held[at]!;
  }
  return total === 0 ? undefined : covered / total;
}

function pairWeight(weights: ReadonlyMap<string, number>, one: string, other: string): number {
  return Math.min(weights.get(one) ?? 0, weights.get(other) ?? 0) + 0.05;
}

/** The most weight of distinct terms that stands within `denseReach` words. */
function densest(words: readonly string[], weights: ReadonlyMap<string, number>): number {
  const places = [...words.entries()].filter(([, term]) => weights.has(term));
  let most = 0;
  for (const [from, [start]] of places.entries()) {
    const seen = new Set<string>();
    let weight = 0;
    for (const [at, term] of places.slice(from)) {
      if (at - start > denseReach) break;
      if (!seen.has(term)) weight += weights.get(term) ?? 0;
      seen.add(term);
    }
    most = Math.max(most, weight);
  }
  return most;
}

/** Every two terms of which the second follows the first at most `phraseReach` places behind. */
function nearPairs(words: readonly string[]): ReadonlySet<string> {
  const pairs = new Set<string>();
  for (const [at, first] of words.entries()) {
    for (const second of words.slice(at + 1, at + 1 + phraseReach)) pairs.add(`${first} ${second}`);
  }
  return pairs;
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
