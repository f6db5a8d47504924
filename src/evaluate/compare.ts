import { OptionsError } from "../core/errors.js";
import { metricNames, type MetricName, type Scores } from "./evaluate.js";
import { byName, mean, randomisationTest } from "./statistics.js";

export interface MetricChange {
  /** Mean of the baseline over the common queries. */
  readonly baseline: number;
  /** Mean difference to the baseline; negative is worse. */
  readonly difference: number;
  /** Probability of so large a difference by chance. */
  readonly p: number;
  /** `same` unless the difference is significant. */
  readonly verdict: "better" | "worse" | "same";
}

export interface Comparison {
  /** Number of queries that both evaluations asked. */
  readonly queries: number;
  /** Each metric's change, over the common queries. */
  readonly metrics: Readonly<Record<MetricName, MetricChange>>;
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
  const metrics = byName(metricNames, (metric): MetricChange => {
    const differences = pairs.map(({ now, before }) => now[metric] - before[metric]);
    const difference = mean(differences);
    const p = randomisationTest(differences);
    const significant = p < significance / metricNames.length;
    const verdict = !significant ? "same" : difference < 0 ? "worse" : "better";
    return { baseline: mean(pairs.map(({ before }) => before[metric])), difference, p, verdict };
  });
  return { queries: pairs.length, metrics, worse: metricNames.some((metric) => metrics[metric].verdict === "worse") };
}
