import type { Chunk } from "../core/types.js";
import { answerWords } from "../evaluate/metrics.js";
import { plainText, proseSentences } from "../text/blocks/plain-text.js";
import { isChinese } from "../text/words/chinese.js";
import { headingsOf } from "../text/words/page-names.js";
import { type DraftQuestion, tellingWords } from "./question-rules.js";

/** Fewest words of a sentence that can be told from others by its words. */
const minWords = 8;

/** Fewest words that are a question: two or three fit many passages. */
const minQuestionWords = 4;

/** Words of a passage that a question is known by: more would have to stay together in a chunk of any size. */
const maxQuoteWords = 25;

/**
 * A question from the text alone, for want of a model that asks: the heading above a passage, or two thirds of the telling
 * words of one of its sentences. Both are nearer to the text than what people ask, so they favour searching by words.
 *
 * @param random 0 to below 1.
 */
export function questionFromText(
  chunk: Chunk,
  kind: "heading" | "sentence",
  random: () => number,
): DraftQuestion | undefined {
  const sentences = proseSentences(chunk.text)
    .map(({ start, end }) => chunk.text.slice(start, end).trim())
    .filter((sentence) => isProse(sentence));
  if (sentences.length === 0) return undefined;
  const sentence = kind === "heading" ? sentences[0]! : sentences[Math.floor(random() * sentences.length)]!;
  const text = kind === "heading" ? headingQuestion(chunk) : sentenceQuestion(sentence, random);
  return text === undefined ? undefined : { kind, text, answer: "", quotes: [firstWords(sentence)] };
}

function isProse(sentence: string): boolean {
  // Front matter, tables, code and lists of links are no sentences that somebody asks about.
  return !/[|{}<>`=]|^[-#*]|:\/\/|\n\s*\n|^\w+:\s/.test(sentence) && answerWords(sentence).length >= minWords;
}

function headingQuestion(chunk: Chunk): string | undefined {
  const headings = headingsOf({ context: chunk.context, text: "" }).map((heading) => plainText(heading).trim());
  const last = headings.at(-1);
  if (last === undefined) return undefined;
  const before = headings.at(-2);
  return tellingWords(last).size >= 2 || before === undefined ? last : `${before} ${last}`;
}

function sentenceQuestion(sentence: string, random: () => number): string | undefined {
  const plain = plainText(sentence).trim();
  if (isChinese(plain)) {
    const half = Math.ceil(plain.length / 2);
    const start = random() < 0.5 ? 0 : plain.length - half;
    return plain.slice(start, start + half);
  }
  const dropped = Math.floor(random() * 3);
  const words = [...tellingWords(plain)].filter((_, index) => index % 3 !== dropped);
  return words.length < minQuestionWords ? undefined : words.join(" ");
}

function firstWords(sentence: string): string {
  if (isChinese(sentence)) return sentence.slice(0, 2 * maxQuoteWords);
  return sentence.split(/\s+/).slice(0, maxQuoteWords).join(" ");
}
