import { answerWords, holdsAnswer } from "../evaluate/metrics.js";
import { isFunctionWord } from "../text/words/function-words.js";

/** The rules that leave out a made question, each with what it says. */
export const questionRules = {
  empty: "the model made no question, or none that can be read",
  "quote-missing": "the words that are said to answer it do not stand in the passage",
  copied: "it repeats six words of the passage in a row; in other words, more than half of its telling words",
  "about-nothing": "it speaks of the passage or the author, or has fewer than two telling words",
  "gives-answer": "it holds the words of its own answer",
  duplicate: "four of five of its telling words are those of another question",
  answerable: "said to be unanswerable, it was answered from passages that were found",
} as const;

export type QuestionRule = keyof typeof questionRules;

/** A question as a model made it. */
export interface DraftQuestion {
  readonly kind: string;
  readonly text: string;
  /** Words of the answer. */
  readonly answer: string;
  /** Words of each passage that answer. */
  readonly quotes: readonly string[];
}

/** Most words that a question may share with its passage in a row. */
const maxSharedRun = 5;

/** Most of its telling words that a question in other words may share with its passage. */
const maxSharedShare = 0.5;

const duplicateShare = 0.8;

/** A question that only a reader of the passage understands. */
const pointsAtPassage =
  /\b(?:th(?:is|e|ese|at) (?:above |following |given )?(?:passages?|texts?|documents?|excerpts?|paragraphs?|sections?|articles?|authors?)|according to (?:the|this) (?:passage|text|document|author))\b|(?:本文|这段|该段|上文|作者)/i;

/**
 * The first rule that leaves the question out; `undefined` for one that stays.
 *
 * @param madeFrom `text`: it consists of words of the passage, as is said of all such questions, and no copy is left out.
 */
export function brokenRule(
  draft: DraftQuestion,
  passages: readonly string[],
  earlier: readonly ReadonlySet<string>[],
  madeFrom: "model" | "text" = "model",
): QuestionRule | undefined {
  const { kind, text, answer, quotes } = draft;
  const words = tellingWords(text);
  if (text.trim() === "") return "empty";
  if (pointsAtPassage.test(text) || words.size < 2) return "about-nothing";
  if (kind !== "unanswerable") {
    if (quotes.length < passages.length) return "quote-missing";
    if (!passages.every((passage, index) => holdsAnswer(passage, [quotes[index]!]))) return "quote-missing";
    if (madeFrom === "model" && passages.some((passage) => isCopied(kind, text, passage))) return "copied";
    if (answer.trim() !== "" && holdsAnswer(text, [answer])) return "gives-answer";
  }
  return earlier.some((other) => similarity(words, other) >= duplicateShare) ? "duplicate" : undefined;
}

/** The words by which two questions are compared. */
export function tellingWords(text: string): ReadonlySet<string> {
  return new Set(answerWords(text).filter((word) => !isFunctionWord(word) && !smallWords.has(word)));
}

const smallWords = new Set("is be to of in on for and or by with as it its that this these those if not no".split(" "));

function isCopied(kind: string, question: string, passage: string): boolean {
  if (longestSharedRun(answerWords(question), answerWords(passage)) > maxSharedRun) return true;
  if (kind !== "paraphrased") return false;
  const said = tellingWords(question);
  const held = tellingWords(passage);
  return [...said].filter((word) => held.has(word)).length > maxSharedShare * said.size;
}

function longestSharedRun(words: readonly string[], others: readonly string[]): number {
  const line = ` ${others.join(" ")} `;
  let longest = 0;
  for (let start = 0; start < words.length; start++) {
    while (start + longest < words.length && line.includes(` ${words.slice(start, start + longest + 1).join(" ")} `)) {
      longest++;
    }
  }
  return longest;
}

function similarity(words: ReadonlySet<string>, others: ReadonlySet<string>): number {
  const shared = [...words].filter((word) => others.has(word)).length;
  return shared / Math.max(1, words.size + others.size - shared);
}
