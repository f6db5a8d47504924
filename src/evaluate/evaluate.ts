import { types } from "node:util";
import { DocumentNames } from "./document-names.js";
import { shown } from "../core/check-port.js";
import { AnswerError, OptionsError } from "../core/errors.js";
import { abortSignal } from "../core/call-options.js";
import { isRecord } from "../core/json.js";
import { observerOption, optionsOf, resolve } from "../core/options.js";
import type { Hit } from "../core/types.js";
import { safeEnd } from "../text/blocks/cut-text.js";
import type { JudgedQuery } from "./collection.js";
import { averagePrecision, ndcg, recall, reciprocalRank, type Judgements } from "./metrics.js";
import { byName, latency, summarise, type Interval } from "./statistics.js";

/** Number of documents that a ranking needs for the measures to mean what their names say. */
export const rankingDepth = 100;

const measures = {
  "ndcg@10": (ranking: readonly string[], judgements: Judgements) => ndcg(ranking, judgements, 10),
  "recall@100": (ranking: readonly string[], judgements: Judgements) => recall(ranking, judgements, 100),
  "mrr@10": (ranking: readonly string[], judgements: Judgements) => reciprocalRank(ranking, judgements, 10),
  map: averagePrecision,
} as const;

/** `map` covers the documents that were ranked, 100 if there are so many. */
export type MetricName = keyof typeof measures;
export const metricNames = Object.keys(measures) as readonly MetricName[];

/** One score for each metric, 0 to 1. */
export type Scores = Readonly<Record<MetricName, number>>;

/** The result of a way of searching over a set of queries. */
export interface Evaluation {
  /** Number of queries asked. */
  readonly queries: number;
  /** Means over the queries. */
  readonly metrics: Scores;
  /** 95 % intervals of the means. */
  readonly intervals: Readonly<Record<MetricName, Interval>>;
  /** Time of one ranking, in milliseconds, with queries one after another. */
  readonly latencyMs: {
    /** Median, in milliseconds. */
    readonly p50: number;
    /** 95th percentile, in milliseconds. */
    readonly p95: number;
  };
  /** Time of each ranking, in milliseconds, in the order of the queries. */
  readonly durationsMs: readonly number[];
  /** Scores by query id. */
  readonly scores: ReadonlyMap<string, Scores>;
}

export interface EvaluateOptions {
  /** Called after each query. */
  readonly onProgress?: (queriesDone: number) => void;
  /** Stops the evaluation before the next query, and makes it throw the signal's `reason`. */
  readonly signal?: AbortSignal;
}

const evaluateOptions = optionsOf<EvaluateOptions>()({
  onProgress: observerOption<NonNullable<EvaluateOptions["onProgress"]>>("onProgress").optional(),
  signal: abortSignal.optional(),
});

/**
 * Ranks documents for each query, one after another, and compares the rankings with the judgements.
 *
 * @param rank Document ids for a query, best first, each once; at least 100 if there are so many.
 * @throws OptionsError when the rankings name documents in another way than the judgements, such as by uri instead of by id.
 * @example
 * ```ts
 * import { openKnowledgeBase } from "citewell";
 * import { evaluate, openCollection, rankDocuments } from "citewell/evaluate";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * const { queries, documentId } = await openCollection("./collection");
 * const { metrics } = await evaluate(queries, async ({ text }) => {
 *   const uris = await rankDocuments(async (count) => (await kb.search(text, { count })).hits, 100);
 *   return uris.map(documentId);
 * });
 * console.log(metrics["ndcg@10"]);
 * ```
 */
export async function evaluate(
  queries: readonly JudgedQuery[],
  rank: (query: JudgedQuery) => Promise<readonly string[]>,
  options: EvaluateOptions = {},
): Promise<Evaluation> {
  const { onProgress, signal } = resolve("evaluate", evaluateOptions, options);
  checkGiven(queries, rank);
  const scores = new Map<string, Scores>();
  const durationsMs: number[] = [];
  const names = new DocumentNames();
  for (const query of queries) {
    signal?.throwIfAborted();
    const startedAt = performance.now();
    const ranking: unknown = await rank(query);
    if (!isRanking(ranking)) {
      throw wrong("rank", `must return a list of documents' names, the best first (got ${shown(ranking)})`);
    }
    names.note(ranking, query);
    durationsMs.push(performance.now() - startedAt);
    scores.set(
      query.id,
      byName(metricNames, (metric) => measures[metric](ranking, query.judgements)),
    );
    onProgress?.(scores.size);
  }
  names.check();
  return {
    queries: scores.size,
    ...summarise(metricNames, scores.values()),
    latencyMs: latency(durationsMs),
    durationsMs,
    scores,
  };
}

/** Documents of hits, best first: each once, at the rank of its best chunk. */
export function documentsOf(hits: readonly Pick<Hit, "uri">[]): readonly string[] {
  return [...new Set(hits.map(({ uri }) => uri))];
}

/** Maximum number of hits of one search. */
const maxHits = 1000;

/**
 * The first `count` documents for a query. Asks a search of chunks for more until it gives so many documents, has no more,
 * or has given 1,000 chunks.
 *
 * @example
 * ```ts
 * import { openKnowledgeBase } from "citewell";
 * import { rankDocuments } from "citewell/evaluate";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * const uris = await rankDocuments(async (count) => (await kb.search("key rotation", { count })).hits, 10);
 * ```
 */
export async function rankDocuments(
  search: (limit: number) => Promise<readonly Pick<Hit, "uri">[]>,
  count: number,
): Promise<readonly string[]> {
  for (let limit = Math.min(maxHits, 2 * count); ; limit = Math.min(maxHits, 2 * limit)) {
    const hits = await search(limit);
    const documents = documentsOf(hits);
    if (documents.length >= count || hits.length < limit || limit === maxHits) return documents.slice(0, count);
  }
}

/**
 * Asks a query, or as much of its beginning as the models take: some collections have whole documents as queries, and one
 * of them must not end a measurement of thousands. Takes an eighth off the end at a time, between words if possible; a
 * query that is too long is refused before anything is sent, so retries cost no request.
 */
export async function shortenQuery<Result>(
  query: string,
  ask: (query: string) => Promise<Result>,
): Promise<{ readonly result: Result; readonly shortened: boolean }> {
  for (let text = query; ; text = withoutEnd(text)) {
    try {
      return { result: await ask(text), shortened: text !== query };
    } catch (error) {
      if (!(error instanceof AnswerError && error.code === "question-too-long") || text.length < 16) throw error;
    }
  }
}

function withoutEnd(text: string): string {
  const start = text.slice(0, safeEnd(text, Math.floor((text.length * 7) / 8)));
  const lastSpace = start.lastIndexOf(" ");
  return lastSpace > start.length / 2 ? start.slice(0, lastSpace) : start;
}

/** Other evaluations take the knowledge base first, and people give it here, too. */
function checkGiven(queries: unknown, rank: unknown): void {
  const isQuery = (query: unknown) =>
    isRecord(query) && typeof query["id"] === "string" && types.isMap(query["judgements"]);
  if (!Array.isArray(queries) || !queries.every(isQuery)) {
    const given = Array.isArray(queries)
      ? `${shown(queries.find((query) => !isQuery(query)))} among them`
      : shown(queries);
    throw wrong("queries", `must be a list of { id, text, judgements }, as openCollection() reads them (got ${given})`);
  }
  if (typeof rank !== "function") throw wrong("rank", `must be a function of a query (got ${shown(rank)})`);
}

function isRanking(given: unknown): given is readonly string[] {
  return Array.isArray(given) && given.every((item) => typeof item === "string");
}

function wrong(option: string, problem: string): OptionsError {
  return new OptionsError("options", `${option} ${problem}`, { call: "evaluate", option });
}
