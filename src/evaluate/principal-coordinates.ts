import { seededRandom } from "../core/random.js";

/** Places of vectors in the plane in which they differ most. */
export interface PrincipalCoordinates {
  /** One for each vector. */
  readonly points: readonly (readonly [x: number, y: number])[];
  /** Share of the vectors' variance that each of the two directions has, 0 to 1. */
  readonly explained: readonly [number, number];
}

const maxIterations = 100;

/**
 * The first two principal components of vectors of one length, each scaled to length 1, as search compares them by angle.
 * Found by power iteration: a few hundred passes over the vectors, for any dimension, and no matrix of the dimension's square.
 */
export function principalCoordinates(vectors: readonly Float32Array[]): PrincipalCoordinates {
  const rows = centred(vectors.map(unit));
  const variance = rows.reduce((sum, row) => sum + dot(row, row), 0);
  const dimension = rows[0]?.length ?? 0;
  const random = seededRandom(1);
  const axes: Float64Array[] = [];
  const explained = [0, 1].map(() => {
    const { axis, variance: along } = dominantAxis(rows, axes, Float64Array.from({ length: dimension }, random));
    axes.push(axis);
    return variance > 0 ? along / variance : 0;
  });
  const points = rows.map((row) => [dot(row, axes[0]!), dot(row, axes[1]!)] as const);
  return { points, explained: [explained[0]!, explained[1]!] };
}

/** The direction of most variance among those at right angles to `others`. */
function dominantAxis(rows: readonly Float64Array[], others: readonly Float64Array[], start: Float64Array) {
  let axis = start;
  let variance = 0;
  for (let iteration = 0; iteration < maxIterations; iteration++) {
    const next = new Float64Array(axis.length);
    for (const row of rows) addScaled(next, row, dot(row, axis));
    for (const other of others) addScaled(next, other, -dot(next, other));
    const length = Math.sqrt(dot(next, next));
    // Nothing is left to differ in. What rounding leaves has no direction worth drawing.
    if (length < 1e-12) return { axis: new Float64Array(axis.length), variance: 0 };
    axis = next.map((component) => component / length);
    const isSettled = iteration > 0 && Math.abs(length - variance) < 1e-9 * length;
    variance = length;
    if (isSettled) break;
  }
  return { axis, variance };
}

function unit(vector: Float32Array): Float64Array {
  const row = Float64Array.from(vector);
  const length = Math.sqrt(dot(row, row)) || 1;
  return row.map((component) => component / length);
}

function centred(rows: readonly Float64Array[]): readonly Float64Array[] {
  const mean = new Float64Array(rows[0]?.length ?? 0);
  for (const row of rows) addScaled(mean, row, 1 / rows.length);
  for (const row of rows) addScaled(row, mean, -1);
  return rows;
}

function addScaled(target: Float64Array, source: Float64Array, factor: number): void {
  for (let index = 0; index < target.length; index++) target[index]! += factor * source[index]!;
}

function dot(left: Float64Array, right: Float64Array): number {
  let sum = 0;
  for (let index = 0; index < left.length; index++) sum += left[index]! * right[index]!;
  return sum;
}
