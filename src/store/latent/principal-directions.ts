import { seededRandom } from "../../core/random.js";

/** A matrix most of whose numbers are 0: those of row r stand at `starts[r]` up to `starts[r + 1]`. */
export interface SparseRows {
  readonly starts: Uint32Array;
  readonly columns: Uint32Array;
  readonly values: Float64Array;
  /** Number of columns. */
  readonly width: number;
}

/** How often the directions are multiplied by the matrix and its transpose: more changes them little. */
const rounds = 2;

/**
 * Orthonormal directions that explain as much of the rows as so many can: the first right singular vectors, up to a
 * rotation among them, by which no cosine changes. Orthogonal iteration from a random start, the same for the same rows:
 * Halko, Martinsson and Tropp, "Finding structure with randomness", SIAM Review 53(2), 2011. Pauses after short steps.
 */
export function* principalDirections(rows: SparseRows, count: number): Generator<void, Float64Array[]> {
  const random = seededRandom(1);
  const height = rows.starts.length - 1;
  let left: readonly Float64Array[] = Array.from({ length: count }, () =>
    Float64Array.from({ length: height }, () => random() - 0.5),
  );
  for (let round = 0; round < rounds; round++) {
    yield* orthonormalise(left);
    left = yield* mapInSteps(left, (vector) => times(rows, transposedTimes(rows, vector)));
  }
  yield* orthonormalise(left);
  const right = yield* mapInSteps(left, (vector) => transposedTimes(rows, vector));
  yield* orthonormalise(right);
  return right;
}

/** Share of the squared lengths of all rows that lies within orthonormal directions, 0 to 1. */
export function* explainedShare(rows: SparseRows, directions: readonly Float64Array[]): Generator<void, number> {
  const total = dot(rows.values, rows.values);
  let within = 0;
  for (const direction of directions) {
    const parts = times(rows, direction);
    within += dot(parts, parts);
    yield;
  }
  return total > 0 ? Math.min(1, within / total) : 0;
}

function* mapInSteps(vectors: readonly Float64Array[], change: (vector: Float64Array) => Float64Array) {
  const changed: Float64Array[] = [];
  for (const vector of vectors) {
    changed.push(change(vector));
    yield;
  }
  return changed;
}

function times({ starts, columns, values }: SparseRows, vector: Float64Array): Float64Array {
  const product = new Float64Array(starts.length - 1);
  for (let row = 0; row < product.length; row++) {
    let sum = 0;
    for (let index = starts[row]!; index < starts[row + 1]!; index++) sum += values[index]! * vector[columns[index]!]!;
    product[row] = sum;
  }
  return product;
}

function transposedTimes({ starts, columns, values, width }: SparseRows, vector: Float64Array): Float64Array {
  const product = new Float64Array(width);
  for (let row = 0; row < vector.length; row++) {
    const factor = vector[row]!;
    for (let index = starts[row]!; index < starts[row + 1]!; index++)
      product[columns[index]!]! += values[index]! * factor;
  }
  return product;
}

/** Makes vectors orthogonal and of length 1, in place, by Gram and Schmidt; one that others make up becomes 0. */
function* orthonormalise(vectors: readonly Float64Array[]): Generator<void> {
  for (const [index, vector] of vectors.entries()) {
    const before = dot(vector, vector);
    for (const other of vectors.slice(0, index)) {
      addTimes(vector, other, -dot(vector, other));
      yield;
    }
    const squared = dot(vector, vector);
    const scale = squared > 1e-20 * before ? 1 / Math.sqrt(squared) : 0;
    for (let place = 0; place < vector.length; place++) vector[place]! *= scale;
  }
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += a[index]! * b[index]!;
  return sum;
}

function addTimes(vector: Float64Array, other: Float64Array, factor: number): void {
  for (let index = 0; index < vector.length; index++) vector[index]! += factor * other[index]!;
}
