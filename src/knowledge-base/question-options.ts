import { z } from "zod";
import type { Approvals, WaitingAnswer, WaitingCall } from "../core/approval.js";
import { OptionsError } from "../core/errors.js";
import type { Filter } from "../core/filter.js";
import { optionsOf, resolve } from "../core/options.js";
import { runOptions, type RunOptions } from "../core/pipeline.js";
import type { AnswerEvent, Metadata, Question, Turn } from "../core/types.js";
import { type AnswerOptions, answerOptions, type StructuredAnswerOptions } from "../stages/answering/answer-options.js";
import type { Resumption } from "../stages/answering/answer.js";
import { type SearchMode, type SearchOptions, searchOptions } from "../stages/retrieval/search.js";

export interface Fusion {
  /** Whether scores or ranks are fused; see `search`. Default: `score`, or `rrf` where `k` is given. */
  readonly method?: SearchOptions["fusion"];
  /** With `rrf`, how slowly lower ranks lose weight, 0 to 1000; see `fused`. Default: 10. */
  readonly k?: number;
  /** Weights of vectors and words, 0 or more. Default: those of the knowledge base. */
  readonly weights?: SearchOptions["weights"];
}

/** Rewordings of a question, for which a chat model is asked before the search. */
export interface RewriteOptions {
  /** Other wordings that are searched for beside the question, 1 to 8; see `multiQuery`. Default: none. */
  readonly multiQuery?: number;
  /** Whether passages like a made-up answer are searched for too; see `hyde`. Default: false. */
  readonly hyde?: boolean;
}

const rewriting = { multiQuery: z.int().min(1).max(8).optional(), hyde: z.boolean().default(false) };

/** `Fields`: the metadata of the documents. */
export interface SearchPassagesOptions<Fields extends object = Metadata> extends RunOptions, RewriteOptions {
  /** Searches by vector, by words, or by both, fused. Default: `hybrid`. */
  readonly mode?: SearchMode;
  /** Maximum number of hits, 1 to 1000. Default: 10. */
  readonly limit?: number;
  /** How a hybrid search fuses its sides, in place of what the knowledge base was opened with; see `search`. */
  readonly fusion?: Fusion;
  /** Whether `"exact phrase"`, `-word` and `-"phrase"` in the question are signs; see `parseSyntax`. Default: true. */
  readonly syntax?: boolean;
  /** Restricts the passages to documents that it admits. Default: all documents. */
  readonly filter?: Filter<Fields>;
  /** Passages that search hands to the reranker, 1 to 1000; of them `limit` stay. Default: none, no reranking. */
  readonly rerank?: number;
  /** 0 to 1: below 1, hits that repeat what stands above them move down; see `diversify`. Default: 1, as they were ranked. */
  readonly diversity?: number;
  /** Maximum tokens that a hit is widened to, around what was found, 16 or more; see `widen`. Default: none is widened. */
  readonly widenTokens?: number;
}

const candidates = z.int().min(1).max(1000);

/** @internal */
export const searchPassagesOptions = optionsOf<SearchPassagesOptions>()({
  ...runOptions.shape,
  ...rewriting,
  mode: searchOptions.shape.mode,
  limit: candidates.default(10),
  fusion: optionsOf<Fusion>()({
    method: searchOptions.shape.fusion,
    k: searchOptions.shape.k,
    weights: searchOptions.shape.weights,
  }).optional(),
  syntax: z.boolean().default(true),
  // The search checks filters, wherever they come from.
  filter: z.custom<Filter>().optional(),
  rerank: candidates.optional(),
  diversity: z.number().min(0).max(1).optional(),
  widenTokens: z.int().min(16).optional(),
});

/** `Fields`: the metadata of the documents. */
export interface AskOptions<Fields extends object = Metadata> extends RunOptions, RewriteOptions {
  /** Whether a follow-up is put as a question of its own before it is searched for; see `condense`. Default: true. */
  readonly condense?: boolean;
  /** Restricts the passages to documents that it admits; a filter of the question has to hold too. Default: all. */
  readonly filter?: Filter<Fields>;
  /** Passages that search hands to the reranker, 1 to 1000. Default: 40. */
  readonly count?: number;
  /** Passages to answer from, 1 to 1000. Default: 6. */
  readonly topN?: number;
  /**
   * Maximum tokens that each passage is widened to before it is answered from, 16 or more; see `widen`. Default: passages
   * are widened while there is room, as far as `answer.widenTotalTokens` allows.
   */
  readonly widenTokens?: number;
  /** How the answer is made. Default: as `answer` has it. */
  readonly answer?: AnswerOptions;
}

/** @internal */
export const askOptions = optionsOf<AskOptions>()({
  ...runOptions.shape,
  ...rewriting,
  condense: z.boolean().default(true),
  filter: z.custom<Filter>().optional(),
  count: candidates.default(40),
  topN: candidates.default(6),
  widenTokens: z.int().min(16).optional(),
  answer: answerOptions.prefault({}),
});

interface WithSchema<Schema extends z.core.$ZodType> {
  /** How the answer is made. */
  readonly answer: StructuredAnswerOptions<Schema>;
}

/** A question whose filter knows the metadata of the documents. */
type FilteredQuestion<Fields extends object> = Omit<Question, "filter"> & Pick<AskOptions<Fields>, "filter">;

/** Asks a question; with `answer: { schema }` the answer's `value` is what that schema returns. */
export interface Ask<Fields extends object = Metadata> {
  <Schema extends z.core.$ZodType>(
    question: string | FilteredQuestion<Fields>,
    options: Omit<AskOptions<Fields>, "answer"> & WithSchema<Schema>,
  ): AsyncIterable<AnswerEvent<z.output<Schema>>>;
  (question: string | FilteredQuestion<Fields>, options?: AskOptions<Fields>): AsyncIterable<AnswerEvent>;
}

/** How an answer that waits goes on. */
export interface ResumeOptions extends RunOptions {
  /** As it was when the question was asked: with the same tools and `approve`. */
  readonly answer?: AnswerOptions;
}

/** @internal */
export const resumeOptions = optionsOf<ResumeOptions>()({ ...runOptions.shape, answer: answerOptions.prefault({}) });

/** Resumes an answer that waits; with `answer: { schema }` its `value` is what that schema returns. */
export interface Resume {
  <Schema extends z.core.$ZodType>(
    waiting: WaitingAnswer,
    approvals: Approvals,
    options: Omit<ResumeOptions, "answer"> & WithSchema<Schema>,
  ): AsyncIterable<AnswerEvent<z.output<Schema>>>;
  (waiting: WaitingAnswer, approvals: Approvals, options?: ResumeOptions): AsyncIterable<AnswerEvent>;
}

export const resumption = optionsOf<Resumption>()({
  waiting: optionsOf<WaitingAnswer>()({
    calls: z.array(z.custom<WaitingCall>()).min(1).readonly(),
    state: z.unknown(),
    scope: z.string().optional(),
  }),
  approvals: z.record(z.string(), z.boolean()),
});

const turn = z.strictObject({
  role: z.enum(["system", "user", "assistant"]),
  text: z.string(),
  tools: z.array(z.unknown()).readonly().optional(),
}) as unknown as z.ZodType<Turn, Turn>;

const askedQuestion = optionsOf<Question>()({
  question: z.string(),
  asked: z.string().optional(),
  history: z.array(turn).readonly().optional(),
  phrases: z.array(z.string()).readonly().optional(),
  filter: z.custom<Filter>().optional(),
  not: z.array(z.string()).readonly().optional(),
  variants: z.custom<Question["variants"]>().optional(),
  trace: z.custom<Question["trace"]>().optional(),
  usage: z.custom<Question["usage"]>().optional(),
  requests: z.custom<Question["requests"]>().optional(),
});

/** @throws OptionsError when the question is blank, or has a field that questions and turns do not have. */
export function checkQuestion(call: "search" | "ask", given: string | Question): Question {
  const asked = typeof given === "string" ? { question: given } : given;
  resolve(call, askedQuestion, asked);
  if (asked.question.trim() !== "") return asked;
  throw new OptionsError("options", "the question is blank", { call, option: "question" });
}
