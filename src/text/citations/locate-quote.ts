import type { Support } from "../../core/types.js";
import { alignWords, bestWindow } from "./align-words.js";
import { sentences } from "../blocks/sentences.js";
import {
  comparable,
  type ComparableText,
  pairCharacters,
  spacedLetter,
  wordsOf,
  type WordSpan,
} from "./comparable-text.js";

/** Words that were found in a text. */
export interface LocatedWords {
  /** Offsets into the text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly support: Exclude<Support, "missing">;
}

/** Finds quotes and sentences in one text, which it prepares once. */
export interface QuoteLocator {
  /**
   * Where the text has a quote: literally, else with case, white space, quotes, dashes and markup normalised, else by
   * words, if at least 80 % of them are there in this order and every number and negation is the same.
   */
  readonly quote: (words: string) => LocatedWords | undefined;
  /**
   * What supports a sentence: the text that quotes it literally, else the sentences in which at least 60 % of its distinct
   * words stand close together, with the same numbers and negations.
   */
  readonly sentence: (sentence: string) => LocatedWords | undefined;
}

/** Minimum share of a quote's words in the text, in order: one word in five may differ. */
const quoteThreshold = 0.8;
/** Minimum share of a sentence's words close together: people and models paraphrase. */
const sentenceThreshold = 0.6;

/** Shorter quotes must be there literally: too much resembles them. */
const minFuzzyWords = 4;
/** Aligning takes words of the quote times words of the text; nobody quotes this much at once. */
const maxFuzzyWords = 200;

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
      if (wanted.length < minFuzzyWords || wanted.length > maxFuzzyWords) return undefined;
      const { words } = prepare();
      const window = alignWords(wanted, words, quoteThreshold);
      return window && sameSense(wanted, words.slice(window.from, window.to)) ? span(words, window) : undefined;
    },
    sentence: (given) => {
      const said = literally(given);
      if (said) return said;
      const wanted = pairCharacters(wordsOf(comparable(given).text));
      if (wanted.length < minFuzzyWords || wanted.length > maxFuzzyWords) return undefined;
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

/** The first place of `words` in `text` where they do not begin or end inside another word. */
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

/** Even if few words differ, a number or a "not" among them changes the sense. */
function sameSense(wanted: readonly WordSpan[], found: readonly WordSpan[]): boolean {
  const there = new Set(found.map(({ word }) => word));
  const numbers = wanted.every(({ word }) => !/\p{N}/u.test(word) || there.has(word));
  return numbers && wanted.some(isNegation) === found.some(isNegation);
}

function isNegation({ word }: WordSpan): boolean {
  return negations.has(word) || word.endsWith("n't") || /[不没未无勿非]/u.test(word);
}
