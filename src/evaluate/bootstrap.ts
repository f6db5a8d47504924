import { seededRandom } from "../text/random.js";

/** Low and high end. */
export type Interval = readonly [low: number, high: number];

export interface BootstrapOptions {
  /** Default: 2,000. */
  readonly resamples?: number;
  /** Default: 0.95. */
  readonly confidence?: number;
  /** Default: 1. The same seed gives the same interval. */
  readonly seed?: number;
}

/**
 * Interval of the mean of `values`: how far it would move had other queries of the same kind been asked. The percentile
 * bootstrap of Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.
 */
export function bootstrapInterval(values: readonly number[], options: BootstrapOptions = {}): Interval {
  const { resamples = 2000, confidence = 0.95, seed = 1 } = options;
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

/** The value below which this share of `sorted` lies, interpolated between neighbours; NaN of nothing. */
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
