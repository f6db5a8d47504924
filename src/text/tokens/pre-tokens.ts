import type { TextUnits } from "../tables/text-units.js";

const other = 0;
const letter = 1;
const number = 2;
const space = 3;
const lineBreak = 4;
const surrogate = 5;

const kindsFor = kindsOfUnits(() => [
  [letter, /\p{L}+/gu],
  [number, /\p{N}+/gu],
  [space, /\s+/gu],
  [lineBreak, /[\n\r]/g],
  [surrogate, surrogateRuns],
]);

function kindOfText(codePoint: string): number {
  if (/\p{L}/u.test(codePoint)) return letter;
  if (/\p{N}/u.test(codePoint)) return number;
  return /\s/u.test(codePoint) ? space : other;
}

/**
 * Walks over the pre-tokens of cl100k_base: the pieces within which byte pairs are merged, and across which they never
 * are. By hand rather than by the vocabulary's regular expression, because Unicode properties make that one the slowest
 * part of counting. The expression, for reference:
 * `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]|\s+(?!\S)|\s`
 * from https://github.com/openai/tiktoken/blob/main/tiktoken_ext/openai_public.py
 */
export class PreTokens {
  readonly #text: TextUnits;
  readonly #units: Uint16Array;
  readonly #length: number;
  readonly #kinds: Uint8Array;

  /** @param text must not be read again before the end of the walk. */
  constructor(text: TextUnits) {
    this.#text = text;
    this.#units = text.units;
    this.#length = text.length;
    this.#kinds = kindsFor(text.text);
  }

  /** Where the piece that starts at `at` ends. Linear over a whole text. */
  endOf(offset: number): number {
    const unit = this.#units[offset]!;
    const kind = this.#kindAt(offset);
    if (unit === 0x27) {
      const suffix = this.#contraction(offset + 1);
      if (suffix > 0) return offset + 1 + suffix;
    }
    const next = offset + (this.#kinds[unit] === surrogate ? this.#text.widthAt(offset) : 1);
    if (kind === letter) return this.#endOfRun(next, letter);
    if (kind === number) return this.#endOfNumber(offset);
    if (kind !== lineBreak && this.#kindAt(next) === letter) return this.#endOfRun(next, letter);
    if (kind === other) return this.#endOfBreaks(this.#endOfRun(next, other));
    if (unit === 0x20 && this.#kindAt(next) === other) return this.#endOfBreaks(this.#endOfRun(next, other));
    return this.#endOfSpace(offset);
  }

  /** Returns -1 behind the end. */
  #kindAt(offset: number): number {
    if (offset >= this.#length) return -1;
    const kind = this.#kinds[this.#units[offset]!]!;
    return kind === surrogate ? kindOfText(this.#text.characterAt(offset)) : kind;
  }

  #endOfRun(index: number, kind: number): number {
    const units = this.#units;
    const length = this.#length;
    const kinds = this.#kinds;
    let end = index;
    while (end < length) {
      const found = kinds[units[end]!];
      if (found === kind) end++;
      else if (found === surrogate && this.#kindAt(end) === kind) end += this.#text.widthAt(end);
      else break;
    }
    return end;
  }

  #endOfNumber(index: number): number {
    let end = index;
    for (let digits = 0; digits < 3 && this.#kindAt(end) === number; digits++) end += this.#text.widthAt(end);
    return end;
  }

  #endOfBreaks(index: number): number {
    let end = index;
    while (end < this.#length && this.#kinds[this.#units[end]!] === lineBreak) end++;
    return end;
  }

  /** White space goes to the end of the text, or through its last line break, or up to one before what follows it. */
  #endOfSpace(index: number): number {
    let end = index;
    let behindBreak = 0;
    while (end < this.#length) {
      const kind = this.#kinds[this.#units[end]!];
      if (kind === lineBreak) behindBreak = end + 1;
      else if (kind !== space) break;
      end++;
    }
    if (end === this.#length) return end;
    if (behindBreak > 0) return behindBreak;
    return end - index > 1 ? end - 1 : end;
  }

  /** Length of an English contraction's letters, 0 if there is none. */
  #contraction(index: number): number {
    const first = this.#lowerCaseAt(index);
    if (first === 0x73 || first === 0x64 || first === 0x6d || first === 0x74) return 1; // s d m t
    const second = this.#lowerCaseAt(index + 1);
    if (first === 0x6c && second === 0x6c) return 2; // ll
    if (first === 0x76 && second === 0x65) return 2; // ve
    return first === 0x72 && second === 0x65 ? 2 : 0; // re
  }

  /** Lower-cases an ASCII letter; any other unit becomes something that is no letter. */
  #lowerCaseAt(offset: number): number {
    return offset < this.#length ? this.#units[offset]! | 0x20 : 0;
  }
}

/** A pattern for runs of units of a kind, with the flag `g`. */
type KindRuns = readonly [kind: number, runs: RegExp];

/** Units asked for one by one before a whole table is made, which takes 5 ms; and the longest text whose units are asked for. */
const maxSingleUnits = 512;
const maxShortText = 1000;

/** Table entry of a unit that was not looked up yet. */
const unknown = 255;

/**
 * Tables of the kind of every UTF-16 code unit: that of the last pattern it fits, 0 if none. They are made by runs, since asking
 * for each of the 65,536 units takes 30 ms. For a question, which has few different ones, only these are asked for.
 */
export function kindsOfUnits(kinds: () => readonly KindRuns[]): (text: string) => Uint8Array {
  let all: Uint8Array | undefined;
  let some: Uint8Array | undefined;
  let patterns: readonly KindRuns[] = [];
  let asked = 0;
  return (text) => {
    if (all) return all;
    if (!some) {
      patterns = kinds();
      some = new Uint8Array(0x10000).fill(unknown);
    }
    // Longer texts are likely to be followed by others.
    const end = text.length > maxShortText ? 0 : text.length;
    for (let offset = 0; offset < end && asked <= maxSingleUnits; offset++) {
      const unit = text.charCodeAt(offset);
      if (some[unit] !== unknown) continue;
      some[unit] = kindOfUnit(String.fromCharCode(unit), patterns);
      asked++;
    }
    if (end === text.length && asked <= maxSingleUnits) return some;
    some = undefined;
    return (all = kindTable(patterns));
  };
}

function kindOfUnit(unit: string, kinds: readonly KindRuns[]): number {
  let found = 0;
  for (const [kind, runs] of kinds) if (unit.search(runs) === 0) found = kind;
  return found;
}

function kindTable(kinds: readonly KindRuns[]): Uint8Array {
  const table = new Uint8Array(0x10000);
  const units = Buffer.from(Uint16Array.from(table, (_, unit) => unit).buffer).toString("utf16le");
  for (const [kind, runs] of kinds) {
    for (const { 0: run, index } of units.matchAll(runs)) table.fill(kind, index, index + run.length);
  }
  return table;
}

/** Halves of characters beyond the basic plane, alone or in pairs. */
export const surrogateRuns = /[\ud800-\udfff]+/g;
