import { OptionsError } from "../errors.js";
import { mean } from "./bootstrap.js";
import { byMetric, metricNames, type MetricName, type Scores } from "./evaluate.js";
import { randomisationTest } from "./randomisation-test.js";

export interface MetricChange {
  /** Mean of the baseline over the queries that both asked. */
  readonly baseline: number;
  /** Mean difference to it; negative is worse. */
  readonly difference: number;
  /** How likely so large a difference is by chance. */
  readonly p: number;
  readonly verdict: "better" | "worse" | "same";
}

export interface Comparison {
  /** Queries that both asked. */
  readonly queries: number;
  readonly metrics: Readonly<Record<MetricName, MetricChange>>;
  /** True when any metric is significantly worse. */
  readonly worse: boolean;
}

/** Chance of calling two alike systems different on any metric. */
const significance = 0.05;

/**
 * Two evaluations, query by query. A metric is called better or worse at a level of 0.05 shared out among the metrics
 * (Bonferroni), so that looking at several does not find by chance what none would.
 *
 * @param scores Of the new evaluation, by query id; of the baseline likewise.
 * @throws OptionsError when they have no query in common.
 */
export function compare(scores: ReadonlyMap<string, Scores>, baseline: ReadonlyMap<string, Scores>): Comparison {
  const pairs = [...scores].flatMap(([id, now]) => {
    const before = baseline.get(id);
    return before ? [{ now, before }] : [];
  });
  if (pairs.length === 0) {
    throw new OptionsError("options", "The baseline has no query in common with this evaluation: nothing to compare");
  }
  const metrics = byMetric((metric): MetricChange => {
    const differences = pairs.map(({ now, before }) => now[metric] - before[metric]);
    const difference = mean(differences);
    const p = randomisationTest(differences);
    const significant = p < significance / metricNames.length;
    const verdict = !significant ? "same" : difference < 0 ? "worse" : "better";
    return { baseline: mean(pairs.map(({ before }) => before[metric])), difference, p, verdict };
  });
  return { queries: pairs.length, metrics, worse: metricNames.some((metric) => metrics[metric].verdict === "worse") };
}
