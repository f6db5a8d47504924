import type { Answer } from "../types.js";
import { exactMatch, holdsAnswer, tokenF1 } from "./answer-metrics.js";
import { bootstrapInterval, mean, quantile, type Interval } from "./bootstrap.js";
import type { JudgedQuery } from "./collection.js";

/** A question with what it is answered by. */
export interface AnswerableQuery extends JudgedQuery {
  readonly answers: readonly string[];
}

export const answerMetricNames = [
  "exactMatch",
  "tokenF1",
  "topCitation",
  "citationPrecision",
  "citationRecall",
  "answered",
] as const;

/**
 * - `exactMatch`, `tokenF1`: the answer's text against the known answers;
 * - `topCitation`: the first citation is supported, and its span holds a known answer;
 * - `citationPrecision`: of the citations, those that are supported and lead to a relevant document; 0 without any;
 * - `citationRecall`: of the relevant documents, those that a supported citation leads to;
 * - `answered`: said to be answered.
 */
export type AnswerMetric = (typeof answerMetricNames)[number];
export type AnswerScores = Readonly<Record<AnswerMetric, number>>;

export interface AnswerEvaluation {
  readonly questions: number;
  /** Means over the questions, each with its 95 % interval. */
  readonly metrics: AnswerScores;
  readonly intervals: Readonly<Record<AnswerMetric, Interval>>;
  readonly citations: {
    readonly total: number;
    readonly supported: number;
    /** Of the supported, those whose quote is the document's own text at their span: all, or the check is broken. */
    readonly literal: number;
  };
  /** From question to the end of the answer, one question after another. */
  readonly latencyMs: { readonly p50: number; readonly p95: number };
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  /** By query id. */
  readonly scores: ReadonlyMap<string, AnswerScores>;
}

export interface EvaluateAnswersOptions {
  readonly ask: (question: string) => Promise<Answer>;
  /** The stored text of a document. */
  readonly textOf: (uri: string) => Promise<string | undefined>;
  /** The collection's id of a document. */
  readonly documentId: (uri: string) => string;
  readonly onAnswer?: (query: AnswerableQuery, answer: Answer) => void | Promise<void>;
  readonly signal?: AbortSignal;
}

/** Asks each question and compares the answer with what is known to be right. */
export async function evaluateAnswers(
  queries: readonly AnswerableQuery[],
  { ask, textOf, documentId, onAnswer, signal }: EvaluateAnswersOptions,
): Promise<AnswerEvaluation> {
  const scores = new Map<string, AnswerScores>();
  const durationsMs: number[] = [];
  const citations = { total: 0, supported: 0, literal: 0 };
  const usage = { inputTokens: 0, outputTokens: 0 };
  for (const query of queries) {
    signal?.throwIfAborted();
    const startedAt = performance.now();
    const answer = await ask(query.text);
    durationsMs.push(performance.now() - startedAt);
    usage.inputTokens += answer.usage.inputTokens;
    usage.outputTokens += answer.usage.outputTokens;
    for (const { supported, uri, start, end, quote } of answer.citations) {
      citations.total++;
      if (!supported) continue;
      citations.supported++;
      if ((await textOf(uri))?.slice(start, end) === quote) citations.literal++;
    }
    scores.set(query.id, scoreAnswer(query, answer, documentId));
    await onAnswer?.(query, answer);
  }
  durationsMs.sort((a, b) => a - b);
  const values = byAnswerMetric((metric) => [...scores.values()].map((ofQuery) => ofQuery[metric]));
  return {
    questions: scores.size,
    metrics: byAnswerMetric((metric) => mean(values[metric])),
    intervals: byAnswerMetric((metric) => bootstrapInterval(values[metric])),
    citations,
    latencyMs: { p50: quantile(durationsMs, 0.5), p95: quantile(durationsMs, 0.95) },
    usage,
    scores,
  };
}

/** One answer against what is known to be right. */
export function scoreAnswer(
  { answers, judgements }: AnswerableQuery,
  { text, answered, citations }: Answer,
  documentId: (uri: string) => string,
): AnswerScores {
  const said = text.replace(/\s*\[\d{1,3}\]/g, "");
  const relevant = [...judgements].filter(([, gain]) => gain > 0).map(([id]) => id);
  const supported = citations.filter((citation) => citation.supported);
  const cited = new Set(supported.map(({ uri }) => documentId(uri)));
  const right = supported.filter(({ uri }) => relevant.includes(documentId(uri)));
  const [top] = citations;
  return {
    exactMatch: exactMatch(said, answers),
    tokenF1: tokenF1(said, answers),
    topCitation: top?.supported === true && holdsAnswer(top.quote, answers) ? 1 : 0,
    citationPrecision: citations.length === 0 ? 0 : right.length / citations.length,
    citationRecall: relevant.length === 0 ? 0 : relevant.filter((id) => cited.has(id)).length / relevant.length,
    answered: answered ? 1 : 0,
  };
}

function byAnswerMetric<Value>(of: (metric: AnswerMetric) => Value): Record<AnswerMetric, Value> {
  return Object.fromEntries(answerMetricNames.map((metric) => [metric, of(metric)])) as Record<AnswerMetric, Value>;
}
