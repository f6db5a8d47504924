import { z } from "zod";
import { abortSignal } from "../core/call-options.js";
import { checkPort } from "../core/check-port.js";
import { listOption, observerOption, optionsOf, resolve } from "../core/options.js";
import { createRunContext } from "../core/pipeline.js";
import type { ChatModel } from "../core/ports.js";
import type { Answer } from "../core/types.js";
import { bootstrapInterval, type Interval, mean } from "../evaluate/statistics.js";
import { askOnce } from "../stages/calls/timed-calls.js";
import { BudgetReached, ChatBudget, type ChatBudgetOptions, chatBudgetShape } from "./chat-budget.js";
import { citedSentences, judgeRequest, type Reading, readingIn } from "./judge-sentences.js";
import { PaidReplies } from "./paid-replies.js";

/** An answer to be judged. */
export interface AnswerToJudge {
  /** The answer with its citations. */
  readonly answer: Pick<Answer, "question" | "text" | "citations" | "answered">;
  /** Words of the right answer, where known: completeness is judged by them. */
  readonly expected?: string;
}

export interface JudgeAnswersOptions extends ChatBudgetOptions {
  /** The answers; those that decline are left out. */
  readonly answers: readonly AnswerToJudge[];
  /** File that keeps paid judgements: the same answers are not judged again. Default: none. */
  readonly repliesPath?: string;
  /** Called after each answer. */
  readonly onProgress?: (progress: {
    /** Answers that both readings judged so far. */
    readonly judged: number;
    /** Tokens so far. */
    readonly tokens: number;
  }) => void;
  /** Stops before the next request, and makes the call throw the signal's `reason`. */
  readonly signal?: AbortSignal;
}

const judgeAnswersOptions = optionsOf<JudgeAnswersOptions>()({
  ...chatBudgetShape,
  answers: listOption(
    z.array(z.custom<AnswerToJudge>((value) => typeof value === "object" && value !== null && "answer" in value)),
  ),
  repliesPath: z.string().min(1).optional(),
  onProgress: observerOption<NonNullable<JudgeAnswersOptions["onProgress"]>>("onProgress").optional(),
  signal: abortSignal.optional(),
});

/** A judged measure. */
export interface JudgedMeasure {
  /** Mean of both readings over the answers, 0 to 1. */
  readonly mean: number;
  /** 95 % interval of the mean. */
  readonly interval: Interval;
  /** Agreement of both readings, 0 to 1: share of sentences judged alike, or 1 minus the mean distance of the grades. */
  readonly agreement: number;
}

export interface JudgedBySentence {
  /** Number of answers that both readings judged. */
  readonly answers: number;
  /** Share of an answer's cited sentences that their citations say. */
  readonly faithfulness: JudgedMeasure;
  /** Whether an answer answers the question. */
  readonly relevance: JudgedMeasure;
  /** Whether it says everything that was asked for. */
  readonly completeness: JudgedMeasure;
  /** Share of all sentences that cite nothing, and are not judged. */
  readonly uncited: number;
  /** Number of answers with a reading that failed or could not be read; the means leave them out. */
  readonly failed: number;
  /** Tokens of all judgements, kept ones included. */
  readonly tokens: number;
  /** Their cost; `undefined` without a price of the model. */
  readonly cost: number | undefined;
  /** Why answers were left; `undefined` where none was. */
  readonly stopped: string | undefined;
}

const timeoutMs = 120_000;

/**
 * Lets a chat model judge answers, each twice: whether the citations of each sentence say it, whether it answers the question, and
 * whether anything is missing. How far both readings agree says how much the figures are worth.
 *
 * @throws OptionsError for `maxCost` without a price of the chat model.
 * @example
 * ```ts
 * import { collectAnswer, openKnowledgeBase, type ChatModel } from "citewell";
 * import { judgeAnswers } from "citewell/evaluate";
 * export async function judged(judge: ChatModel, questions: readonly string[]) {
 *   const kb = await openKnowledgeBase({ path: "./.citewell" });
 *   const answers = [];
 *   for (const question of questions) answers.push({ answer: await collectAnswer(kb.ask(question)) });
 *   const { faithfulness } = await judgeAnswers(judge, { answers, maxTokens: 200_000 });
 *   console.log(`${faithfulness.mean}, agreement ${faithfulness.agreement}`);
 * }
 * ```
 */
export async function judgeAnswers(model: ChatModel, options: JudgeAnswersOptions): Promise<JudgedBySentence> {
  const { answers, repliesPath, onProgress, signal, ...limits } = resolve("judgeAnswers", judgeAnswersOptions, options);
  checkPort("judgeAnswers", "chatModel", model);
  const budget = new ChatBudget("judgeAnswers", limits, model.price);
  const replies = await PaidReplies.open(repliesPath);
  for (const usage of replies.usages()) budget.settle(usage);
  const judge = replies.before(model, budget);
  const readings: (readonly [Reading, Reading])[] = [];
  let sentences = 0;
  let uncited = 0;
  let failed = 0;
  let stopped: string | undefined;

  try {
    for (const { answer, expected } of answers.filter((one) => one.answer.answered)) {
      signal?.throwIfAborted();
      budget.checkTime();
      const found = citedSentences(answer);
      sentences += found.cited.length + found.uncited;
      uncited += found.uncited;
      const read = async (reading: 1 | 2): Promise<Reading | undefined> => {
        const request = judgeRequest(answer, found.cited, expected, reading);
        const reply = await askOnce(
          judge,
          request,
          { timeoutMs, reserveMs: 0 },
          createRunContext(signal ? { signal } : {}),
        );
        return "text" in reply ? readingIn(reply.text, found.cited.length) : undefined;
      };
      const first = await read(1);
      const second = first && (await read(2));
      if (first && second) readings.push([first, second]);
      else failed++;
      onProgress?.({ judged: readings.length, tokens: budget.tokens });
    }
  } catch (error) {
    if (!(error instanceof BudgetReached)) throw error;
    stopped = error.message;
  }
  return {
    answers: readings.length,
    faithfulness: faithfulnessOf(readings),
    relevance: gradeOf(readings, ({ relevance }) => relevance),
    completeness: gradeOf(readings, ({ completeness }) => completeness),
    uncited: sentences === 0 ? 0 : uncited / sentences,
    failed,
    tokens: budget.tokens,
    cost: budget.cost,
    stopped,
  };
}

function faithfulnessOf(readings: readonly (readonly [Reading, Reading])[]): JudgedMeasure {
  const withSentences = readings.filter(([first]) => first.supported.length > 0);
  const shareOf = ({ supported }: Reading) => mean(supported.map(Number));
  const values = withSentences.map(([first, second]) => (shareOf(first) + shareOf(second)) / 2);
  const alike = withSentences.flatMap(([first, second]) =>
    first.supported.map((supported, index) => Number(supported === second.supported[index])),
  );
  return { mean: mean(values), interval: bootstrapInterval(values), agreement: mean(alike) };
}

function gradeOf(
  readings: readonly (readonly [Reading, Reading])[],
  grade: (reading: Reading) => number,
): JudgedMeasure {
  const values = readings.map(([first, second]) => (grade(first) + grade(second)) / 2);
  const distances = readings.map(([first, second]) => 1 - Math.abs(grade(first) - grade(second)));
  return { mean: mean(values), interval: bootstrapInterval(values), agreement: mean(distances) };
}
