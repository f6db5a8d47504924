import { pointsBack } from "../../../text/words/follow-up.js";
import { smallTalk } from "../../../text/words/small-talk.js";
import { parseQuestion } from "../../../text/prompt/prompt.js";
import { terms } from "../../../text/words/terms.js";
import type { EngineMessage } from "../engines.js";
import { rarity } from "../rarity.js";
import { isChinese } from "../../../text/words/chinese.js";

const asksToRewrite =
  /\b(?:standalone|stand-alone|self-contained)\b|\b(?:rewrite|rephrase|reformulate|condense)\b[^.\n]{0,80}\b(?:question|query)\b|(?:改写|重写|独立)[^。\n]{0,20}(?:问题|提问|查询)/i;

/** Whether the instructions ask for a question to be put anew instead of being answered. */
export function isRewriteRequest(instructions: string): boolean {
  return asksToRewrite.test(instructions);
}

/** Content words below which a question can hardly stand alone. */
const fewTerms = 3;
/** Maximum number of words added from before. */
const maxAddedWords = 8;

/**
 * A follow-up as a question of its own: what it points at is named behind it, in the words of the turns before. Returns
 * the question as it is when it stands alone, when nothing was named, or is a greeting or thanks, which are about nothing.
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

/** The subject of the newest earlier turn that names something, in the words of that turn. */
function subjectOf(earlier: readonly string[], own: ReadonlySet<string>): string {
  for (const text of earlier.toReversed()) {
    if (smallTalk(text)) continue;
    const telling = (word: string) => terms(word).filter((term) => rarity(term) >= 0.7);
    const isNew = (phrase: string) => telling(phrase).some((term) => !own.has(term));
    const phrases = isChinese(text)
      ? (text.match(/[\p{Script=Han}]{2,}|[\p{L}\p{N}_.-]+/gu) ?? [])
      : text.split(/[^\p{L}\p{N}\s_.'-]+|[.'-]+(?=\s|$)/u).flatMap((clause) => nounPhrases(clause, telling));
    const kept = [...new Set(phrases)].filter(isNew);
    if (kept.length > 0)
      return kept
        .join(isChinese(text) ? " " : ", ")
        .split(" ")
        .slice(0, maxAddedWords)
        .join(" ")
        .replace(/,$/, "");
  }
  return "";
}

const bridging = /^(?:of|for|in|on|at|with|from|and|an?|the)$/i;
const determiner = /^(?:an?|the|my|our|your|their|its)$/i;
/** Words that a verb follows: "who rotates", "how do I configure", "ways to renew". */
const beforeVerb = /^(?:who|it|they|i|we|you|he|she|to)$/i;
const auxiliary = /^(?:do|does|did|can|could|will|would|should|must|may|might)$/i;

/**
 * The telling words of a clause with what joins them, as they stand there. Verbs that are easily known are left out, so that a
 * question such as "What rotates?" names nothing.
 */
function nounPhrases(clause: string, telling: (word: string) => readonly string[]): string[] {
  const words = clause.split(/\s+/u).filter((word) => word !== "");
  const tells = words.map((word) => telling(word).length > 0);
  const phrases: string[] = [];
  for (let from = tells.indexOf(true), to = 0; from !== -1; from = tells.indexOf(true, to)) {
    const rest = words.findIndex((word, index) => index > from && !tells[index] && !bridging.test(word));
    const open = rest === -1 ? words.length : rest;
    to = tells.lastIndexOf(true, open - 1) + 1;
    let [start, end] = [from, to];
    const before = words.slice(0, from).findLast((word) => !determiner.test(word)) ?? "";
    const isAlone = end - start === 1 || determiner.test(words[start + 1]!);
    const isVerb = /^(?:what|which)$/i.test(before) && words[start]!.endsWith("s") && isAlone && end === words.length;
    if (beforeVerb.test(before) || isVerb) start++;
    else if (auxiliary.test(before) && end === words.length && end - start > 1) end--;
    while (start < end && !tells[start]) start++;
    while (start < end && !tells[end - 1]) end--;
    if (start < end) phrases.push(words.slice(start, end).join(" "));
  }
  return phrases;
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
