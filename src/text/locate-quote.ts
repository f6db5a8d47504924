import type { Support } from "../types.js";
import { alignWords, bestWindow } from "./align-words.js";
import { comparable, type ComparableText } from "./comparable-text.js";
import { sentences } from "./sentences.js";
import { pairCharacters, spacedLetter, wordsOf, type WordSpan } from "./word-spans.js";

/** Words that were found in a text. */
export interface LocatedWords {
  /** Offsets into the text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly support: Exclude<Support, "missing">;
}

/** Finds words in one text. Prepared once, asked often. */
export interface QuoteLocator {
  /**
   * Where the text holds a quote: as it is, else after evening out case, white space, quotes, dashes and markup, else
   * by words, when at least 80 % of them stand there in this order and every number and negation is the same.
   */
  readonly quote: (words: string) => LocatedWords | undefined;
  /**
   * What a sentence rests on: where it is quoted outright, else the sentences of the text in which at least 60 % of its
   * distinct words stand close together, with the same numbers and negations.
   */
  readonly sentence: (sentence: string) => LocatedWords | undefined;
}

/** At least this share of a quote's words must stand in the text, in order: one word in five may differ. */
const quoteThreshold = 0.8;
/** At least this share of a sentence's words must stand close together: people and models paraphrase. */
const sentenceThreshold = 0.6;

/** Below this many words a quote that is not there literally says too little to be near anything. */
const fewestFuzzyWords = 4;
/** Aligning costs words of the quote times words of the text; nobody quotes this much in one go. */
const mostFuzzyWords = 200;

export function quoteLocator(text: string): QuoteLocator {
  let prepared: { readonly form: ComparableText; readonly words: readonly WordSpan[] } | undefined;
  const prepare = () => {
    if (!prepared) {
      const form = comparable(text);
      prepared = { form, words: wordsOf(form.text) };
    }
    return prepared;
  };
  const back = (start: number, end: number, support: LocatedWords["support"]): LocatedWords => {
    const { starts, ends } = prepare().form;
    return { start: starts[start] ?? 0, end: ends[end - 1] ?? 0, support };
  };

  const literally = (given: string): LocatedWords | undefined => {
    const words = given.trim();
    if (!/[\p{Letter}\p{Number}]/u.test(words)) return undefined;
    const exact = findWhole(text, words);
    if (exact !== undefined) return { start: exact, end: exact + words.length, support: "exact" };
    const form = comparable(words).text;
    if (!/[\p{Letter}\p{Number}]/u.test(form)) return undefined;
    for (const candidate of [form, form.replace(/[^\p{Letter}\p{Number}]+$/u, "")]) {
      const start = findWhole(prepare().form.text, candidate);
      if (start !== undefined) return back(start, start + candidate.length, "normalised");
    }
    return undefined;
  };

  return {
    quote: (given) => {
      const found = literally(given);
      if (found) return found;
      const wanted = wordsOf(comparable(given).text);
      if (wanted.length < fewestFuzzyWords || wanted.length > mostFuzzyWords) return undefined;
      const { words } = prepare();
      const window = alignWords(wanted, words, quoteThreshold);
      return window && sameSense(wanted, words.slice(window.from, window.to)) ? span(words, window) : undefined;
    },
    sentence: (given) => {
      const said = literally(given);
      if (said) return said;
      const wanted = pairCharacters(wordsOf(comparable(given).text));
      if (wanted.length < fewestFuzzyWords || wanted.length > mostFuzzyWords) return undefined;
      const words = pairCharacters(prepare().words);
      const window = bestWindow(wanted, words, sentenceThreshold);
      const found = window && sameSense(wanted, words.slice(window.from, window.to)) && span(words, window);
      return found ? wholeSentences(found) : undefined;
    },
  };

  function wholeSentences(found: LocatedWords): LocatedWords {
    const touched = sentences(text).filter(({ start, end }) => end > found.start && start < found.end);
    return { ...found, start: touched[0]?.start ?? found.start, end: touched.at(-1)?.end ?? found.end };
  }

  function span(words: readonly WordSpan[], { from, to }: { readonly from: number; readonly to: number }) {
    const first = words[from];
    const last = words[to - 1];
    return first && last && back(first.start, last.end, "fuzzy");
  }
}

/** Where `words` stand in `text` and do not begin or end inside another word. */
function findWhole(text: string, words: string): number | undefined {
  if (words === "") return undefined;
  const opensWithLetter = spacedLetterAtStart.test(words);
  const closesWithLetter = spacedLetterAtEnd.test(words);
  for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + 1)) {
    const end = at + words.length;
    const cutBefore = opensWithLetter && spacedLetterAtEnd.test(text.slice(Math.max(0, at - 2), at));
    const cutAfter = closesWithLetter && spacedLetterAtStart.test(text.slice(end, end + 2));
    if (!cutBefore && !cutAfter) return at;
  }
  return undefined;
}

const spacedLetterAtStart = new RegExp(`^${spacedLetter}`, "u");
const spacedLetterAtEnd = new RegExp(`${spacedLetter}$`, "u");

const negations = new Set(["not", "no", "never", "none", "neither", "nor", "without", "cannot"]);

/** Few words differ, but a number or a "not" among them turns the sense around. */
function sameSense(wanted: readonly WordSpan[], found: readonly WordSpan[]): boolean {
  const there = new Set(found.map(({ word }) => word));
  const numbers = wanted.every(({ word }) => !/\p{N}/u.test(word) || there.has(word));
  return numbers && wanted.some(denies) === found.some(denies);
}

function denies({ word }: WordSpan): boolean {
  return negations.has(word) || word.endsWith("n't") || /[不没未无勿非]/u.test(word);
}
