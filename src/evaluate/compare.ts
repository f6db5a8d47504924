import { OptionsError } from "../core/errors.js";
import { metricNames, type MetricName, type Scores } from "./evaluate.js";
import { bootstrapInterval, byName, type Interval, mean, randomisationTest } from "./statistics.js";

export interface MetricChange {
  /** Mean of the baseline over the common queries. */
  readonly baseline: number;
  /** Mean difference to the baseline; negative is worse. */
  readonly difference: number;
  /** 95 % interval of the difference, by a bootstrap over the pairs: how far it would move with other queries of the same kind. */
  readonly interval: Interval;
  /** Probability of so large a difference by chance. */
  readonly p: number;
  /** `same` unless `p` is below the comparison's `threshold`. */
  readonly verdict: "better" | "worse" | "same";
}

export interface Comparison {
  /** Number of queries that both evaluations asked. */
  readonly queries: number;
  /** Each metric's change, over the common queries. */
  readonly metrics: Readonly<Record<MetricName, MetricChange>>;
  /** A difference is significant where `p` is below this: 0.05 divided by the number of metrics. */
  readonly threshold: number;
  /** True when any metric is significantly worse. */
  readonly worse: boolean;
}

/** Probability of calling two alike systems different on any metric. */
const significance = 0.05;

/**
 * Compares two evaluations query by query. A metric is called better or worse at a level of 0.05 divided by the number of
 * metrics (Bonferroni), since several metrics find a difference by chance more often than one.
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
  const threshold = significance / metricNames.length;
  const metrics = byName(metricNames, (metric): MetricChange => {
    const differences = pairs.map(({ now, before }) => now[metric] - before[metric]);
    const difference = mean(differences);
    const p = randomisationTest(differences);
    const significant = p < threshold;
    const verdict = !significant ? "same" : difference < 0 ? "worse" : "better";
    const interval = bootstrapInterval(differences);
    return { baseline: mean(pairs.map(({ before }) => before[metric])), difference, interval, p, verdict };
  });
  const worse = metricNames.some((metric) => metrics[metric].verdict === "worse");
  return { queries: pairs.length, metrics, threshold, worse };
}
