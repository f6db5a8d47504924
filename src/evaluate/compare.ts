import { OptionsError } from "../core/errors.js";
import { metricNames, type MetricName, type Scores } from "./evaluate.js";
import { normalQuantile } from "./normal-quantile.js";
import { bootstrapInterval, byName, type Interval, mean, randomisationTest } from "./statistics.js";

export interface MetricChange {
  /** Mean of the baseline over the common queries. */
  readonly baseline: number;
  /** Mean difference to the baseline; negative is worse. */
  readonly difference: number;
  /** 95 % interval of the difference, by a bootstrap over the pairs: how far it would move with other queries of the same kind. */
  readonly interval: Interval;
  /** Probability of so large a difference by chance, for this metric alone. */
  readonly p: number;
  /** `p` corrected for the number of metrics (Holm, 1979): this is what has to be below the comparison's `threshold`. */
  readonly correctedP: number;
  /** `same` unless `correctedP` is below the comparison's `threshold`. */
  readonly verdict: "better" | "worse" | "same";
  /** Smallest difference that so many queries tell from chance in four of five cases. */
  readonly detectable: number;
  /**
   * Number of queries, those asked included, with which a difference as large as this one would be told from chance in four
   * of five cases. `undefined` without a difference, and where the verdict is clear already.
   */
  readonly queriesNeeded: number | undefined;
}

export interface Comparison {
  /** Number of queries that both evaluations asked. */
  readonly queries: number;
  /** Each metric's change, over the common queries. */
  readonly metrics: Readonly<Record<MetricName, MetricChange>>;
  /** A difference is significant where `correctedP` is below this: 0.05. */
  readonly threshold: number;
  /** True when any metric is significantly worse. */
  readonly worse: boolean;
}

/** Probability of calling two alike systems different on any metric. */
export const significance = 0.05;

/** Share of real differences that should be told from chance, for counts of queries: the usual one. */
const power = 0.8;

/**
 * Compares two evaluations query by query. Metrics are called better or worse at a level of 0.05 for all of them together
 * (Holm's correction), since several metrics find a difference by chance more often than one.
 *
 * @param scores of the new evaluation, by query id.
 * @throws OptionsError when they have no query in common.
 * @example
 * ```ts
 * import { compare, evaluate, type JudgedQuery } from "citewell/evaluate";
 * type Rank = (query: JudgedQuery) => Promise<readonly string[]>;
 * export async function isWorse(queries: readonly JudgedQuery[], rank: Rank, baseline: Rank) {
 *   const [now, before] = [await evaluate(queries, rank), await evaluate(queries, baseline)];
 *   return compare(now.scores, before.scores).worse;
 * }
 * ```
 */
export function compare(scores: ReadonlyMap<string, Scores>, baseline: ReadonlyMap<string, Scores>): Comparison {
  const pairs = [...scores].flatMap(([id, now]) => {
    const before = baseline.get(id);
    return before ? [{ now, before }] : [];
  });
  if (pairs.length === 0) {
    throw new OptionsError(
      "options",
      "The baseline has no query in common with this evaluation. Compare evaluations of the same collection",
    );
  }
  const metrics = compareMetrics(metricNames, pairs);
  const worse = metricNames.some((metric) => metrics[metric].verdict === "worse");
  return { queries: pairs.length, metrics, threshold: significance, worse };
}

/** The change of each metric over pairs of scores, corrected for the number of metrics. */
export function compareMetrics<Name extends string>(
  names: readonly Name[],
  pairs: readonly { readonly now: Readonly<Record<Name, number>>; readonly before: Readonly<Record<Name, number>> }[],
): Record<Name, MetricChange> {
  const differences = byName(names, (name) => pairs.map(({ now, before }) => now[name] - before[name]));
  const p = byName(names, (name) => randomisationTest(differences[name]));
  const corrected = holm(names.map((name) => p[name]));
  // Holm's first and strictest step, so that a count of queries promises no more than it keeps.
  const strictest = significance / names.length;
  return byName(names, (name): MetricChange => {
    const difference = mean(differences[name]);
    const correctedP = corrected[names.indexOf(name)]!;
    const verdict = correctedP >= significance ? "same" : difference < 0 ? "worse" : "better";
    return {
      baseline: mean(pairs.map(({ before }) => before[name])),
      difference,
      interval: bootstrapInterval(differences[name]),
      p: p[name],
      correctedP,
      verdict,
      detectable: detectable(differences[name], strictest),
      queriesNeeded: verdict === "same" ? queriesNeeded(differences[name], strictest) : undefined,
    };
  });
}

/**
 * Probabilities corrected for their number: the smallest is multiplied by the count, the next by one less, and so on, and none
 * becomes smaller than one before it. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", 1979.
 */
export function holm(probabilities: readonly number[]): readonly number[] {
  const corrected = probabilities.map(() => 0);
  let most = 0;
  const ascending = probabilities.map((p, index) => ({ p, index })).toSorted((a, b) => a.p - b.p);
  for (const [step, { p, index }] of ascending.entries()) {
    most = Math.max(most, Math.min(1, p * (probabilities.length - step)));
    corrected[index] = most;
  }
  return corrected;
}

/** Standard errors that a difference must be away from zero to be told from chance as often as `power` says. */
function requiredErrors(level: number): number {
  return normalQuantile(1 - level / 2) + normalQuantile(power);
}

function detectable(differences: readonly number[], level: number): number {
  return requiredErrors(level) * Math.sqrt(variance(differences) / differences.length);
}

function queriesNeeded(differences: readonly number[], level: number): number | undefined {
  const difference = mean(differences);
  if (difference === 0 || differences.length < 2) return undefined;
  const needed = (requiredErrors(level) ** 2 * variance(differences)) / difference ** 2;
  // The verdict on these queries is known: it takes one more at least.
  return Math.max(differences.length + 1, Math.ceil(needed));
}

function variance(values: readonly number[]): number {
  const middle = mean(values);
  return values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / Math.max(1, values.length - 1);
}
