import { z } from "zod";
import { abortSignal } from "../core/call-options.js";
import { optionsOf, resolve } from "../core/options.js";
import type { Citation } from "../core/types.js";
import type { PassageQuestion } from "../evaluate/evaluate-passages.js";
import type { KnowledgeBase } from "../knowledge-base/options.js";
import { standsAlone } from "../text/words/follow-up.js";
import { asksForNothing } from "../text/words/small-talk.js";
import { tellingWords } from "./question-rules.js";

export interface AskedQuestionsOptions {
  /** Questions to take, the latest first, 1 or more. Default: all. */
  readonly count?: number;
  /** Puts `[mail]`, `[number]` and `[link]` in place of such words of the questions. Default: false. */
  readonly redact?: boolean;
  /** Stops before the next conversation, and makes the call throw the signal's `reason`. */
  readonly signal?: AbortSignal;
}

const askedQuestionsOptions = optionsOf<AskedQuestionsOptions>()({
  count: z.int().min(1).default(Number.MAX_SAFE_INTEGER),
  redact: z.boolean().default(false),
  signal: abortSignal.optional(),
});

/**
 * Questions that people asked, with the passages that the answers cited: those of answers that readers rated good (`rated`)
 * and those that nobody rated (`asked`). Nothing leaves the machine. Left out are answers that were rated bad, whose
 * passages nobody knows, answers without a citation that holds, small talk, and follow-ups that say too little by themselves.
 *
 * @example
 * ```ts
 * import { openKnowledgeBase } from "citewell";
 * import { askedQuestions } from "citewell/evaluate";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * const questions = await askedQuestions(kb, { redact: true });
 * ```
 */
export async function askedQuestions(
  kb: KnowledgeBase,
  options: AskedQuestionsOptions = {},
): Promise<readonly PassageQuestion[]> {
  const { count, redact, signal } = resolve("askedQuestions", askedQuestionsOptions, options);
  const questions: PassageQuestion[] = [];
  const seen = new Set<string>();
  for (const { id } of await kb.conversations()) {
    signal?.throwIfAborted();
    for (const { position, question, answer, feedback } of await kb.conversation({ id }).exchanges()) {
      if (questions.length === count) return questions;
      const rating = feedback?.rating;
      const places = placesOf(answer?.citations ?? []);
      const key = [...tellingWords(question)].toSorted().join(" ");
      if (!answer || answer.stopped || rating === "down" || places.length === 0 || seen.has(key)) continue;
      if (asksForNothing(question) || (position > 1 && !standsAlone(question))) continue;
      seen.add(key);
      questions.push({
        id: `asked-${String(questions.length + 1).padStart(3, "0")}`,
        kind: rating === "up" ? "rated" : "asked",
        text: redact ? withoutPersonalWords(question) : question,
        passages: [places],
      });
    }
  }
  return questions;
}

/** Any of the quotations is enough: an answer often cites two places that say the same. */
function placesOf(citations: readonly Citation[]): PassageQuestion["passages"][number] {
  return citations.filter(({ supported }) => supported).map(({ uri, quote }) => ({ uri, quote }));
}

/** The text with mail addresses, links, and numbers of five digits or more put away: they may belong to a person. */
export function withoutPersonalWords(text: string): string {
  return text
    .replace(/\b[a-z][a-z\d+.-]*:\/\/\S+|\bwww\.\S+/gi, "[link]")
    .replace(/[^\s@<>()"',;:]+@[^\s@<>()"',;:]+\.[^\s@<>()"',;:]+/g, "[mail]")
    .replace(/\+?\d(?:[\d\s().-]*\d){4,}/g, "[number]");
}
