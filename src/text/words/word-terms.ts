import { stemmer } from "stemmer";

/** A term and its place in the word it was made from, in UTF-16 code units. */
export interface WordTerm {
  readonly term: string;
  readonly start: number;
  readonly end: number;
}

// Lucene's English stop words:
// https://github.com/apache/lucene/blob/main/lucene/analysis/common/src/java/org/apache/lucene/analysis/en/EnglishAnalyzer.java
const stopWords = new Set(
  (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this " +
    "to was will with"
  ).split(" "),
);

/** A longer compound is found only by its parts, and a longer single word by its beginning. */
const maxTermLength = 128;

/**
 * The terms of one word as it stands in the text: letters, digits and the signs between them. A plain word gives its
 * stem, a stop word nothing, a number itself. A compound such as `OTEL_TRACES_SAMPLER` or `server.listenPort` gives itself
 * and its parts, so that either finds it.
 */
export function wordTerms(word: string): readonly WordTerm[] {
  const start = /^_*/.exec(word)?.[0].length ?? 0;
  const end = word.length - trailingUnderscores(word);
  if (start >= end) return [];
  const whole = word.slice(start, end);
  if (!/[\p{L}\p{N}]/u.test(whole)) return [];
  if (/^v?\d[\d.,]*$/i.test(whole)) return number(whole, start, end);
  if (!/[._,]/.test(whole)) return singleWord(whole, start);

  const terms = whole.length <= maxTermLength ? [span(plain(whole), start, end)] : [];
  for (const part of whole.matchAll(/[^._,]+/g)) terms.push(...singleWord(part[0], start + part.index));
  return terms;
}

/** `10,000` becomes 10000; `v1.2` is also found as `1.2`. */
function number(written: string, start: number, end: number): WordTerm[] {
  const term = cut(written.toLowerCase().replace(/,(?=\d{3}(?:\D|$))/g, ""));
  const whole = span(term, start, end);
  return term.startsWith("v") ? [whole, span(term.slice(1), start + 1, end)] : [whole];
}

/**
 * The English stem of a lower-case word, by Porter's rules (https://tartarus.org/martin/PorterStemmer/). Words with other
 * letters than a to z stay as they are.
 */
export function stem(word: string): string {
  return word.length > 2 && /^[a-z]+$/.test(word) ? stemmer(word) : word;
}

function trailingUnderscores(word: string): number {
  let count = 0;
  while (word.charCodeAt(word.length - 1 - count) === 0x5f) count++;
  return count;
}

function singleWord(word: string, start: number): WordTerm[] {
  const possessive = /['’][sS]$/.test(word) ? 2 : 0;
  const end = start + word.length - possessive;
  const written = possessive > 0 ? word.slice(0, -possessive) : word;
  const lower = plain(written);
  if (lower === "" || stopWords.has(lower)) return [];
  const terms = [span(cut(stem(lower)), start, end)];
  for (const { part, at } of humps(written)) {
    const lowerPart = plain(part);
    if (!stopWords.has(lowerPart)) terms.push(span(stem(lowerPart), start + at, start + at + part.length));
  }
  return terms;
}

function span(term: string, start: number, end: number): WordTerm {
  return { term, start, end };
}

function cut(term: string): string {
  return term.length > maxTermLength ? term.slice(0, maxTermLength) : term;
}

/** One spelling for all: compatibility forms composed, lower case, without apostrophes and invisible joiners. */
function plain(word: string): string {
  if (/^[\w.+#]*$/.test(word)) return word.toLowerCase();
  return word
    .normalize("NFKC")
    .toLowerCase()
    .replace(/['’]|\u00ad|\u200c|\u200d|\u2060/g, "");
}

/**
 * Parts of `listenPort` and `HTTPServer`. A word is left whole if a part would be shorter than two letters, or three
 * after an acronym: `mRNA` and `RNAs` are single words.
 */
function humps(word: string): { readonly part: string; readonly at: number }[] {
  if (word.length > maxTermLength || !/[a-z0-9][A-Z]|[A-Z]{2}[a-z]/.test(word)) return [];
  const found = [...word.matchAll(/[A-Z]+(?![a-z])|[A-Z]?[^A-Z]+/g)];
  if (found.length < 2) return [];
  const tooShort = found.some(({ 0: part, index }) => {
    const afterAcronym = index > 1 && /^[A-Z]{2}$/.test(word.slice(index - 2, index));
    return part.length < (afterAcronym ? 3 : 2);
  });
  return tooShort ? [] : found.map(({ 0: part, index }) => ({ part, at: index }));
}
