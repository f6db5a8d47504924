/**
 * Endings that stems have lost. Two words are compared as they are written, but an index has stems: `propag` is near to
 * `propogators` because of the `ators`.
 */
const endings = (
  "a able ably al ally ality ance ances ant ate ated ates ating ation ations ative ator ators ability e ed en ence ences ent er " +
  "ers es ful ible ibility ic ical ically ication ied ies ing ings ion ions ism ist ities ity ive ively ization ize ized izer " +
  "izing less ly ment ments ness or ors ous s y"
).split(" ");

const longestEnding = Math.max(...endings.map((ending) => ending.length));

/** Longest stem that is compared, in UTF-16 code units. */
const maxLength = 32;

/** Shortest word that may have slips, and shortest one that may have two, in letters. */
const [minLetters, minLettersOfTwoSlips] = [5, 8];

/** Shortest word whose first letter may be the wrong one. People rarely miss it, and a short word with another one is another word. */
const minFirstLetterSlips = 7;

/** Shortest beginning of a word that is completed. */
const minUnfinished = 3;

const alphabet = "abcdefghijklmnopqrstuvwxyz".split("");

/** Maximum number of slips that a typed word may have. */
export function maxSlips(typed: string): number {
  return typed.length < minLetters ? 0 : typed.length < minLettersOfTwoSlips ? 1 : 2;
}

/** Whether a term of an index is the stem of a plain word: of letters that have two cases, and neither too short nor too long. */
export function isStem(term: string): boolean {
  return term.length >= minUnfinished && term.length <= maxLength && /^\p{Ll}+$/u.test(term);
}

/** Describes the stems that are near to a typed word, so that an index in any order finds them. */
export interface NearStems {
  /** Every near stem has one of these beginnings. Empty: none is near. */
  readonly beginnings: readonly string[];
  /** Bounds of the lengths of near stems. */
  readonly minLength: number;
  readonly maxLength: number;
  /** Fewest slips between the typed word and a word of this stem; `undefined` where there are too many. */
  readonly slipsTo: (stem: string) => number | undefined;
}

/**
 * The stems of words that may have been meant: by a misspelt word, or by the beginning of one.
 *
 * @param typed in lower case.
 */
export function nearStems(typed: string, unfinished: boolean): NearStems {
  if (!isStem(typed)) return { beginnings: [], minLength: 0, maxLength: 0, slipsTo: () => undefined };
  return unfinished ? stemsOfUnfinished(typed) : stemsOfMisspelt(typed);
}

function stemsOfMisspelt(typed: string): NearStems {
  const most = maxSlips(typed);
  const [first = "", second = "", third = ""] = typed;
  const others =
    typed.length < minFirstLetterSlips
      ? []
      : alphabet.flatMap((letter) => [letter + second + third, letter + first + second]);
  const swapped = typed.length < minFirstLetterSlips ? [] : [second + first, second + third];
  return {
    beginnings: most === 0 ? [] : [...new Set([first, ...others, ...swapped])],
    minLength: Math.max(minUnfinished, typed.length - most - longestEnding),
    maxLength: Math.min(maxLength, typed.length + most),
    slipsTo: (stem) => fewestSlips(typed, stem, most),
  };
}

function stemsOfUnfinished(typed: string): NearStems {
  const shortest = Math.max(minUnfinished, typed.length - longestEnding);
  const isBegun = (stem: string) =>
    stem.startsWith(typed) || (typed.startsWith(stem) && endings.some((ending) => (stem + ending).startsWith(typed)));
  return {
    beginnings: [typed.slice(0, shortest)],
    minLength: shortest,
    maxLength,
    slipsTo: (stem) => (isBegun(stem) ? 0 : undefined),
  };
}

/** A stem with the slips to it, and the number of chunks that have it. */
export interface NearStem {
  readonly stem: string;
  readonly slips: number;
  readonly chunks: number;
}

/** The stems with the fewest slips, of those the most frequent, and of those the first in the alphabet. */
export function nearestStems(found: readonly NearStem[], count: number): readonly string[] {
  return found
    .filter(({ chunks }) => chunks > 0)
    .toSorted((a, b) => a.slips - b.slips || b.chunks - a.chunks || (a.stem < b.stem ? -1 : 1))
    .slice(0, count)
    .map(({ stem }) => stem);
}

/**
 * Slips that make one word of another: letters left out, put in or taken for others, and neighbours in the wrong order, none of which
 * is touched twice. `undefined` for more than `most`. Takes time in proportion to the lengths.
 */
export function slipsBetween(typed: string, word: string, most: number): number | undefined {
  const comparison = new Comparison(typed);
  for (const letter of word) if (comparison.add(letter) > most) return undefined;
  const { slips } = comparison;
  return slips > most ? undefined : slips;
}

function fewestSlips(typed: string, stem: string, most: number): number | undefined {
  const comparison = new Comparison(typed);
  for (const letter of stem) if (comparison.add(letter) > most) return undefined;
  let fewest = comparison.slips;
  for (const ending of endings) {
    for (const letter of ending) comparison.add(letter);
    fewest = Math.min(fewest, comparison.slips);
    comparison.remove(ending.length);
  }
  return fewest > most ? undefined : fewest;
}

/** Compares a typed word with another one, letter by letter, and back. */
class Comparison {
  readonly #typed: string;
  readonly #letters: string[] = [""];
  /** For each letter that was added, the slips between what was added so far and each beginning of the typed word. */
  readonly #rows: number[][];

  constructor(typed: string) {
    this.#typed = typed;
    this.#rows = [Array.from({ length: typed.length + 1 }, (_, length) => length)];
  }

  /** Slips between the whole typed word and what was added. */
  get slips(): number {
    return this.#rows.at(-1)!.at(-1)!;
  }

  /** Returns the fewest slips that are left whatever is added. */
  add(letter: string): number {
    const [typed, before, earlier] = [this.#typed, this.#rows.at(-1)!, this.#rows.at(-2)];
    const last = this.#letters.at(-1);
    const row = [this.#rows.length];
    let fewest = row[0]!;
    for (let at = 1; at <= typed.length; at++) {
      let slips = Math.min(before[at]! + 1, row[at - 1]! + 1, before[at - 1]! + (typed[at - 1] === letter ? 0 : 1));
      if (earlier && at > 1 && typed[at - 2] === letter && typed[at - 1] === last)
        slips = Math.min(slips, earlier[at - 2]! + 1);
      row.push(slips);
      fewest = Math.min(fewest, slips);
    }
    this.#rows.push(row);
    this.#letters.push(letter);
    return fewest;
  }

  remove(letters: number): void {
    this.#rows.length -= letters;
    this.#letters.length -= letters;
  }
}
