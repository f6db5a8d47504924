import { terms } from "../../text/terms.js";
import { rarity } from "../rarity.js";

/** BM25's parameters; passages are short, so that repetition counts for more than in whole documents. */
const saturation = 2;
const lengthCorrection = 0.75;

/** Passages that the static rarity counts for beside the given ones, so that the statistics of few passages stay sane. */
const priorPassages = 60;

/** Share of neighbouring query words standing together, beside the words themselves (Metzler and Croft, SIGIR 2005). */
const phraseWeight = 0.6;
/** Words at most this far apart count as standing together; the further, the less. */
const nearTerms = 6;

/** Part of a score that is lost when a passage covers none of the query's weight. */
const coverageShare = 0.1;

/** A text as scoring reads it. */
export interface IndexedPassage {
  readonly length: number;
  /** Positions of the query's terms, rising. */
  readonly positions: ReadonlyMap<string, readonly number[]>;
}

export interface PreparedQuery {
  /** Distinct terms, in the query's order. */
  readonly terms: readonly string[];
  /** Neighbours in the query. */
  readonly pairs: readonly (readonly [string, string])[];
}

export function prepareQuery(query: string): PreparedQuery {
  const found = terms(query);
  const pairs = found.slice(1).map((term, index) => [found[index] ?? "", term] as const);
  return { terms: [...new Set(found)], pairs: pairs.filter(([a, b]) => a !== b) };
}

/** Reads a passage once, keeping only what the query asks about. */
export function indexPassage(text: string, wanted: ReadonlySet<string>): IndexedPassage {
  const positions = new Map<string, number[]>();
  const found = terms(text);
  for (const [position, term] of found.entries()) {
    if (!wanted.has(term)) continue;
    const known = positions.get(term);
    if (known) known.push(position);
    else positions.set(term, [position]);
  }
  return { length: found.length, positions };
}

/**
 * What each passage says about the query: 0 for nothing, near 1 for all of its words, often and close together. BM25
 * over the given passages, its rarities smoothed by what is known of the words themselves, with shares for words
 * that stand together and for how much of the query is covered.
 */
export function relevance(query: PreparedQuery, passages: readonly IndexedPassage[]): readonly number[] {
  const weights = new Map(query.terms.map((term) => [term, weight(term, passages)] as const));
  const total = sum(weights.values());
  if (total === 0) return passages.map(() => 0);
  const pairTotal = sum(query.pairs.map((pair) => pairWeight(pair, weights)));
  const meanLength = Math.max(1, sum(passages.map(({ length }) => length)) / Math.max(1, passages.length));
  return passages.map(({ length, positions }) => {
    const norm = saturation * (1 - lengthCorrection + (lengthCorrection * length) / meanLength);
    let words = 0;
    let covered = 0;
    for (const [term, termWeight] of weights) {
      const count = positions.get(term)?.length ?? 0;
      if (count === 0) continue;
      words += (termWeight * count * (saturation + 1)) / (count + norm);
      covered += termWeight;
    }
    const together = sum(query.pairs.map((pair) => pairWeight(pair, weights) * closeness(pair, positions)));
    const perWord = words / total;
    const score = perWord + (pairTotal === 0 ? 0 : phraseWeight * (together / pairTotal));
    const coverage = 1 - coverageShare + (coverageShare * covered) / total;
    return squashed(score * coverage);
  });
}

function weight(term: string, passages: readonly IndexedPassage[]): number {
  const known = rarity(term);
  const expected = priorPassages * Math.exp(-5 * known);
  const holding = passages.reduce((count, { positions }) => count + (positions.has(term) ? 1 : 0), 0) + expected;
  const all = passages.length + priorPassages;
  return Math.sqrt(known) * Math.log(1 + (all - holding + 0.5) / (holding + 0.5));
}

function pairWeight([a, b]: readonly [string, string], weights: ReadonlyMap<string, number>): number {
  return Math.min(weights.get(a) ?? 0, weights.get(b) ?? 0);
}

/** 1 for neighbours in the query's order, less for words further apart or the other way round, 0 beyond `nearTerms`. */
function closeness([a, b]: readonly [string, string], positions: IndexedPassage["positions"]): number {
  const first = positions.get(a);
  const second = positions.get(b);
  if (first === undefined || second === undefined) return 0;
  let best = 0;
  for (let i = 0, j = 0; i < first.length && j < second.length;) {
    const gap = (second[j] ?? 0) - (first[i] ?? 0);
    const distance = gap > 0 ? gap : 1 - gap;
    if (distance <= nearTerms) best = Math.max(best, 1 / distance);
    if (gap > 0) i++;
    else j++;
  }
  return best;
}

/** Maps 0 and up onto 0 up to 1; a passage with every word once, scattered, comes to about a half. */
function squashed(score: number): number {
  return 1 - Math.exp(-0.7 * score);
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
