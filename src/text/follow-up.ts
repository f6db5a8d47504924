/** Words that point at something said before. */
const pointing =
  /\b(?:it|its|they|them|their|theirs|this|that|these|those|he|she|his|her|there|one|ones|same|former|latter|else|instead)\b|^(?:and|but|so|also|what about|how about|why)\b|它|他们|她|这个|那个|这些|那些|其|该|上述|前者|后者|那么|呢[?？]?$/i;

/** Words that make a question rather than say what it is about. */
const asking = new Set(
  "what when where which who whom whose does did have been would could should will shall about with from into more than please tell show give".split(
    " ",
  ),
);

/** Fewer words, or Chinese or Japanese characters, can hardly name what a question is about. */
const fewWords = 3;
const fewCharacters = 8;

/** Whether a question has words that point at something said before. */
export function pointsBack(question: string): boolean {
  return pointing.test(question);
}

/**
 * Whether a question is likely to be understood without what was said before it: it points at nothing and names enough.
 * Rather says no: what stands alone is hardly changed by being put anew.
 */
export function standsAlone(question: string): boolean {
  if (pointsBack(question)) return false;
  const characters = question.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu)?.length ?? 0;
  const words = new Set(question.toLowerCase().match(/[\p{L}\p{N}_.-]{4,}/gu) ?? []);
  const telling = [...words].filter((word) => !asking.has(word) && !/[\p{Script=Han}]/u.test(word));
  return telling.length >= fewWords || characters >= fewCharacters;
}
