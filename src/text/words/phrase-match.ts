import type { Chunk } from "../../core/types.js";
import { terms } from "./terms.js";

const unspaced =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\u30fc";
const spaced = `(?:(?![${unspaced}])[\\p{L}\\p{N}\\p{M}])`;
const possessive = new RegExp(`['’](?=s(?!['’]?${spaced}))`, "gu");
const apostrophe = new RegExp(`(?<=${spaced})['’](?=${spaced})`, "gu");
// A word, a character of an unspaced script, or the signs between two such characters.
const wordPattern = new RegExp(
  `[${unspaced}]|(?<=[${unspaced}])[^\\p{L}\\p{N}\\p{M}]+(?=[${unspaced}])|${spaced}+`,
  "gu",
);
const partOfWord = /[\p{L}\p{N}\p{M}]/u;
const unspacedStart = new RegExp(`^[${unspaced}]`, "u");
const plainWord = /^[a-z]{2,64}$/;
const hanRun = /^\p{Script=Han}{2,}$/u;

/**
 * The form in which phrases are searched: the words of a text in order, with one space between them and at either end.
 * Case, width and punctuation do not count. In scripts without spaces every character is a word, and `|` marks that
 * something separates two of them. Apostrophes join, as in `terms`, except before a possessive `s`.
 */
export function wordLine(text: string): string {
  const normalised = text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/\u00ad|\u200c|\u200d|\u2060/g, "")
    .replace(possessive, " ")
    .replace(apostrophe, "");
  const words = (normalised.match(wordPattern) ?? []).map((word) => (partOfWord.test(word) ? word : "|"));
  return ` ${words.join(" ")} `;
}

/** Phrases that hits must and must not contain. */
export interface HitConditions {
  readonly phrases?: readonly string[];
  readonly not?: readonly string[];
}

type Searched = Pick<Chunk, "context" | "text">;

/**
 * Makes a check that returns why a chunk does not meet the conditions, or `undefined` if it does; there is no check
 * without conditions. A phrase must be in the text or the context word for word. A single excluded word excludes every
 * form it would find, so `-log` also `logs`; several words or characters exclude only where they stand together.
 */
export function conditionCheck({
  phrases = [],
  not = [],
}: HitConditions): ((chunk: Searched) => string | undefined) | undefined {
  const required = phrases
    .map((phrase) => ({ phrase, line: wordLine(phrase) }))
    .filter(({ line }) => line.trim() !== "");
  const excluded = not
    .map((phrase) => {
      const line = wordLine(phrase);
      return isSingleWord(line) ? { phrase, line, term: terms(phrase)[0] ?? "" } : { phrase, line };
    })
    // A stop word alone finds nothing, so it excludes nothing.
    .filter(({ line, term }) => line.trim() !== "" && term !== "");
  if (required.length === 0 && excluded.length === 0) return undefined;
  const usesTerms = excluded.some(({ term }) => term !== undefined);
  return ({ context, text }) => {
    const [contextLine, textLine] = [wordLine(context), wordLine(text)];
    const holds = (line: string) => textLine.includes(line) || contextLine.includes(line);
    const missing = required.find(({ line }) => !holds(line));
    if (missing) return `does not hold the phrase "${missing.phrase}"`;
    const known = usesTerms ? new Set([...terms(context), ...terms(text)]) : undefined;
    const held = excluded.find(({ line, term }) => (term === undefined ? holds(line) : known?.has(term)));
    return held && `holds "${held.phrase}", which the query excludes`;
  };
}

function isSingleWord(line: string): boolean {
  const word = line.trim();
  return !word.includes(" ") && !unspacedStart.test(word);
}

/**
 * Terms that every text with these phrases has, by which an index can narrow the search before any text is read. Leaves
 * out terms that depend on the neighbours of a word.
 */
export function requiredTerms(phrases: readonly string[]): readonly string[] {
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
