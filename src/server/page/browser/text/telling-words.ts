/** Words of questions and of grammar, which say nothing of the subject. */
const common = new Set(
  (
    "a an the and or of in on at to for from by with without about into is are was were be been do does did has have had can could " +
    "should would will may must what which who whose when where why how it its this that these those there not no any all as if than " +
    "then you your we our my me i"
  ).split(" "),
);
const commonCharacters = "的了是在和有为与之以及于也被等由其这么什哪谁怎几何吗呢如";

/** Shortest beginning that forms of a word share. */
const minShared = 4;

export interface Place {
  readonly start: number;
  readonly end: number;
}

/** The places of a text that hold a word of the question in any form, or two neighbouring Chinese characters of it. */
export function tellingPlaces(text: string, question: string): readonly Place[] {
  const asked = wordsOf(question).map(({ word }) => word);
  return wordsOf(text).filter(({ word }) => asked.some((one) => isForm(word, one)));
}

function wordsOf(text: string): readonly (Place & { readonly word: string })[] {
  const words: (Place & { readonly word: string })[] = [];
  for (const { 0: found, index } of text
    .toLowerCase()
    .matchAll(/\p{Script=Han}+|(?:(?!\p{Script=Han})[\p{L}\p{N}_])+/gu)) {
    if (!/\p{Script=Han}/u.test(found)) {
      if (!common.has(found)) words.push({ word: found, start: index, end: index + found.length });
      continue;
    }
    for (let at = 0; at + 1 < found.length; at++) {
      const pair = found.slice(at, at + 2);
      const isCommon = commonCharacters.includes(found[at]!) || commonCharacters.includes(found[at + 1]!);
      if (!isCommon) words.push({ word: pair, start: index + at, end: index + at + 2 });
    }
  }
  return words;
}

/** Whether two words differ in their endings alone. */
function isForm(one: string, other: string): boolean {
  if (one === other) return true;
  let shared = 0;
  while (shared < one.length && one[shared] === other[shared]) shared++;
  const rests = [one.slice(shared), other.slice(shared)];
  return shared >= minShared - 1 && rests.every((rest) => /^(?:e?s|e|y|ies|ied|ing|e?d|er)?$/.test(rest));
}
