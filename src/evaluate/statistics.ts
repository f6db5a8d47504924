import { z } from "zod";
import { optionsOf, resolve } from "../core/options.js";
import { seededRandom } from "../core/random.js";

/** Low and high end. */
export type Interval = readonly [low: number, high: number];

export interface BootstrapOptions {
  /** Samples to draw, 1 or more. Default: 2,000. */
  readonly resamples?: number;
  /** Share of the samples' means inside the interval, above 0 and below 1. Default: 0.95. */
  readonly confidence?: number;
  /** Seed of the samples: the same seed gives the same interval. Default: 1. */
  readonly seed?: number;
}

const bootstrapOptions = optionsOf<BootstrapOptions>()({
  resamples: z.int().min(1).default(2000),
  confidence: z.number().gt(0).lt(1).default(0.95),
  seed: z.number().default(1),
});

/**
 * Interval of the mean of `values`: how far it would move if other queries of the same kind were asked. The percentile
 * bootstrap of Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.
 *
 * @example
 * ```ts
 * import { bootstrapInterval } from "citewell/evaluate";
 * const [low, high] = bootstrapInterval([1, 0, 0.5, 1, 0.63], { confidence: 0.9 });
 * ```
 */
export function bootstrapInterval(values: readonly number[], options: BootstrapOptions = {}): Interval {
  const { resamples, confidence, seed } = resolve("bootstrapInterval", bootstrapOptions, options);
  if (values.length === 0) return [0, 0];
  const random = seededRandom(seed);
  const means = new Float64Array(resamples);
  for (let resample = 0; resample < resamples; resample++) {
    let sum = 0;
    for (let drawn = 0; drawn < values.length; drawn++) sum += values[Math.floor(random() * values.length)]!;
    means[resample] = sum / values.length;
  }
  means.sort();
  const outside = (1 - confidence) / 2;
  return [quantile(means, outside), quantile(means, 1 - outside)];
}

/** The value below which this share of `sorted` lies, interpolated between neighbours; NaN without values. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const low = sorted[below] ?? NaN;
  const high = sorted[Math.ceil(place)] ?? NaN;
  return low + (high - low) * (place - below);
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Median and 95th percentile of durations. */
export function latency(durationsMs: readonly number[]): { readonly p50: number; readonly p95: number } {
  const sorted = durationsMs.toSorted((a, b) => a - b);
  return { p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95) };
}

/** An object with a value for each name. */
export function byName<Name extends string, Value>(
  names: readonly Name[],
  valueOf: (name: Name) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, Value>;
}

/** Means of scores by name, each with its 95 % interval. */
export function summarise<Name extends string>(
  names: readonly Name[],
  scores: Iterable<Readonly<Record<Name, number>>>,
): { readonly metrics: Record<Name, number>; readonly intervals: Record<Name, Interval> } {
  const all = [...scores];
  const values = byName(names, (name) => all.map((record) => record[name]));
  return {
    metrics: byName(names, (name) => mean(values[name])),
    intervals: byName(names, (name) => bootstrapInterval(values[name])),
  };
}

export interface RandomisationOptions {
  /** Draws of signs, 1 or more. Default: 10,000. */
  readonly trials?: number;
  /** Seed of the draws: the same seed gives the same result. Default: 1. */
  readonly seed?: number;
}

const randomisationOptions = optionsOf<RandomisationOptions>()({
  trials: z.int().min(1).default(10_000),
  seed: z.number().default(1),
});

/**
 * The probability of a mean difference at least as large, in either direction, if the two systems are alike: each
 * query's difference then has either sign with equal chance. The paired randomisation test recommended by Smucker, Allan
 * and Carterette, "A Comparison of Statistical Significance Tests for Information Retrieval Evaluation", CIKM 2007.
 *
 * @example
 * ```ts
 * import { randomisationTest } from "citewell/evaluate";
 * const probability = randomisationTest([0.2, 0.1, -0.05, 0.3, 0]);
 * ```
 */
export function randomisationTest(differences: readonly number[], options: RandomisationOptions = {}): number {
  const { trials, seed } = resolve("randomisationTest", randomisationOptions, options);
  const random = seededRandom(seed);
  // Zero stays zero with either sign.
  const nonZero = differences.filter((difference) => difference !== 0);
  const observed = Math.abs(nonZero.reduce((sum, difference) => sum + difference, 0));
  // Sums of the same numbers in another order differ in the last bits.
  const asLarge = observed - 1e-9 * Math.max(1, observed);
  let reached = 0;
  for (let trial = 0; trial < trials; trial++) {
    let sum = 0;
    for (const difference of nonZero) sum += random() < 0.5 ? difference : -difference;
    if (Math.abs(sum) >= asLarge) reached++;
  }
  // The observed outcome is one of the possible ones, so that p is never 0.
  return (reached + 1) / (trials + 1);
}
