import { RememberedPieces } from "../tables/remembered-pieces.js";
import { kindsOfUnits, surrogateRuns } from "../tokens/pre-tokens.js";
import { wordTerms } from "./word-terms.js";

const nothing = 0;
const word = 1;
const unspaced = 2;
const surrogate = 3;

const unspacedScripts =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc\uff9e\uff9f]/u;

let knownTerms: RememberedPieces<string | readonly string[]> | undefined;

/**
 * The terms that find a text: lower-case English stems without stop words, numbers, identifiers whole and in parts, and
 * every two neighbouring characters of scripts written without spaces. In order of the text, with repetitions. A text of
 * stop words has none. Depends on the ICU data of the Node build only for Unicode properties.
 */
export function terms(text: string): string[] {
  const found: string[] = [];
  eachTerm(text, (term) => found.push(term));
  return found;
}

/** Visits the same terms, for a caller that keeps few of them: the list of all would be garbage. */
export function eachTerm(text: string, visit: (term: string) => void): void {
  const known = (knownTerms ??= new RememberedPieces((written) => single(wordTerms(written))));
  scan(
    text,
    (start, end) => {
      const of = known.of(text, start, end);
      if (typeof of === "string") visit(of);
      else for (const term of of) visit(term);
    },
    (start, end) => {
      visit(pairTerm(text.slice(start, end)));
    },
  );
}

/** Chinese words that only turn a sentence into a question, longest first; 吗 and 呢 begin other words, so only at an end. */
const questionWords =
  /请问|什么样|什么时候|什么是|是什么|为什么|怎么样|怎么办|怎么|怎样|如何|多少|哪些|哪个|哪里|哪儿|哪种|哪一个?|是否|能否|可否|什么|谁|[吗呢](?=[?？。！!\s]|$)/gu;

/**
 * The terms of a question without the words that make it one in Chinese. They do not say what is asked for, and in texts
 * that rarely ask, such as documentation, two of their characters outweigh all others. A question of nothing else keeps
 * them. English needs no such rule: its question words are stop words or common in any text.
 */
export function queryTerms(text: string): readonly string[] {
  if (!/\p{Script=Han}/u.test(text) || /[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return terms(text);
  const found = terms(text.replace(questionWords, " "));
  return found.length > 0 ? found : terms(text);
}

/** The same terms by number. Remembers the numbers of a word's terms, so that a word that comes again is one look-up. */
export class NumberedTerms {
  readonly #numberOf: (term: string) => number;
  readonly #known: RememberedPieces<number | readonly number[]>;

  /** @param numberOf the number of a term, which must never change. */
  constructor(numberOf: (term: string) => number) {
    this.#numberOf = numberOf;
    this.#known = new RememberedPieces((written) => single(wordTerms(written).map(numberOf)));
  }

  /** Visits the number of each term of a text, in order, with repetitions. */
  each(text: string, visit: (number: number) => void): void {
    scan(
      text,
      (start, end) => {
        const of = this.#known.of(text, start, end);
        if (typeof of === "number") visit(of);
        else for (const number of of) visit(number);
      },
      (start, end) => {
        visit(this.#numberOf(pairTerm(text.slice(start, end))));
      },
    );
  }
}

/** Most words have a single term, and reading it from a list would cost one more access to memory. */
function single<Term>(of: readonly Term[]): Term | readonly Term[] {
  return of.length === 1 ? of[0]! : of;
}

type Visit = (start: number, end: number) => void;

/** Visits the words, and in scripts without spaces the overlapping pairs of characters, or a single one alone. */
function scan(text: string, onWord: Visit, onPair: Visit): void {
  const kinds = kindsFor(text);
  for (let at = 0; at < text.length;) {
    const unit = kinds[text.charCodeAt(at)]!;
    if (unit === nothing) {
      at++;
      continue;
    }
    const kind = unit === surrogate ? kindAt(text, at, kinds) : unit;
    if (kind === word) {
      const end = endOfSigns(text, at, endOfWord(text, at, kinds), kinds);
      onWord(at, end);
      at = end;
    } else if (kind === unspaced) {
      let end = at;
      while (kindAt(text, end, kinds) === unspaced) end += widthAt(text, end);
      pairs(text, at, end, onPair);
      at = end;
    } else at++;
  }
}

/** Letters, digits and underscores; `.` and apostrophes between them; `,` between digits. */
function endOfWord(text: string, start: number, kinds: Uint8Array): number {
  let end = start;
  for (;;) {
    for (;;) {
      // The hot loop: one look-up a letter. Without the bound, the look-up beyond the end makes V8 treat every code unit
      // as possibly NaN, at half the speed.
      while (end < text.length && kinds[text.charCodeAt(end)] === word) end++;
      if (kindAt(text, end, kinds) !== word) break;
      end += widthAt(text, end);
    }
    const joiner = text.charCodeAt(end);
    if (joiner === 0x2e || joiner === 0x27 || joiner === 0x2019) {
      if (kindAt(text, end + 1, kinds) !== word) return end;
    } else if (joiner !== 0x2c || !isDigit(text, end - 1) || !isDigit(text, end + 1)) {
      return end;
    }
    end++;
  }
}

/** The signs that turn one letter into a name: `C++`, `F#`. */
function endOfSigns(text: string, start: number, end: number, kinds: Uint8Array): number {
  if (end - start !== 1) return end;
  const signed = end + (text.startsWith("++", end) ? 2 : text.startsWith("#", end) ? 1 : 0);
  return kindAt(text, signed, kinds) === word ? end : signed;
}

function isDigit(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0x30 && unit <= 0x39;
}

function pairs(text: string, start: number, end: number, onPair: Visit): void {
  const first = start + widthAt(text, start);
  if (first >= end) {
    onPair(start, end);
    return;
  }
  for (let from = start, middle = first; middle < end;) {
    const to = middle + widthAt(text, middle);
    onPair(from, to);
    from = middle;
    middle = to;
  }
}

/** Replaces half-width and compatibility characters by their ordinary forms; most characters are ordinary. */
function pairTerm(term: string): string {
  const ordinary = isOrdinary(term.charCodeAt(0)) && (term.length === 1 || isOrdinary(term.charCodeAt(1)));
  return ordinary ? term : term.normalize("NFKC");
}

/** Whether a unit is an ideograph or kana that has no other form. */
function isOrdinary(unit: number): boolean {
  return (unit >= 0x4e00 && unit <= 0x9fff) || (unit >= 0x3041 && unit <= 0x3096) || (unit >= 0x30a1 && unit <= 0x30fa);
}

function kindAt(text: string, at: number, kinds: Uint8Array): number {
  if (at < 0 || at >= text.length) return nothing;
  const kind = kinds[text.charCodeAt(at)]!;
  return kind === surrogate ? kindOfText(String.fromCodePoint(text.codePointAt(at) ?? 0)) : kind;
}

function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

const kindsFor = kindsOfUnits(() => [
  // Soft hyphens and joiners are invisible parts of words.
  [word, /(?:[\p{L}\p{N}\p{M}_]|\u00ad|\u200c|\u200d|\u2060)+/gu],
  [unspaced, new RegExp(`(?:(?=[\\p{L}\\p{M}])${unspacedScripts.source})+`, "gu")],
  [surrogate, surrogateRuns],
]);

function kindOfText(codePoint: string): number {
  if (unspacedScripts.test(codePoint) && /[\p{L}\p{M}]/u.test(codePoint)) return unspaced;
  return /[\p{L}\p{N}\p{M}_]|\u00ad|\u200c|\u200d|\u2060/u.test(codePoint) ? word : nothing;
}
