import { abortSignal } from "../core/call-options.js";
import { functionOption, optionsOf, resolve } from "../core/options.js";
import type { Answer } from "../core/types.js";
import type { JudgedQuery } from "./collection.js";
import { exactMatch, holdsAnswer, tokenF1, tokenRecall } from "./metrics.js";
import { latency, summarise, type Interval } from "./statistics.js";

/** A question with its known answers. */
export interface AnswerableQuery extends JudgedQuery {
  /** Known answers; one that fits is enough. A question without any is not asked. */
  readonly answers: readonly string[];
}

export const answerMetricNames = [
  "exactMatch",
  "tokenF1",
  "topCitation",
  "topCitationRecall",
  "topCitationDocument",
  "anyCitation",
  "citationPrecision",
  "citationRecall",
  "answered",
] as const;

/**
 * - `exactMatch`, `tokenF1`: the answer's text compared with the known answers;
 * - `topCitation`: 1 if the first citation is supported and its span has a whole known answer, which long answers rarely have;
 * - `topCitationRecall`: share of a known answer's words in the span of the first citation, 0 where it is not supported;
 * - `topCitationDocument`: 1 if the first citation is supported and leads to a relevant document;
 * - `anyCitation`: 1 if the span of any supported citation has a whole known answer;
 * - `citationPrecision`: share of the citations that are supported and lead to a relevant document; 0 without citations;
 * - `citationRecall`: share of the relevant documents that a supported citation leads to;
 * - `answered`: 1 if the reply does not abstain.
 */
export type AnswerMetric = (typeof answerMetricNames)[number];
/** One score for each metric, 0 to 1. */
export type AnswerScores = Readonly<Record<AnswerMetric, number>>;

export interface AnswerEvaluation {
  /** Number of questions asked. */
  readonly questions: number;
  /** Number of questions that were not asked, since no answer to them is known. */
  readonly withoutAnswers: number;
  /** Means over the questions, each with its 95 % interval. */
  readonly metrics: AnswerScores;
  /** 95 % intervals of the means. */
  readonly intervals: Readonly<Record<AnswerMetric, Interval>>;
  /** Citations of all answers. */
  readonly citations: {
    /** Number of citations in all answers. */
    readonly total: number;
    /** Citations whose words stand in their source. */
    readonly supported: number;
    /** Unsupported citations most of whose words stand in the source. */
    readonly near: number;
    /** Supported citations whose quote is the text at their span; fewer than `supported` means that the check is broken. */
    readonly literal: number;
  };
  /** From the question to the end of the answer, with questions one after another. */
  readonly latencyMs: {
    /** Median, in milliseconds. */
    readonly p50: number;
    /** 95th percentile, in milliseconds. */
    readonly p95: number;
  };
  /** Time of each answer, in milliseconds, in the order of the questions. */
  readonly durationsMs: readonly number[];
  /** Tokens of the chat model over all answers. */
  readonly usage: {
    /** Tokens of what was sent. */
    readonly inputTokens: number;
    /** Tokens of the replies. */
    readonly outputTokens: number;
  };
  /** Scores by query id. */
  readonly scores: ReadonlyMap<string, AnswerScores>;
}

export interface EvaluateAnswersOptions {
  /** Answers one question. An error that it throws ends the evaluation. */
  readonly ask: (question: string) => Promise<Answer>;
  /** The stored text of a document. */
  readonly textOf: (uri: string) => Promise<string | undefined>;
  /** The collection's id of a document. */
  readonly documentId: (uri: string) => string;
  /** Called after each answer, and waited for. */
  readonly onAnswer?: (query: AnswerableQuery, answer: Answer) => void | Promise<void>;
  /** Stops the evaluation before the next question, and makes it throw the signal's `reason`. */
  readonly signal?: AbortSignal;
}

const evaluateAnswersOptions = optionsOf<EvaluateAnswersOptions>()({
  ask: functionOption<EvaluateAnswersOptions["ask"]>(),
  textOf: functionOption<EvaluateAnswersOptions["textOf"]>(),
  documentId: functionOption<EvaluateAnswersOptions["documentId"]>(),
  onAnswer: functionOption<NonNullable<EvaluateAnswersOptions["onAnswer"]>>().optional(),
  signal: abortSignal.optional(),
});

/**
 * Asks each question and scores the answer.
 *
 * @example
 * ```ts
 * import { collectAnswer, openKnowledgeBase } from "citewell";
 * import { evaluateAnswers, type AnswerableQuery } from "citewell/evaluate";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * export const measure = (queries: readonly AnswerableQuery[]) =>
 *   evaluateAnswers(queries, {
 *     ask: (question) => collectAnswer(kb.ask(question)),
 *     textOf: async (uri) => (await kb.document(uri))?.text,
 *     documentId: (uri) => uri,
 *   });
 * ```
 */
export async function evaluateAnswers(
  queries: readonly AnswerableQuery[],
  options: EvaluateAnswersOptions,
): Promise<AnswerEvaluation> {
  const { ask, textOf, documentId, onAnswer, signal } = resolve("evaluateAnswers", evaluateAnswersOptions, options);
  const scores = new Map<string, AnswerScores>();
  const durationsMs: number[] = [];
  const citations = { total: 0, supported: 0, near: 0, literal: 0 };
  const usage = { inputTokens: 0, outputTokens: 0 };
  const answerable = queries.filter(({ answers }) => answers.length > 0);
  for (const query of answerable) {
    signal?.throwIfAborted();
    const startedAt = performance.now();
    const answer = await ask(query.text);
    durationsMs.push(performance.now() - startedAt);
    usage.inputTokens += answer.usage?.inputTokens ?? 0;
    usage.outputTokens += answer.usage?.outputTokens ?? 0;
    for (const { supported, support, uri, start, end, quote } of answer.citations) {
      citations.total++;
      if (support === "near") citations.near++;
      if (!supported) continue;
      citations.supported++;
      if ((await textOf(uri))?.slice(start, end) === quote) citations.literal++;
    }
    scores.set(query.id, scoreAnswer(query, answer, documentId));
    await onAnswer?.(query, answer);
  }
  return {
    questions: scores.size,
    withoutAnswers: queries.length - answerable.length,
    ...summarise(answerMetricNames, scores.values()),
    citations,
    latencyMs: latency(durationsMs),
    durationsMs,
    usage,
    scores,
  };
}

/**
 * Compares one answer with the known answers and the relevant documents.
 *
 * @example
 * ```ts
 * import { collectAnswer, openKnowledgeBase } from "citewell";
 * import { scoreAnswer, type AnswerableQuery } from "citewell/evaluate";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * export const score = async (query: AnswerableQuery) =>
 *   scoreAnswer(query, await collectAnswer(kb.ask(query.text)), (uri) => uri);
 * ```
 */
export function scoreAnswer(
  { answers, judgements }: AnswerableQuery,
  { text, answered, citations }: Answer,
  documentId: (uri: string) => string,
): AnswerScores {
  const said = text.replace(/(?<!\s)\s*\[\d{1,3}\]/g, "");
  const relevant = [...judgements].filter(([, gain]) => gain > 0).map(([id]) => id);
  const supported = citations.filter((citation) => citation.supported);
  const cited = new Set(supported.map(({ uri }) => documentId(uri)));
  const right = supported.filter(({ uri }) => relevant.includes(documentId(uri)));
  const [top] = citations;
  const topQuote = top?.supported === true ? top.quote : undefined;
  return {
    exactMatch: exactMatch(said, answers),
    tokenF1: tokenF1(said, answers),
    topCitation: topQuote !== undefined && holdsAnswer(topQuote, answers) ? 1 : 0,
    topCitationRecall: topQuote === undefined ? 0 : tokenRecall(topQuote, answers),
    topCitationDocument: topQuote !== undefined && relevant.includes(documentId(top!.uri)) ? 1 : 0,
    anyCitation: supported.some(({ quote }) => holdsAnswer(quote, answers)) ? 1 : 0,
    citationPrecision: citations.length === 0 ? 0 : right.length / citations.length,
    citationRecall: relevant.length === 0 ? 0 : relevant.filter((id) => cited.has(id)).length / relevant.length,
    answered: answered ? 1 : 0,
  };
}
