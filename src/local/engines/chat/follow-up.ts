import { pointsBack } from "../../../text/words/follow-up.js";
import { smallTalk } from "../../../text/words/small-talk.js";
import { parseQuestion } from "../../../text/prompt/prompt.js";
import { terms } from "../../../text/words/terms.js";
import type { EngineMessage } from "../engines.js";
import { rarity } from "../rarity.js";
import { isChinese } from "./reading.js";

const asksToRewrite =
  /\b(?:standalone|stand-alone|self-contained)\b|\b(?:rewrite|rephrase|reformulate|condense)\b[^.\n]{0,80}\b(?:question|query)\b|(?:改写|重写|独立)[^。\n]{0,20}(?:问题|提问|查询)/i;

/** Whether the instructions ask for a question to be put anew instead of being answered. */
export function isRewriteRequest(instructions: string): boolean {
  return asksToRewrite.test(instructions);
}

/** Content words below which a question can hardly stand alone. */
const fewTerms = 3;
/** Words added from before, most telling first. */
const maxAddedWords = 8;

/**
 * A follow-up as a question of its own: what it points at is named behind it, in the words of the turns before. Returns
 * the question as it is when it stands alone, or is a greeting or thanks, which are about nothing.
 */
export function standaloneQuestion(question: string, earlier: readonly string[]): string {
  if (smallTalk(question)) return question;
  const own = new Set(terms(question));
  const telling = [...own].filter((term) => rarity(term) >= 0.7);
  if (!pointsBack(question) && telling.length >= fewTerms) return question;
  const subject = subjectOf(earlier, own);
  if (subject === "") return question;
  const body = question.replace(/[?？。.!！\s]+$/, "");
  return isChinese(question) ? `${body}（关于${subject}）？` : `${body} (about ${subject})?`;
}

/** The telling words of the newest earlier turn that has any, in its order. */
function subjectOf(earlier: readonly string[], own: ReadonlySet<string>): string {
  for (const text of earlier.toReversed()) {
    if (smallTalk(text)) continue;
    const words = text.match(
      isChinese(text) ? /[\p{Script=Han}]{2,}|[\p{L}\p{N}_.-]+/gu : /[\p{L}\p{N}_][\p{L}\p{N}_.'-]*/gu,
    );
    const kept: string[] = [];
    for (const word of words ?? []) {
      const found = terms(word);
      const tells = found.some((term) => rarity(term) >= 0.7 && !own.has(term));
      const clean = word.replace(/[.'-]+$/, "");
      if (tells && !kept.includes(clean)) kept.push(clean);
    }
    if (kept.length > 0) return kept.slice(0, maxAddedWords).join(" ");
  }
  return "";
}

const roleLine = /^[ \t*-]*(user|human|question|assistant|ai|用户|助手)[ \t*]*[:：][ \t]*(.*)$/gim;

/** The user's turns before the last question: of messages, or of a transcript that one message holds. */
export function earlierQuestions(earlier: readonly EngineMessage[], asking: string): readonly string[] {
  const turns = earlier.filter(({ role }) => role === "user").map(({ text }) => parseQuestion(text) ?? text);
  const transcript = /<conversation_history>([\s\S]*?)<\/conversation_history>/.exec(asking)?.[1] ?? asking;
  const lines = [...transcript.matchAll(roleLine)]
    .filter(([, role = ""]) => /user|human|question|用户/i.test(role))
    .map(([, , text = ""]) => text.trim());
  return [...turns, ...lines.filter((line) => line !== "")];
}
