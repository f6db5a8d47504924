import { z } from "zod";
import type { ApprovalBook, Approvals, WaitingAnswer } from "../core/approval.js";
import { OptionsError } from "../core/errors.js";
import { bothFilters, type Filter } from "../core/filter.js";
import { sortedJson } from "../core/json.js";
import { narrowingOption, optionsOf, resolve } from "../core/options.js";
import { Pipeline, type Stage } from "../core/pipeline.js";
import type { ChatModel, Embedder, Reranker, Searchable, Store } from "../core/ports.js";
import { collect } from "../core/stream.js";
import { streamInSpan } from "../core/telemetry.js";
import { askableTrace } from "../stages/answering/trace.js";
import type { AnswerEvent, Question, Retrieved } from "../core/types.js";
import { answer, resumeAnswer, type Resumption } from "../stages/answering/answer.js";
import { describeImages } from "../stages/questions/describe-images.js";
import { condense } from "../stages/questions/condense.js";
import { embedQuestion } from "../stages/questions/embed-question.js";
import { hyde, multiQuery } from "../stages/questions/query-variants.js";
import { parseSyntax } from "../stages/questions/parse-syntax.js";
import { diversify } from "../stages/retrieval/diversify.js";
import type { FusionMethod } from "../stages/retrieval/fused.js";
import { rerank, type RerankOptions } from "../stages/retrieval/rerank.js";
import { type Fusion, search, type SearchMode, type SearchOptions } from "../stages/retrieval/search.js";
import { widen } from "../stages/retrieval/widen.js";
import type { ConversationPage } from "../store/conversations/conversation-list.js";
import type { FeedbackSelection } from "../store/conversations/feedback.js";
import type { Conversations } from "../store/conversations/conversations.js";
import { conversation } from "./conversation.js";
import { checkImages } from "./question-images.js";
import { refusePaths } from "./refuse-paths.js";
import type { ScopedKnowledgeBase } from "./options.js";
import {
  type Ask,
  type AskOptions,
  askOptions,
  checkKept,
  checkQuestion,
  type Resume,
  type ResumeOptions,
  resumeOptions,
  resumption,
  type RetrievalSettings,
  type RewriteOptions,
  searchPassagesOptions,
} from "./question-options.js";
import type { RunningWork } from "./running-work.js";
import { type ReadersFor, searchByReaders } from "./readers/reader-search.js";

/** The models and vectors that questions need. */
export interface QuestionModels {
  readonly embedder: Embedder;
  /** Whether answers are made from reranked passages; otherwise the order of the search stays. */
  readonly reranks: boolean;
  /** @throws OptionsError when no reranker was named. */
  readonly reranker: () => Reranker;
  /** @throws OptionsError when no chat model was named. */
  readonly chatModel: (other?: string | ChatModel) => ChatModel;
  /** @throws OptionsError when no model sees pictures. */
  readonly seeingModel: (answering: ChatModel) => ChatModel;
  /** The whole store, for what no scope has: vectors of hits, and deleting. */
  readonly store: Pick<Store, "knownVectors" | "deleteDocuments">;
  /** Closing waits for the searches and lists in it. */
  readonly running: RunningWork;
  /** How far the reranker may move what the search found; see `rerank`. */
  readonly reranking: Pick<RerankOptions, "searchWeight" | "depth">;
  /** Weights of a hybrid search. Default: those of `search`. */
  readonly weights?: Fusion["weights"] | undefined;
  /** How passages are found where a call does not say. */
  readonly retrieval?: RetrievalSettings;
}

/** Tokens of a description that leave room for the question in one text to embed, also where another counter counts more. */
function descriptionTokens({ maxInputTokens }: Embedder): number {
  return Math.max(16, Math.min(256, Math.floor(maxInputTokens / 4)));
}

/** Passages that an answer is made from. */
const defaultTopN = 6;

/** Passages that are searched for an answer. */
const defaultCount = 40;

/** Maximum number of candidates that `diversity` chooses from. */
const maxCandidates = 1000;

/** Searches, answers and lists within a store, or within the part of it that a scope lets through. */
export function searchAndAsk(
  within: Searchable,
  models: QuestionModels,
  conversations: () => Conversations,
  scope?: Filter,
  readers?: ReadersFor,
): ScopedKnowledgeBase {
  const usual = models.retrieval ?? {};

  const retrieval = (
    mode: SearchMode,
    count: number,
    correct: boolean,
    { method, k, weights = usualWeights(mode, method ?? (k === undefined ? "score" : "rrf")) }: Fusion = {},
  ): Pipeline<Question, Retrieved> => {
    const how = { count, correct, fusion: { method, k, weights } };
    return mode === "lexical"
      ? Pipeline.from<Question>().pipe(onReaders(search(within, { ...how, mode }), { ...how, mode }))
      : Pipeline.from<Question>()
          .pipe(embedQuestion(models.embedder))
          .pipe(onReaders(search(within, { ...how, mode }), { ...how, mode }));
  };

  const onReaders = <In extends Question>(here: Stage<In, Retrieved>, how: SearchOptions): Stage<In, Retrieved> =>
    readers
      ? searchByReaders(here, readers, { filter: scope, check: (filter) => void within.scoped(filter) }, how)
      : here;

  /**
   * Weights of the knowledge base apply to all its searches: closeness is left out of searches that do not rank by it.
   */
  function usualWeights(mode: SearchMode, method: FusionMethod): Fusion["weights"] {
    if (models.weights === undefined || (mode === "hybrid" && method === "score")) return models.weights;
    const { closeness: _, ...others } = models.weights;
    return others;
  }

  const reranking = (topN: number) => rerank(models.reranker(), { topN, ...models.reranking });

  const rewriting = (
    before: Pipeline<Question, Question>,
    { multiQuery: count, hyde: guess }: RewriteOptions,
    chat: () => ChatModel,
  ) => {
    const worded = count === undefined ? before : before.pipe(multiQuery(chat(), { count }));
    return guess ? worded.pipe(hyde(chat())) : worded;
  };

  function answering(question: string | Question, options: AskOptions = {}): AsyncGenerator<AnswerEvent> {
    const asked = checkQuestion("ask", question);
    const {
      count,
      topN = Math.min(usual.topN ?? defaultTopN, count ?? Infinity),
      widenTokens,
      condense: condenses,
      correct,
      multiQuery: wordings,
      chatModel,
      images: alsoShown,
      ...how
    } = resolve("ask", askOptions, options);
    const images = [...(asked.images ?? []), ...alsoShown];
    checkImages("ask", images);
    const { hyde: guess, answer: answerOptions, filter: alsoGiven, signal, deadlineMs, report } = how;
    checkKept("ask", options.topN, count);
    const chat = models.chatModel(chatModel);
    const alone = condenses ? Pipeline.from<Question>().pipe(condense(chat)) : Pipeline.from<Question>();
    const seen =
      images.length === 0
        ? alone
        : alone.pipe(describeImages(models.seeingModel(chat), { maxTokens: descriptionTokens(models.embedder) }));
    const worded = rewriting(seen, { multiQuery: wordings, hyde: guess }, () => chat);
    const searched = count ?? Math.max(usual.count ?? defaultCount, topN);
    const reranks = models.reranks && usual.rerank !== false;
    // A description has no slips, and is not to be shown as what was searched for.
    const corrects = correct && images.length === 0;
    const found = worded.pipe(retrieval(usual.mode ?? "hybrid", reranks ? searched : topN, corrects, usual.fusion));
    const ranked = reranks ? found.pipe(reranking(topN)) : found;
    const widened = widenTokens === undefined ? ranked : ranked.pipe(widen(within, { maxTokens: widenTokens }));
    const around = widenTokens === undefined ? { documents: within } : {};
    const asking = widened.pipe(answer(chat, { ...around, ...answerOptions }));
    const run = { signal, deadlineMs, report };
    // The scope is named again for tools of the answer, which search by themselves.
    const filter = bothFilters(scope, bothFilters(asked.filter, alsoGiven));
    return streaming("ask", signal, () =>
      asking.stream([{ ...asked, ...(images.length > 0 && { images }), ...(filter !== undefined && { filter }) }], run),
    );
  }

  function resuming(
    waiting: WaitingAnswer,
    approvals: Approvals,
    options: ResumeOptions = {},
    book: ApprovalBook = conversations().of(scopeName(scope)).approvals(),
  ): AsyncGenerator<AnswerEvent> {
    const { answer: answerOptions, chatModel, ...run } = resolve("resume", resumeOptions, options);
    const given = resolve("resume", resumption, { waiting, approvals });
    if ((waiting.scope ?? "") !== scopeName(scope)) {
      const message =
        "the answer waits in another scope. Resume it through scoped() with the filter that it was asked with";
      throw new OptionsError("options", message, { call: "resume", option: "waiting" });
    }
    const resumed = Pipeline.from<Resumption>().pipe(resumeAnswer(models.chatModel(chatModel), book, answerOptions));
    return streaming("resume", run.signal, () => resumed.stream([given], run));
  }

  /** Events of an answer, in a span of its own. A waiting answer names the scope in which it continues. */
  function streaming(
    name: string,
    signal: AbortSignal | undefined,
    open: () => AsyncGenerator<AnswerEvent>,
  ): AsyncGenerator<AnswerEvent> {
    const failureOf = (event: AnswerEvent) => (event.type === "error" ? event.error : undefined);
    const events = streamInSpan(name, open, { signal, failureOf });
    return scope === undefined ? events : inScope(events, scopeName(scope));
  }

  return {
    async search(question, options = {}) {
      checkQuestion("search", { question });
      const {
        mode = usual.mode ?? "hybrid",
        topN,
        count = topN === undefined ? 10 : Math.max(defaultCount, topN),
        fusion = usual.fusion,
        syntax,
        correct,
        diversity,
        ...how
      } = resolve("search", searchPassagesOptions, options);
      checkKept("search", topN, count);
      const { widenTokens, multiQuery: wordings, hyde: guess, filter, signal, deadlineMs, report } = how;
      // Diversity chooses among more than are wanted, so that what repeats makes room.
      const kept = topN ?? count;
      const ranked = diversity === undefined ? kept : Math.min(maxCandidates, 4 * kept);
      const found = retrieval(mode, topN === undefined ? ranked : count, correct, fusion);
      const best = topN === undefined ? found : found.pipe(reranking(ranked));
      const varied =
        diversity === undefined ? best : best.pipe(diversify(models.store, { lambda: diversity, count: kept }));
      const widened = widenTokens === undefined ? varied : varied.pipe(widen(within, { maxTokens: widenTokens }));
      const read = syntax ? Pipeline.from<Question>().pipe(parseSyntax()) : Pipeline.from<Question>();
      const asking = rewriting(read, { multiQuery: wordings, hyde: guess }, models.chatModel).pipe(widened);
      const asked = asking.stream([{ question, ...(filter !== undefined && { filter }) }], {
        signal,
        deadlineMs,
        report,
      });
      const [retrieved] = await models.running.finish(() => collect(asked));
      return { ...retrieved!, trace: askableTrace(retrieved!.trace) };
    },
    ask: answering as Ask,
    resume: ((...given: Parameters<Resume>) => resuming(...given)) as Resume,
    documents: (which) => models.running.finish(() => within.documents(which)),
    document: (uri) => models.running.finish(() => within.document(uri)),
    deleteDocuments: (uris) =>
      models.running.finish(async () => {
        const admitted = await Promise.all(uris.map((uri) => within.documentInfo(uri)));
        const unknown = uris.filter((_, index) => admitted[index] === undefined);
        await refusePaths(unknown, within);
        return models.store.deleteDocuments(admitted.flatMap((info) => (info ? [info.uri] : [])));
      }),
    scoped: (filter) => searchAndAsk(within.scoped(filter), models, conversations, bothFilters(scope, filter), readers),
    conversation: (which) =>
      conversation(which, conversations().of(scopeName(scope)), { ask: answering, resume: resuming }),
    conversations: async (page = {}) =>
      conversations()
        .of(scopeName(scope))
        .list(resolve("conversations", conversationPage, page)),
    feedback: async (selection = {}) =>
      conversations()
        .of(scopeName(scope))
        .feedback(resolve("feedback", feedbackSelection, selection)),
  };
}

const conversationPage = optionsOf<ConversationPage>()({
  owner: narrowingOption(z.string()),
  limit: z.exactOptional(z.int().min(1)),
  // A page that was empty has no last conversation, and must not lead to the first page again.
  after: narrowingOption(z.object({ id: z.string(), updatedAtMs: z.int() })),
});

const feedbackSelection = optionsOf<FeedbackSelection>()({
  owner: narrowingOption(z.string()),
  rating: narrowingOption(z.enum(["up", "down"])),
});

async function* inScope(events: AsyncIterable<AnswerEvent>, scope: string): AsyncGenerator<AnswerEvent> {
  for await (const event of events) {
    if (event.type !== "finish" || !event.answer.waiting) yield event;
    else yield { type: "finish", answer: { ...event.answer, waiting: { ...event.answer.waiting, scope } } };
  }
}

/** One name for all filters that say the same in another order of their fields. */
function scopeName(scope: Filter | undefined): string {
  return scope === undefined ? "" : sortedJson(scope);
}
