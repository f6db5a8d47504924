import { z } from "zod";
import { abortSignal } from "../core/call-options.js";
import { LoadError } from "../core/errors.js";
import { functionOption, optionsOf, resolve } from "../core/options.js";
import type { Answer } from "../core/types.js";
import { type AnswerFlaw, answerFlaws } from "./answer-flaws.js";
import { jsonLines, LineId, malformed } from "./json-lines.js";
import { holdsAnswer } from "./metrics.js";
import { bootstrapInterval, type Interval } from "./statistics.js";

/** A question, and the passages that an answer to it has to cite. */
export interface PassageQuestion {
  /** Id in the file of questions. */
  readonly id: string;
  /** The kind of question, such as `direct`: results are reported by kind. */
  readonly kind: string;
  /** The question as it is asked. */
  readonly text: string;
  /**
   * Passages that an answer has to cite, all of them. Each lists the places where it stands; citing one of them is enough. An
   * empty list: the documents do not hold the answer.
   */
  readonly passages: readonly (readonly ExpectedPlace[])[];
}

/** A place in a document that holds an expected passage. */
export interface ExpectedPlace {
  /** Path of the document in the folder of documents. */
  readonly uri: string;
  /** Words that the place is known by: a citation of any document that quotes them is right. */
  readonly quote: string;
}

const QuestionLine = z.object({
  _id: LineId,
  kind: z.string().min(1),
  text: z.string().min(1),
  passages: z.array(z.array(z.object({ uri: z.string().min(1), quote: z.string().min(1) })).min(1)),
});

/**
 * Questions from a file with one JSON object a line: `{"_id", "kind", "text", "passages": [[{"uri", "quote"}]]}`.
 *
 * @throws LoadError (`missing`, `unreadable`), (`malformed`) with the number of the line, (`empty`).
 * @example
 * ```ts
 * import { readPassageQuestions } from "citewell/evaluate";
 * const questions = await readPassageQuestions("./questions.jsonl");
 * console.log(new Set(questions.map(({ kind }) => kind)));
 * ```
 */
export async function readPassageQuestions(path: string, signal?: AbortSignal): Promise<readonly PassageQuestion[]> {
  const questions = new Map<string, PassageQuestion>();
  for await (const { lineNumber, value } of jsonLines(path, QuestionLine, signal)) {
    const { _id: id, ...question } = value;
    if (questions.has(id)) throw malformed(path, lineNumber, `repeats the _id ${id} of an earlier line`);
    questions.set(id, { id, ...question });
  }
  if (questions.size === 0) throw new LoadError("empty", path, `${path} has no questions`);
  return [...questions.values()];
}

/** Answers to the questions of one kind. */
export interface KindOfAnswers {
  /** The kind of the questions. */
  readonly kind: string;
  /** Number of questions asked. */
  readonly questions: number;
  /** Share that was answered with all expected passages cited, or declined if there are none. */
  readonly right: number;
  /** 95 % interval of `right`. */
  readonly interval: Interval;
  /** Share that was declined. */
  readonly declined: number;
}

/** One question with its outcome. */
export interface PassageOutcome {
  /** The question that was asked. */
  readonly question: PassageQuestion;
  /** Answer that was given. */
  readonly answer: Answer;
  /** Whether it cites every expected passage, or declines if there is none. */
  readonly right: boolean;
  /** Flaws of its form, whatever it says. */
  readonly flaws: readonly AnswerFlaw[];
}

export interface EvaluatePassagesOptions {
  /** Answers one question. An error that it throws ends the evaluation. */
  readonly ask: (question: string) => Promise<Answer>;
  /** The stored text of a document. */
  readonly textOf: (uri: string) => Promise<string | undefined>;
  /** Called after each answer, and waited for. */
  readonly onAnswer?: (outcome: PassageOutcome) => void | Promise<void>;
  /** Stops the evaluation before the next question, and makes it throw the signal's `reason`. */
  readonly signal?: AbortSignal;
}

const evaluatePassagesOptions = optionsOf<EvaluatePassagesOptions>()({
  ask: functionOption<EvaluatePassagesOptions["ask"]>(),
  textOf: functionOption<EvaluatePassagesOptions["textOf"]>(),
  onAnswer: functionOption<NonNullable<EvaluatePassagesOptions["onAnswer"]>>().optional(),
  signal: abortSignal.optional(),
});

/**
 * Asks each question, one after another, and reports by kind, in the order in which kinds first appear.
 *
 * @example
 * ```ts
 * import { collectAnswer, openKnowledgeBase } from "citewell";
 * import { evaluatePassages, readPassageQuestions } from "citewell/evaluate";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * const kinds = await evaluatePassages(await readPassageQuestions("./questions.jsonl"), {
 *   ask: (question) => collectAnswer(kb.ask(question)),
 *   textOf: async (uri) => (await kb.document(uri))?.text,
 * });
 * for (const { kind, right, questions } of kinds) console.log(`${kind}: ${right} of ${questions}`);
 * ```
 */
export async function evaluatePassages(
  questions: readonly PassageQuestion[],
  options: EvaluatePassagesOptions,
): Promise<readonly KindOfAnswers[]> {
  const { ask, textOf, onAnswer, signal } = resolve("evaluatePassages", evaluatePassagesOptions, options);
  const byKind = new Map<string, { readonly right: number; readonly declined: number }[]>();
  for (const question of questions) {
    signal?.throwIfAborted();
    const answer = await ask(question.text);
    const right = isRight(question, answer);
    const outcomes = byKind.get(question.kind) ?? [];
    byKind.set(question.kind, [...outcomes, { right: right ? 1 : 0, declined: answer.answered ? 0 : 1 }]);
    await onAnswer?.({ question, answer, right, flaws: await answerFlaws(answer, textOf) });
  }
  return [...byKind].map(([kind, outcomes]) => {
    const rights = outcomes.map(({ right }) => right);
    const declined = mean(outcomes.map((outcome) => outcome.declined));
    return { kind, questions: outcomes.length, right: mean(rights), interval: bootstrapInterval(rights), declined };
  });
}

/** Whether an answer cites every expected passage, or declines a question that the documents do not answer. */
export function isRight({ passages }: Pick<PassageQuestion, "passages">, answer: Answer): boolean {
  if (passages.length === 0) return !answer.answered;
  return answer.answered && passages.every((places) => isCitedBy(answer, places));
}

/** Whether an answer cites one of the places, in words that its document holds. */
export function isCitedBy({ citations }: Pick<Answer, "citations">, places: readonly ExpectedPlace[]): boolean {
  const expected = places.map(({ quote }) => quote);
  return citations.some(({ supported, quote }) => supported && holdsAnswer(quote, expected));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
