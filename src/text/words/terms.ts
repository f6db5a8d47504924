import { RememberedPieces } from "../tables/remembered-pieces.js";
import { TextUnits } from "../tables/text-units.js";
import { kindsOfUnits, surrogateRuns } from "../tokens/pre-tokens.js";
import { wordTerms } from "./word-terms.js";

const nothing = 0;
const word = 1;
const unspaced = 2;
const surrogate = 3;

const unspacedScripts =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc\uff9e\uff9f]/u;

let knownTerms: RememberedPieces<string | readonly string[]> | undefined;
let read: TextUnits | undefined;

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
    (units, start, end) => {
      const of = known.of(units, start, end);
      if (typeof of === "string") visit(of);
      else for (const term of of) visit(term);
    },
    (_, start, end) => {
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
      (units, start, end) => {
        const of = this.#known.of(units, start, end);
        if (typeof of === "number") visit(of);
        else for (const number of of) visit(number);
      },
      (_, start, end) => {
        visit(this.#numberOf(pairTerm(text.slice(start, end))));
      },
    );
  }
}

/** Most words have a single term, and reading it from a list would cost one more access to memory. */
function single<Term>(of: readonly Term[]): Term | readonly Term[] {
  return of.length === 1 ? of[0]! : of;
}

type Visit = (text: TextUnits, start: number, end: number) => void;

/** Visits the words, and in scripts without spaces the overlapping pairs of characters, or a single one alone. */
function scan(text: string, onWord: Visit, onPair: Visit): void {
  const kinds = kindsFor(text);
  // Taken away while it is read: a visitor may scan another text.
  const reading = (read ?? new TextUnits()).read(text);
  read = undefined;
  const { units, length } = reading;
  for (let at = 0; at < length;) {
    const unit = kinds[units[at]!]!;
    if (unit === nothing) {
      at++;
      continue;
    }
    const kind = unit === surrogate ? kindAt(reading, at, kinds) : unit;
    if (kind === word) {
      const end = endOfSigns(reading, at, endOfWord(reading, at, kinds), kinds);
      onWord(reading, at, end);
      at = end;
    } else if (kind === unspaced) {
      let end = at;
      while (kindAt(reading, end, kinds) === unspaced) end += reading.widthAt(end);
      pairs(reading, at, end, onPair);
      at = end;
    } else at++;
  }
  // It holds on to no text.
  read = reading.read("");
}

/** Letters, digits and underscores; `.` and apostrophes between them; `,` between digits. */
function endOfWord(text: TextUnits, start: number, kinds: Uint8Array): number {
  const { units, length } = text;
  let end = start;
  for (;;) {
    for (;;) {
      // The hot loop: one look-up a letter.
      while (end < length && kinds[units[end]!] === word) end++;
      if (kindAt(text, end, kinds) !== word) break;
      end += text.widthAt(end);
    }
    if (end === length) return end;
    const joiner = units[end];
    if (joiner === 0x2e || joiner === 0x27 || joiner === 0x2019) {
      if (kindAt(text, end + 1, kinds) !== word) return end;
    } else if (joiner !== 0x2c || !isDigit(text, end - 1) || !isDigit(text, end + 1)) {
      return end;
    }
    end++;
  }
}

/** The signs that turn one letter into a name: `C++`, `F#`. */
function endOfSigns(text: TextUnits, start: number, end: number, kinds: Uint8Array): number {
  if (end - start !== 1) return end;
  const signed = end + (text.text.startsWith("++", end) ? 2 : text.text.startsWith("#", end) ? 1 : 0);
  return kindAt(text, signed, kinds) === word ? end : signed;
}

function isDigit({ units, length }: TextUnits, at: number): boolean {
  return at >= 0 && at < length && units[at]! >= 0x30 && units[at]! <= 0x39;
}

function pairs(text: TextUnits, start: number, end: number, onPair: Visit): void {
  const first = start + text.widthAt(start);
  if (first >= end) {
    onPair(text, start, end);
    return;
  }
  for (let from = start, middle = first; middle < end;) {
    const to = middle + text.widthAt(middle);
    onPair(text, from, to);
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

function kindAt(text: TextUnits, at: number, kinds: Uint8Array): number {
  if (at < 0 || at >= text.length) return nothing;
  const kind = kinds[text.units[at]!]!;
  return kind === surrogate ? kindOfText(text.characterAt(at)) : kind;
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
