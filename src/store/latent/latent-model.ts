import { explainedShare, principalDirections, type SparseRows } from "./principal-directions.js";

/** How often each term occurs in a text. */
export type TermCounts = ReadonlyMap<string, number>;

/** Directions in the space of terms, along which the texts that it was trained on differ most. */
export interface LatentModel {
  readonly dimension: number;
  /** Number of each term. */
  readonly numbers: ReadonlyMap<string, number>;
  /** Rarity of each term in the sample, by the term's number. */
  readonly weights: Float32Array;
  /** Coordinate of each term in each direction: one row per term, by the term's number. */
  readonly places: Float32Array;
  /** Share of the sample's variance that the directions explain, 0 to 1. */
  readonly explained: number;
}

/** Directions of a model: on the training questions of five collections 64, 128 and 256 rank alike. */
const maxDimension = 128;
/** Texts for each direction, so that the directions are not the texts themselves. */
const textsPerDirection = 4;

/**
 * Latent semantic analysis of a sample of texts: texts whose words occur together elsewhere come near one another, though
 * they share none. Deerwester et al., "Indexing by latent semantic analysis", JASIS 41(6), 1990. Terms of one text alone
 * say nothing about others and are left out. Pauses after short steps.
 */
export function* trainLatentModel(sample: readonly TermCounts[]): Generator<void, LatentModel> {
  const textsWith = new Map<string, number>();
  for (const counts of sample) {
    for (const term of counts.keys()) textsWith.set(term, (textsWith.get(term) ?? 0) + 1);
    yield;
  }
  const kept = [...textsWith].filter(([, texts]) => texts > 1);
  const numbers = new Map(kept.map(([term], number) => [term, number]));
  const weights = Float32Array.from(kept, ([, texts]) => Math.log((sample.length + 1) / (texts + 0.5)));
  const dimension = Math.max(1, Math.min(maxDimension, Math.floor(sample.length / textsPerDirection)));
  const rows = yield* matrixOf(sample, { numbers, weights });
  const directions = yield* principalDirections(rows, dimension);
  const explained = yield* explainedShare(rows, directions);
  const places = new Float32Array(weights.length * dimension);
  for (const [index, direction] of directions.entries()) {
    for (let number = 0; number < weights.length; number++) places[number * dimension + index] = direction[number]!;
    yield;
  }
  return { dimension, numbers, weights, places, explained };
}

/** Where a text lies along the directions; `undefined` for one without a term of the model. */
export function latentVector(
  { dimension, numbers, weights, places }: LatentModel,
  counts: TermCounts,
): Float32Array | undefined {
  const vector = new Float32Array(dimension);
  for (const [number, value] of weighed(counts, numbers, weights)) {
    const row = number * dimension;
    for (let index = 0; index < dimension; index++) vector[index]! += value * places[row + index]!;
  }
  return vector.some((part) => part !== 0) ? vector : undefined;
}

/** Each text as a row of length 1. */
function* matrixOf(
  sample: readonly TermCounts[],
  { numbers, weights }: Pick<LatentModel, "numbers" | "weights">,
): Generator<void, SparseRows> {
  const starts = new Uint32Array(sample.length + 1);
  const columns: number[] = [];
  const values: number[] = [];
  for (const [row, counts] of sample.entries()) {
    const parts = weighed(counts, numbers, weights);
    const length = Math.sqrt(parts.reduce((sum, [, value]) => sum + value * value, 0));
    for (const [number, value] of parts) {
      columns.push(number);
      values.push(value / length);
    }
    starts[row + 1] = columns.length;
    yield;
  }
  return { starts, columns: Uint32Array.from(columns), values: Float64Array.from(values), width: weights.length };
}

/** The terms of a text that the model knows, by number, with their weight: repetitions count less and less. */
function weighed(counts: TermCounts, numbers: LatentModel["numbers"], weights: Float32Array): [number, number][] {
  const parts: [number, number][] = [];
  for (const [term, count] of counts) {
    const number = numbers.get(term);
    if (number !== undefined) parts.push([number, (count < 1 ? count : 1 + Math.log(count)) * weights[number]!]);
  }
  return parts;
}
