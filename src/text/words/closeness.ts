import { eachTerm, subjectTerms } from "./terms.js";

/** Maximum distance of words that count as standing together; the further, the less. */
const nearTerms = 6;

/** 1 for neighbours in this order, less for words further apart or the other way round, 0 beyond `nearTerms`. Positions rise. */
export function closeness(first: readonly number[] = [], second: readonly number[] = []): number {
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

/** Neighbours in a list of terms, but for a term beside itself. */
export function neighbours(found: readonly string[]): readonly (readonly [string, string])[] {
  return found.slice(1).flatMap((term, index) => (found[index] === term ? [] : [[found[index]!, term] as const]));
}

/**
 * For each text, how close together the question's neighbouring words stand in it, 0 to 1, but for its function words; words that
 * few of the texts hold count for more. `undefined` for a question without two neighbouring terms.
 */
export function wordCloseness(question: string, texts: readonly string[]): readonly number[] | undefined {
  const pairs = neighbours(subjectTerms(question));
  if (pairs.length === 0) return undefined;
  const asked = new Map(pairs.flat().map((term) => [term, [term]]));
  const all = texts.map((text) => positionsIn(text, asked));
  const weights = new Map(
    [...asked.keys()].map((term) => {
      const holding = all.filter((positions) => positions.has(term)).length;
      return [term, Math.log(1 + (2 * texts.length) / (holding + 1))] as const;
    }),
  );
  return all.map((positions) => pairCloseness(pairs, positions, weights));
}

/** Share of the weight of pairs whose terms stand close together, 0 to 1. A pair weighs what its lighter term does. */
export function pairCloseness(
  pairs: readonly (readonly [string, string])[],
  positions: TermPositions,
  weights: ReadonlyMap<string, number>,
): number {
  let total = 0;
  let near = 0;
  for (const [first, second] of pairs) {
    const weight = Math.min(weights.get(first) ?? 0, weights.get(second) ?? 0);
    total += weight;
    near += weight * closeness(positions.get(first), positions.get(second));
  }
  return total === 0 ? 0 : near / total;
}

/** Positions of each wanted term among the terms of a text, rising. */
export type TermPositions = ReadonlyMap<string, readonly number[]>;

/** @param meant The wanted terms that each term stands for. */
export function positionsOf(found: readonly string[], meant: ReadonlyMap<string, readonly string[]>): TermPositions {
  const positions = new Map<string, number[]>();
  for (let position = 0; position < found.length; position++) note(positions, meant.get(found[position]!), position);
  return positions;
}

/** The same of the terms of a text. Hardly any of them are wanted: what is made for each is garbage, by which the process grows. */
function positionsIn(text: string, meant: ReadonlyMap<string, readonly string[]>): TermPositions {
  const positions = new Map<string, number[]>();
  let position = 0;
  eachTerm(text, (term) => note(positions, meant.get(term), position++));
  return positions;
}

function note(positions: Map<string, number[]>, wanted: readonly string[] | undefined, position: number): void {
  if (!wanted) return;
  for (const term of wanted) {
    const known = positions.get(term);
    if (known) known.push(position);
    else positions.set(term, [position]);
  }
}
