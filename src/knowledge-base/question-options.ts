import { z } from "zod";
import type { Approvals, WaitingAnswer, WaitingCall } from "../core/approval.js";
import { OptionsError } from "../core/errors.js";
import type { Filter } from "../core/filter.js";
import { isRecord } from "../core/json.js";
import { listOption, narrowingOption, optionsOf, renamed, resolve } from "../core/options.js";
import { runOptions, type RunOptions } from "../core/pipeline.js";
import type { ChatModel } from "../core/ports.js";
import type { AnswerEvent, Metadata, Question, Turn } from "../core/types.js";
import { type AnswerOptions, answerOptions, type StructuredAnswerOptions } from "../stages/answering/answer-options.js";
import type { Resumption } from "../stages/answering/answer.js";
import { type Fusion, fusionOptions, type SearchMode, searchOptions } from "../stages/retrieval/search.js";

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
  /** Hits that the search finds, 1 to 1000; with `topN`, `topN` to 1000. Default: 10; with `topN` 40, or `topN` if that is more. */
  readonly count?: number;
  /** Hits that stay after a reranker has put all of them in order, 1 to 1000. Default: none, no reranking. */
  readonly topN?: number;
  /** How a hybrid search fuses its sides; see `search`. Default: as the knowledge base has it. */
  readonly fusion?: Fusion;
  /** Whether `"exact phrase"`, `-word` and `-"phrase"` in the question are signs; see `parseSyntax`. Default: true. */
  readonly syntax?: boolean;
  /** Whether words that the store does not have are searched for as it spells them; see `search`. Default: true. */
  readonly correct?: boolean;
  /** Restricts the passages to documents that it admits. Default: all documents. */
  readonly filter?: Filter<Fields>;
  /**
   * Weight of relevance, 0 to 1: below 1, hits that repeat hits above them move down; see `diversify`. Default: 1, the
   * ranking is kept.
   */
  readonly diversity?: number;
  /**
   * Maximum tokens that a hit is widened to, around the found passage, 16 or more; see `widen`. Default: hits are not
   * widened.
   */
  readonly widenTokens?: number;
}

const candidates = z.int().min(1).max(1000);

/** How a knowledge base finds the passages of its answers, as `tune` finds and `citewell.config.json` keeps it. */
export interface RetrievalSettings {
  /** Searches by vector, by words, or by both, fused; also in searches that name no mode. Default: `hybrid`. */
  readonly mode?: SearchMode;
  /** How a hybrid search fuses its sides; also in searches that name no fusion. Default: as `search` has it. */
  readonly fusion?: Fusion;
  /** Passages that search hands to the reranker, where `ask` names no other number, 1 to 1000. Default: 40. */
  readonly count?: number;
  /** Passages to answer from, where `ask` names no other number, 1 to 1000. Default: 6. */
  readonly topN?: number;
  /** Whether a reranker orders the passages of answers. Default: true where there is one. */
  readonly rerank?: boolean;
}

/** @internal */
export const retrievalSettings = optionsOf<RetrievalSettings>()({
  mode: z.enum(["hybrid", "dense", "lexical"]).optional(),
  fusion: fusionOptions.optional(),
  count: candidates.optional(),
  topN: candidates.optional(),
  rerank: z.boolean().optional(),
});

/** @internal */
export const searchPassagesOptions = renamed(
  optionsOf<SearchPassagesOptions>()({
    ...runOptions.shape,
    ...rewriting,
    mode: retrievalSettings.shape.mode,
    count: candidates.optional(),
    topN: candidates.optional(),
    fusion: fusionOptions.optional(),
    syntax: z.boolean().default(true),
    correct: searchOptions.shape.correct,
    // The search checks filters, wherever they come from.
    filter: narrowingOption(z.custom<Filter>()),
    diversity: z.number().min(0).max(1).optional(),
    widenTokens: z.int().min(16).optional(),
  }),
  {
    limit: '"count", or "topN" where hits are reranked',
    rerank: '"count", with "topN" for the hits that stay',
    topK: '"count"',
    k: '"count", or fusion: { k: … }',
  },
);

/** `Fields`: the metadata of the documents. */
export interface AskOptions<Fields extends object = Metadata> extends RunOptions, RewriteOptions {
  /** Whether a follow-up is rewritten as a standalone question before the search; see `condense`. Default: true. */
  readonly condense?: boolean;
  /** Whether words that the store does not have are searched for as it spells them; see `search`. Default: true. */
  readonly correct?: boolean;
  /** Restricts the passages to documents that it admits; a filter of the question has to hold too. Default: all. */
  readonly filter?: Filter<Fields>;
  /** Passages that search hands to the reranker, `topN` to 1000. Default: that of the knowledge base, or `topN` if that is more. */
  readonly count?: number;
  /** Passages to answer from, 1 to 1000. Default: that of the knowledge base, else 6. */
  readonly topN?: number;
  /**
   * Maximum tokens that each passage is widened to before it is answered from, 16 or more; see `widen`. Default: passages
   * are widened while there is room, as far as `answer.widenTotalTokens` allows.
   */
  readonly widenTokens?: number;
  /**
   * Pictures that go with the question, besides its own: each `data:image/FORMAT;base64,…`, together at most 45 MiB, or an http(s)
   * address, at most 9. They are described for the search, and go to the answering model where that sees. Default: none.
   */
  readonly images?: readonly string[];
  /**
   * Answers, and rewrites the question, in place of the knowledge base's chat model: the id of another at the same service, or a
   * model of your own. Default: that of the knowledge base.
   */
  readonly chatModel?: string | ChatModel;
  /** How the answer is made. Default: as `answer` has it. */
  readonly answer?: AnswerOptions;
}

/** @internal */
export const chatModelPort = z.custom<ChatModel>(
  (value) => isRecord(value) && ["model", "tokens", "stream"].every((name) => name in value),
  "must be a chat model: { model, tokens, stream, … }",
);

const otherChatModel = z.union([z.string().min(1), chatModelPort]).optional();

/** @internal */
export const askOptions = optionsOf<AskOptions>()({
  ...runOptions.shape,
  ...rewriting,
  condense: z.boolean().default(true),
  correct: searchOptions.shape.correct,
  filter: narrowingOption(z.custom<Filter>()),
  count: candidates.optional(),
  topN: candidates.optional(),
  widenTokens: z.int().min(16).optional(),
  images: listOption(z.array(z.string())).default([]),
  chatModel: otherChatModel,
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

/** Options for continuing an answer that waits. */
export interface ResumeOptions extends RunOptions {
  /** The chat model of the original question, where that named one. Default: that of the knowledge base. */
  readonly chatModel?: string | ChatModel;
  /** Answer options of the original question: with the same tools and `approve`. Default: as `answer` has them. */
  readonly answer?: AnswerOptions;
}

/** @internal */
export const resumeOptions = optionsOf<ResumeOptions>()({
  ...runOptions.shape,
  chatModel: otherChatModel,
  answer: answerOptions.prefault({}),
});

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
    calls: listOption(z.array(z.custom<WaitingCall>()).min(1)),
    state: z.unknown(),
    scope: z.string().optional(),
  }),
  approvals: z.record(z.string(), z.boolean()),
});

const turn = z.strictObject({
  role: z.enum(["system", "user", "assistant"]),
  text: z.string(),
  tools: listOption(z.array(z.unknown())).optional(),
}) as unknown as z.ZodType<Turn, Turn>;

const askedQuestion = optionsOf<Question>()({
  question: z.string(),
  asked: z.string().optional(),
  history: listOption(z.array(turn)).optional(),
  images: listOption(z.array(z.string())).optional(),
  imageDescription: z.custom<Question["imageDescription"]>().optional(),
  phrases: listOption(z.array(z.string())).optional(),
  filter: narrowingOption(z.custom<Filter>()),
  not: listOption(z.array(z.string())).optional(),
  variants: z.custom<Question["variants"]>().optional(),
  trace: z.custom<Question["trace"]>().optional(),
  usage: z.custom<Question["usage"]>().optional(),
  warnings: listOption(z.array(z.string())).optional(),
  requests: z.custom<Question["requests"]>().optional(),
});

/** @throws OptionsError when more passages are to be kept than are searched, with both numbers. */
export function checkKept(call: string, topN: number | undefined, count: number | undefined): void {
  if (topN === undefined || count === undefined || topN <= count) return;
  const message = `topN is ${topN}, but count, which they are chosen from, is ${count}. Set topN to ${count} or less, or count to ${topN} or more`;
  throw new OptionsError("options", message, { call, option: "topN" });
}

/** @throws OptionsError when the question is blank, or has a field that questions and turns do not have. */
export function checkQuestion(call: "search" | "ask", given: string | Question): Question {
  const asked = typeof given === "string" ? { question: given } : given;
  resolve(call, askedQuestion, asked);
  if (asked.question.trim() !== "") return asked;
  throw new OptionsError("options", "the question is blank", { call, option: "question" });
}
