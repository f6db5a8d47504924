import { z } from "zod";
import { abortSignal } from "../core/call-options.js";
import { checkPort } from "../core/check-port.js";
import { OptionsError } from "../core/errors.js";
import { listOption, observerOption, optionsOf, resolve } from "../core/options.js";
import { createRunContext } from "../core/pipeline.js";
import type { ChatModel, ChatRequest } from "../core/ports.js";
import { seededRandom } from "../core/random.js";
import type { Chunk } from "../core/types.js";
import type { PassageQuestion } from "../evaluate/evaluate-passages.js";
import { byName } from "../evaluate/statistics.js";
import type { KnowledgeBase } from "../knowledge-base/options.js";
import { askOnce } from "../stages/calls/timed-calls.js";
import { ChatBudget, type ChatBudgetOptions, BudgetReached, chatBudgetShape } from "./chat-budget.js";
import { questionFromText } from "./heading-questions.js";
import { PaidReplies } from "./paid-replies.js";
import { PassageDraw } from "./passage-draw.js";
import {
  answerableRequest,
  draftIn,
  isAnswered,
  pairKinds,
  type QuestionKind,
  questionKinds,
  type QuestionPassage,
  questionRequest,
} from "./question-requests.js";
import { brokenRule, type DraftQuestion, type QuestionRule, questionRules, tellingWords } from "./question-rules.js";

export interface MakeQuestionsOptions extends ChatBudgetOptions {
  /** Questions to make, 1 to 100,000. Default: 100. */
  readonly count?: number;
  /** Asks the questions. Default: none, they are made from headings and sentences, which is weaker: see `weaker`. */
  readonly chatModel?: ChatModel;
  /** Kinds of questions that the chat model is asked for, in turn. Default: all. */
  readonly kinds?: readonly QuestionKind[];
  /** Seed of the passages that are drawn: the same seed draws the same from the same documents. Default: 1. */
  readonly seed?: number;
  /** File that keeps paid replies: a run that was stopped or killed continues from it and pays none again. Default: none. */
  readonly repliesPath?: string;
  /** Called after each passage that was asked about. */
  readonly onProgress?: (progress: {
    /** Questions that stay so far. */
    readonly made: number;
    /** Passages that were asked about so far. */
    readonly asked: number;
    /** Tokens so far. */
    readonly tokens: number;
  }) => void;
  /** Stops before the next request, and makes the call throw the signal's `reason`. */
  readonly signal?: AbortSignal;
}

const kindNames = Object.keys(questionKinds) as QuestionKind[];

const makeQuestionsOptions = optionsOf<MakeQuestionsOptions>()({
  ...chatBudgetShape,
  count: z.int().min(1).max(100_000).default(100),
  chatModel: z
    .custom<ChatModel>(
      (value) => typeof value === "object" && value !== null && "stream" in value,
      "must be a chat model",
    )
    .optional(),
  kinds: listOption(z.array(z.enum(kindNames)).min(1)).optional(),
  seed: z.number().default(1),
  repliesPath: z.string().min(1).optional(),
  onProgress: observerOption<NonNullable<MakeQuestionsOptions["onProgress"]>>("onProgress").optional(),
  signal: abortSignal.optional(),
});

/** A made question, with the passage that answers it. */
export interface MadeQuestion extends PassageQuestion {
  /** Words of the answer; empty for one that the documents do not answer, and for questions made without a model. */
  readonly answer: string;
}

export interface MadeQuestions {
  /** In the order in which they were made; the uris are those of the store. */
  readonly questions: readonly MadeQuestion[];
  /** True where no model asked: such questions are near to the text, and favour searching by words. */
  readonly weaker: boolean;
  /** Number of questions that each rule left out. */
  readonly leftOut: Readonly<Record<QuestionRule, number>>;
  /** Number of requests that failed. */
  readonly failed: number;
  /** Tokens of all requests and replies, those of runs that this one continued included. */
  readonly tokens: number;
  /** Their cost; `undefined` without a price. */
  readonly cost: number | undefined;
  /** Why there are fewer than were wanted; `undefined` where there are not. */
  readonly stopped: string | undefined;
}

/** Passages that are asked about for one question that stays, before the documents count as used up. */
const maxDrawsPerQuestion = 6;

/** Passages in which an answer to an unanswerable question is looked for. */
const searchedPassages = 5;

const timeoutMs = 120_000;

/**
 * Makes a set of questions from the documents of a knowledge base, each with the passage that answers it: evenly over the documents,
 * and of several kinds. Questions that copy their passage, repeat another or ask about nothing are left out by stated rules.
 * Read the set before you trust it: `citewell eval make` writes it as a file of lines.
 *
 * @throws OptionsError for `maxCost` without a price of the chat model, and a store that cannot tell its chunks.
 * @example
 * ```ts
 * import { openKnowledgeBase, type ChatModel } from "citewell";
 * import { makeQuestions } from "citewell/evaluate";
 * export async function questionsFor(chatModel: ChatModel) {
 *   const kb = await openKnowledgeBase({ path: "./.citewell" });
 *   const { questions } = await makeQuestions(kb, { chatModel, count: 200, maxTokens: 500_000 });
 *   return questions;
 * }
 * ```
 */
export async function makeQuestions(kb: KnowledgeBase, options: MakeQuestionsOptions = {}): Promise<MadeQuestions> {
  const settings = resolve("makeQuestions", makeQuestionsOptions, options);
  const { count, chatModel, kinds = kindNames, seed, repliesPath, onProgress, signal } = settings;
  if (chatModel) checkPort("makeQuestions", "chatModel", chatModel);
  const { store } = kb;
  if (!store.documentWithChunks) {
    throw new OptionsError("options", "The store cannot tell the chunks of a document: it has no documentWithChunks()");
  }
  const random = seededRandom(seed);
  const draw = new PassageDraw(await store.documents(), (uri) => store.documentWithChunks!(uri), random);
  const { maxTokens, maxCost, maxMinutes } = options;
  const limits = Object.fromEntries(
    Object.entries({ maxTokens, maxCost, maxMinutes }).filter(([, limit]) => limit !== undefined),
  );
  const budget = new ChatBudget("makeQuestions", limits, chatModel?.price);
  const replies = await PaidReplies.open(repliesPath);
  for (const usage of replies.usages()) budget.settle(usage);
  const model = chatModel && replies.before(chatModel, budget);
  const leftOut = byName(Object.keys(questionRules) as QuestionRule[], () => 0);
  const questions: MadeQuestion[] = [];
  const earlier: ReadonlySet<string>[] = [];
  let asked = 0;
  let failed = 0;
  let stopped: string | undefined;

  const reply = async (request: ChatRequest): Promise<string | undefined> => {
    const given = await askOnce(
      model!,
      request,
      { timeoutMs, reserveMs: 0 },
      createRunContext(signal ? { signal } : {}),
    );
    if ("text" in given) return given.text;
    failed++;
    return undefined;
  };

  const draft = async (kind: string, chunks: readonly Chunk[], passages: readonly QuestionPassage[]) => {
    if (!model) return questionFromText(chunks[0]!, kind as "heading" | "sentence", random);
    const text = await reply(questionRequest(kind as QuestionKind, passages));
    return text === undefined ? undefined : draftIn(text, kind);
  };

  const isAnswerable = async ({ text }: DraftQuestion): Promise<boolean> => {
    const { hits } = await kb.search(text, { mode: "lexical", count: searchedPassages, syntax: false });
    if (hits.length === 0) return false;
    const found = await reply(
      answerableRequest(
        text,
        hits.map(({ uri, chunk }) => ({ uri, text: chunk.text })),
      ),
    );
    // Without a verdict nothing says that the documents leave it open.
    return found === undefined || isAnswered(found) !== false;
  };

  try {
    const turns: readonly string[] = model ? kinds : ["heading", "sentence"];
    while (questions.length < count) {
      signal?.throwIfAborted();
      budget.checkTime();
      if (asked >= maxDrawsPerQuestion * count) {
        stopped = `only ${questions.length} of ${asked} passages gave a question that stays`;
        break;
      }
      const kind = turns[asked % turns.length]!;
      const drawn = await draw.next(pairKinds.has(kind) ? 2 : 1);
      if (!drawn) {
        stopped = `the documents have no more passages: ${questions.length} questions were made of ${asked}`;
        break;
      }
      asked++;
      const { document, chunks } = drawn;
      const title = document.title === undefined ? {} : { title: document.title };
      const passages = chunks.map(({ text }) => ({ uri: document.uri, ...title, text }));
      const made = await draft(kind, chunks, passages);
      if (made) {
        const rule =
          brokenRule(
            made,
            passages.map(({ text }) => text),
            earlier,
            model ? "model" : "text",
          ) ?? (kind === "unanswerable" && (await isAnswerable(made)) ? "answerable" : undefined);
        if (rule) leftOut[rule]++;
        else {
          earlier.push(tellingWords(made.text));
          questions.push(asQuestion(made, document.uri, questions.length + 1));
        }
      }
      onProgress?.({ made: questions.length, asked, tokens: budget.tokens });
    }
  } catch (error) {
    if (!(error instanceof BudgetReached)) throw error;
    stopped = error.message;
  }
  return { questions, weaker: !model, leftOut, failed, tokens: budget.tokens, cost: budget.cost, stopped };
}

function asQuestion({ kind, text, answer, quotes }: DraftQuestion, uri: string, number: number): MadeQuestion {
  const passages = kind === "unanswerable" ? [] : quotes.map((quote) => [{ uri, quote }]);
  return { id: `made-${String(number).padStart(3, "0")}`, kind, text, passages, answer };
}
