import { RememberedPieces } from "../tables/remembered-pieces.js";
import { TextUnits } from "../tables/text-units.js";
import { kindsOfUnits, surrogateRuns } from "../tokens/pre-tokens.js";
import { isChinese } from "./chinese.js";
import { isFunctionWord } from "./function-words.js";
import { simplified } from "./simplified-forms.js";
import { wordTerms } from "./word-terms.js";

const nothing = 0;
const word = 1;
const unspaced = 2;
const surrogate = 3;

const unspacedScripts =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc\uff70\uff9e\uff9f]/u;

let knownTerms: RememberedPieces<string | readonly string[]> | undefined;
let read: TextUnits | undefined;

/**
 * The terms that find a text: lower-case English stems without stop words, numbers, identifiers whole and in parts, and
 * every two neighbouring characters of scripts written without spaces, in their simplified forms and usual width. In order of the text, with repetitions. A text of
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
    visit,
  );
}

/** Chinese words that only turn a sentence into a question, longest first; 吗 and 呢 begin other words, so only at an end. */
const questionWords =
  /请问|什么样|什么时候|什么是|是什么|为什么|怎么样|怎么办|怎么|怎样|如何|多少|哪些|哪个|哪里|哪儿|哪种|哪一个?|是否|能否|可否|什么|谁|[吗呢](?=[?？。！!\s]|$)/gu;

/** The words that a search is for, each with the number of times that it counts. */
export type WeighedTerms = ReadonlyMap<string, number>;

/** A function word of a question counts this share of another word: between 0.1 and 0.5 rank alike (benchmarks/quality). */
const functionWordShare = 0.25;

/**
 * The terms of a question, weighed: once for each time that they stand there, but a function word less. So do, in Chinese, the
 * characters that only make it a question; no character of the others is paired across them.
 */
export function queryTerms(text: string): WeighedTerms {
  const language = languageOf(text);
  const subject = withoutQuestionWords(text);
  const weights = new Map<string, number>();
  const count = (term: string, weight: number) => {
    weights.set(term, (weights.get(term) ?? 0) + (isFunctionWord(term, language) ? functionWordShare : weight));
  };
  eachTerm(subject, (term) => count(term, 1));
  if (subject === text) return weights;
  const ofSubject = new Set(weights.keys());
  eachTerm(text, (term) => {
    if (!ofSubject.has(term)) count(term, functionWordShare);
  });
  return weights;
}

/** The terms of a question that say what is asked for, in its order: all of them where that is less than two. */
export function subjectTerms(text: string): readonly string[] {
  const language = languageOf(text);
  const found = terms(withoutQuestionWords(text)).filter((term) => !isFunctionWord(term, language));
  return found.length > 1 ? found : terms(text);
}

/** Spaces take the place of the words that make a Chinese text a question. */
function withoutQuestionWords(text: string): string {
  return isChinese(text) ? simplified(text).replace(questionWords, " ") : text;
}

function languageOf(text: string): "chinese" | undefined {
  return isChinese(text) ? "chinese" : undefined;
}

/** The terms of a text, each with the number of times that it occurs. */
export function termCounts(text: string): WeighedTerms {
  const counts = new Map<string, number>();
  eachTerm(text, (term) => counts.set(term, (counts.get(term) ?? 0) + 1));
  return counts;
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
        const term = this.#known.of(units, start, end);
        if (typeof term === "number") visit(term);
        else for (const number of term) visit(number);
      },
      (term) => visit(this.#numberOf(term)),
    );
  }
}

/** Most words have a single term, and reading it from a list would cost one more access to memory. */
function single<Term>(found: readonly Term[]): Term | readonly Term[] {
  return found.length === 1 ? found[0]! : found;
}

type VisitWord = (text: TextUnits, start: number, end: number) => void;
type VisitTerm = (term: string) => void;

/** Visits the words, and in scripts without spaces the overlapping pairs of characters, or a single one alone. */
function scan(text: string, onWord: VisitWord, onPair: VisitTerm): void {
  const kinds = kindsFor(text);
  // The reader is taken while in use: a visitor may scan another text.
  const reading = (read ?? new TextUnits()).read(text);
  read = undefined;
  const { units, length } = reading;
  for (let offset = 0; offset < length;) {
    const unit = kinds[units[offset]!]!;
    if (unit === nothing) {
      offset++;
      continue;
    }
    const kind = unit === surrogate ? kindAt(reading, offset, kinds) : unit;
    if (kind === word) {
      const end = endOfSigns(reading, offset, endOfWord(reading, offset, kinds), kinds);
      onWord(reading, offset, end);
      offset = end;
    } else if (kind === unspaced) {
      let end = offset;
      while (kindAt(reading, end, kinds) === unspaced) end += reading.widthAt(end);
      pairs(reading, offset, end, onPair);
      offset = end;
    } else offset++;
  }
  // The reader must not keep a text alive.
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

function isDigit({ units, length }: TextUnits, offset: number): boolean {
  return offset >= 0 && offset < length && units[offset]! >= 0x30 && units[offset]! <= 0x39;
}

function pairs(reading: TextUnits, start: number, end: number, onPair: VisitTerm): void {
  const { text, units } = reading;
  for (let offset = start; offset < end; offset++) {
    if (!isNarrow(units[offset]!)) continue;
    // A mark of sound is a character of its own there, and a part of one in the usual width.
    const characters = Array.from(text.slice(start, end).normalize("NFKC"));
    if (characters.length === 1) onPair(pairTerm(characters[0]!));
    for (let at = 1; at < characters.length; at++) onPair(pairTerm(characters[at - 1]! + characters[at]!));
    return;
  }
  const first = start + reading.widthAt(start);
  if (first >= end) {
    onPair(pairTerm(text.slice(start, end)));
    return;
  }
  for (let from = start, middle = first; middle < end;) {
    const to = middle + reading.widthAt(middle);
    onPair(pairTerm(text.slice(from, to)));
    from = middle;
    middle = to;
  }
}

/** Whether a unit is a kana of half the usual width. */
function isNarrow(unit: number): boolean {
  return unit >= 0xff66 && unit <= 0xff9f;
}

/** Replaces compatibility and traditional characters by their ordinary forms; most characters are ordinary. */
function pairTerm(term: string): string {
  const ordinary = isOrdinary(term.charCodeAt(0)) && (term.length === 1 || isOrdinary(term.charCodeAt(1)));
  return simplified(ordinary ? term : term.normalize("NFKC"));
}

/** Whether a unit is an ideograph or kana that has no other form. */
function isOrdinary(unit: number): boolean {
  return (unit >= 0x4e00 && unit <= 0x9fff) || (unit >= 0x3041 && unit <= 0x3096) || (unit >= 0x30a1 && unit <= 0x30fa);
}

function kindAt(text: TextUnits, offset: number, kinds: Uint8Array): number {
  if (offset < 0 || offset >= text.length) return nothing;
  const kind = kinds[text.units[offset]!]!;
  return kind === surrogate ? kindOfText(text.characterAt(offset)) : kind;
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
