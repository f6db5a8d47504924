import type { Chunk } from "../types.js";
import { terms } from "./terms.js";

const unspaced =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\u30fc";
const spaced = `(?:(?![${unspaced}])[\\p{L}\\p{N}\\p{M}])`;
const possessive = new RegExp(`['’](?=s(?!['’]?${spaced}))`, "gu");
const apostrophe = new RegExp(`(?<=${spaced})['’](?=${spaced})`, "gu");
// A word, a character of an unspaced script, or what parts two such characters.
const wordPattern = new RegExp(
  `[${unspaced}]|(?<=[${unspaced}])[^\\p{L}\\p{N}\\p{M}]+(?=[${unspaced}])|${spaced}+`,
  "gu",
);
const partOfWord = /[\p{L}\p{N}\p{M}]/u;
const unspacedStart = new RegExp(`^[${unspaced}]`, "u");
const plainWord = /^[a-z]{2,64}$/;
const hanRun = /^\p{Script=Han}{2,}$/u;

/**
 * The words of a text in order, one space between them and at either end: what phrases are looked for in. Case, width
 * and punctuation do not count. In scripts without spaces every character is a word, and `|` stands where something
 * parts two of them. Apostrophes join, as they do in `terms`, and only a possessive's `s` stands apart.
 */
export function wordLine(text: string): string {
  const even = text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/\u00ad|\u200c|\u200d|\u2060/g, "")
    .replace(possessive, " ")
    .replace(apostrophe, "");
  const words = (even.match(wordPattern) ?? []).map((word) => (partOfWord.test(word) ? word : "|"));
  return ` ${words.join(" ")} `;
}

/** What hits must and must not hold. */
export interface HitConditions {
  readonly phrases?: readonly string[];
  readonly not?: readonly string[];
}

type Searched = Pick<Chunk, "context" | "text">;

/**
 * A check of chunks by what a query demands: `undefined` for those that may stay, else the reason why not; `undefined`
 * in place of the check where nothing is demanded. A phrase stands in the text or in the context word for word. A single
 * excluded word excludes what it would be found by, `-log` also `logs`; several words or characters exclude where they
 * stand together.
 */
export function conditionCheck({
  phrases = [],
  not = [],
}: HitConditions): ((chunk: Searched) => string | undefined) | undefined {
  const wanted = phrases.map((phrase) => ({ phrase, line: wordLine(phrase) })).filter(({ line }) => line.trim() !== "");
  const unwanted = not
    .map((phrase) => {
      const line = wordLine(phrase);
      return isSingleWord(line) ? { phrase, line, term: terms(phrase)[0] ?? "" } : { phrase, line };
    })
    // A stop word alone is no word to a search.
    .filter(({ line, term }) => line.trim() !== "" && term !== "");
  if (wanted.length === 0 && unwanted.length === 0) return undefined;
  const usesTerms = unwanted.some(({ term }) => term !== undefined);
  return ({ context, text }) => {
    const [contextLine, textLine] = [wordLine(context), wordLine(text)];
    const holds = (line: string) => textLine.includes(line) || contextLine.includes(line);
    const lacking = wanted.find(({ line }) => !holds(line));
    if (lacking) return `does not hold the phrase "${lacking.phrase}"`;
    const known = usesTerms ? new Set([...terms(context), ...terms(text)]) : undefined;
    const held = unwanted.find(({ line, term }) => (term === undefined ? holds(line) : known?.has(term)));
    return held && `holds "${held.phrase}", which the query excludes`;
  };
}

function isSingleWord(line: string): boolean {
  const word = line.trim();
  return !word.includes(" ") && !unspacedStart.test(word);
}

/**
 * Terms that a text with these phrases has for certain: what an index can narrow the search down by, before the texts
 * themselves are looked at. Only terms that do not depend on what stands beside a word.
 */
export function surelyHeld(phrases: readonly string[]): readonly string[] {
  const held = new Set<string>();
  for (const phrase of phrases) {
    const line = wordLine(phrase).trim();
    for (const word of line.split(" ")) if (plainWord.test(word)) for (const term of terms(word)) held.add(term);
  }
  for (const phrase of phrases) {
    for (const run of phrase.normalize("NFKC").split(/[^\p{Script=Han}]+/u)) {
      if (hanRun.test(run)) for (const term of terms(run)) held.add(term);
    }
  }
  return [...held];
}
