import { bootstrapInterval, mean, quantile, type Interval } from "./bootstrap.js";
import type { JudgedQuery } from "./collection.js";
import { averagePrecision, ndcg, recall, reciprocalRank, type Judgements } from "./metrics.js";

/** How many documents a ranking should have for the measures to be what their names say. */
export const rankingDepth = 100;

const measures = {
  "ndcg@10": (ranking: readonly string[], judgements: Judgements) => ndcg(ranking, judgements, 10),
  "recall@100": (ranking: readonly string[], judgements: Judgements) => recall(ranking, judgements, 100),
  "mrr@10": (ranking: readonly string[], judgements: Judgements) => reciprocalRank(ranking, judgements, 10),
  map: averagePrecision,
} as const;

/** `map` is over the documents that were ranked, 100 where there are so many. */
export type MetricName = keyof typeof measures;
export const metricNames = Object.keys(measures) as readonly MetricName[];

export type Scores = Readonly<Record<MetricName, number>>;

/** What a way of searching came to over a set of queries. */
export interface Evaluation {
  /** Queries asked. */
  readonly queries: number;
  /** Means over the queries. */
  readonly metrics: Scores;
  /** 95 % intervals of the means. */
  readonly intervals: Readonly<Record<MetricName, Interval>>;
  /** Of one ranking each, in milliseconds, queries one after another. */
  readonly latencyMs: { readonly p50: number; readonly p95: number };
  /** By query id. */
  readonly scores: ReadonlyMap<string, Scores>;
}

export interface EvaluateOptions {
  /** Told after each query. */
  readonly onProgress?: (queriesDone: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * Ranks documents for each query, one after another, and compares with the judgements.
 *
 * @param rank Document ids for a query, best first, each once; at least 100 where there are so many.
 */
export async function evaluate(
  queries: readonly JudgedQuery[],
  rank: (query: JudgedQuery) => Promise<readonly string[]>,
  { onProgress, signal }: EvaluateOptions = {},
): Promise<Evaluation> {
  const scores = new Map<string, Scores>();
  const durationsMs: number[] = [];
  for (const query of queries) {
    signal?.throwIfAborted();
    const startedAt = performance.now();
    const ranking = await rank(query);
    durationsMs.push(performance.now() - startedAt);
    scores.set(
      query.id,
      byMetric((metric) => measures[metric](ranking, query.judgements)),
    );
    onProgress?.(scores.size);
  }
  durationsMs.sort((a, b) => a - b);
  const values = byMetric((metric) => [...scores.values()].map((ofQuery) => ofQuery[metric]));
  return {
    queries: scores.size,
    metrics: byMetric((metric) => mean(values[metric])),
    intervals: byMetric((metric) => bootstrapInterval(values[metric])),
    latencyMs: { p50: quantile(durationsMs, 0.5), p95: quantile(durationsMs, 0.95) },
    scores,
  };
}

export function byMetric<Value>(of: (metric: MetricName) => Value): Record<MetricName, Value> {
  return Object.fromEntries(metricNames.map((metric) => [metric, of(metric)])) as Record<MetricName, Value>;
}
