import { asksForNothing } from "./small-talk.js";

/** Words that refer to something said before. */
const referring =
  /\b(?:it|its|they|them|their|theirs|this|that|these|those|he|she|his|her|there|one|ones|same|former|latter|else|instead)\b|^(?:and|but|so|also|what about|how about|why)\b|它|他们|她|这个|那个|这些|那些|其|该|上述|前者|后者|那么|呢[?？]?$/i;

/** Words that form a question but do not say what it is about. */
const questionWords = new Set(
  "what when where which who whom whose does did have been would could should will shall about with from into more than please tell show give".split(
    " ",
  ),
);

/** With fewer words, or Chinese or Japanese characters, a question hardly names its subject. */
const minWords = 3;
const minCharacters = 8;

/** Whether a question has words that refer to something said before. */
export function pointsBack(question: string): boolean {
  return referring.test(question);
}

/**
 * Whether a question can be understood without the conversation: it refers to nothing said before and names its subject, or asks
 * for nothing, as a greeting does.
 * Says no in doubt, since rephrasing a question that stands alone hardly changes it.
 */
export function standsAlone(question: string): boolean {
  if (asksForNothing(question)) return true;
  if (pointsBack(question)) return false;
  const characters = question.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu)?.length ?? 0;
  const words = new Set(question.toLowerCase().match(/[\p{L}\p{N}_.-]{4,}/gu) ?? []);
  const naming = [...words].filter((word) => !questionWords.has(word) && !/[\p{Script=Han}]/u.test(word));
  return naming.length >= minWords || characters >= minCharacters;
}
