import { terms } from "./terms.js";

/** Words at most this far apart count as standing together; the further, the less. */
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
  return found.slice(1).flatMap((term, at) => (found[at] === term ? [] : [[found[at]!, term] as const]));
}

/**
 * For each text, how close together the question's neighbouring words stand in it, 0 to 1; words that few of the texts hold count
 * for more. `undefined` for a question without two neighbouring terms.
 */
export function wordCloseness(question: string, texts: readonly string[]): readonly number[] | undefined {
  const pairs = neighbours(terms(question));
  if (pairs.length === 0) return undefined;
  const asked = new Set(pairs.flat());
  const all = texts.map((text) => positionsIn(text, asked));
  const weights = new Map(
    [...asked].map((term) => {
      const holding = all.filter((positions) => positions.has(term)).length;
      return [term, Math.log(1 + (2 * texts.length) / (holding + 1))] as const;
    }),
  );
  const weigh = ([a, b]: readonly [string, string]) => Math.min(weights.get(a)!, weights.get(b)!);
  const total = pairs.reduce((sum, pair) => sum + weigh(pair), 0);
  return all.map((positions) => {
    const closeOf = (pair: readonly [string, string]) => closeness(positions.get(pair[0]), positions.get(pair[1]));
    return pairs.reduce((sum, pair) => sum + weigh(pair) * closeOf(pair), 0) / total;
  });
}

function positionsIn(text: string, wanted: ReadonlySet<string>): ReadonlyMap<string, readonly number[]> {
  const positions = new Map<string, number[]>();
  for (const [position, term] of terms(text).entries()) {
    if (!wanted.has(term)) continue;
    const known = positions.get(term);
    if (known) known.push(position);
    else positions.set(term, [position]);
  }
  return positions;
}
