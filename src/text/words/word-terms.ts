import { stemmer } from "stemmer";

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
export function wordTerms(word: string): readonly string[] {
  // More than half of the different words of documentation: there are no parts or signs to look for, and it is no version.
  if (/^(?![Vv]\d+$)[A-Za-z][a-z\d]*$/.test(word)) return stemOf(word.toLowerCase());
  const whole = word.replace(/^_+/, "").slice(0, -trailingUnderscores(word) || undefined);
  if (!/[\p{L}\p{N}]/u.test(whole)) return [];
  if (/^v?\d[\d.,]*$/i.test(whole)) return number(whole);
  if (!/[._,]/.test(whole)) return singleWord(whole);

  const parts = whole.split(/[._,]+/).flatMap(singleWord);
  return whole.length <= maxTermLength ? [plain(whole), ...parts] : parts;
}

/** `10,000` becomes 10000; `v1.2` is also found as `1.2`. */
function number(written: string): string[] {
  const term = written
    .toLowerCase()
    .replace(/,(?=\d{3}(?:\D|$))/g, "")
    .slice(0, maxTermLength);
  return term.startsWith("v") ? [term, term.slice(1)] : [term];
}

/**
 * The English stem of a lower-case word, by Porter's rules (https://tartarus.org/martin/PorterStemmer/). Words with other
 * letters than a to z stay as they are.
 */
export function stem(word: string): string {
  return word.length > 2 && /^[a-z]+$/.test(word) ? stemmer(word) : word;
}

/**
 * A word of which a search makes this stem again. The stem itself may have a shorter one, as `respons` does; with an `e` behind it,
 * it has not.
 */
export function wordOfStem(term: string): string {
  return stem(term) === term ? term : `${term}e`;
}

function trailingUnderscores(word: string): number {
  let count = 0;
  while (word.charCodeAt(word.length - 1 - count) === 0x5f) count++;
  return count;
}

function singleWord(word: string): string[] {
  const written = word.replace(/['’][sS]$/, "");
  const lower = plain(written);
  if (lower === "" || stopWords.has(lower)) return [];
  const parts = humps(written)
    .map(plain)
    .filter((part) => !stopWords.has(part));
  return [stem(lower).slice(0, maxTermLength), ...parts.map(stem)];
}

function stemOf(lower: string): readonly string[] {
  return stopWords.has(lower) ? [] : [stem(lower).slice(0, maxTermLength)];
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
function humps(word: string): string[] {
  if (word.length > maxTermLength || !/[a-z0-9][A-Z]|[A-Z]{2}[a-z]/.test(word)) return [];
  const found = [...word.matchAll(/[A-Z]+(?![a-z])|[A-Z]?[^A-Z]+/g)];
  if (found.length < 2) return [];
  const tooShort = found.some(({ 0: part, index }) => {
    const afterAcronym = index > 1 && /^[A-Z]{2}$/.test(word.slice(index - 2, index));
    return part.length < (afterAcronym ? 3 : 2);
  });
  return tooShort ? [] : found.map(([part]) => part);
}
