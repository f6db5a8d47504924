import { types } from "node:util";
import { shown } from "../../core/check-port.js";
import { OptionsError } from "../../core/errors.js";
import { isRecord } from "../../core/json.js";
import type { TokenCounter, TokenMeasure } from "../../core/ports.js";
import { defaultTokens, longestPiece } from "../tokens/tokens.js";

/** Answers how many tokens lie between two offsets of a text, after counting the text once. */
export class TokenIndex {
  readonly #measure: TokenMeasure;
  readonly #text: string | undefined;

  /** @param text given where `defaultTokens` measured it, as a whole or in parts that no piece crosses. */
  constructor(measure: TokenMeasure, text?: string) {
    this.#measure = measure;
    this.#text = text;
  }

  static of(text: string, counter: TokenCounter): TokenIndex {
    return new TokenIndex(measureTokens(text, counter), counter === defaultTokens ? text : undefined);
  }

  /**
   * Tokens of the pieces that touch `start` to `end`. Close to, but not exactly, the count of that slice: a piece at its
   * ends may be cut, or be read differently without its surroundings.
   */
  between(start: number, end: number): number {
    return end <= start ? 0 : this.#through(this.#pieceAt(end - 1)) - this.#before(start);
  }

  /**
   * The tokens that `defaultTokens` counts in the slice by itself, or behind a blank line; `undefined` where it may not read
   * the slice in the pieces that it has within the text. A piece depends on what follows its start alone, and only white
   * space on what follows its end.
   */
  ofSlice(start: number, end: number): number | undefined {
    const text = this.#text;
    if (text === undefined || end <= start) return undefined;
    const { ends } = this.#measure;
    const [first, last] = [this.#pieceAt(start), this.#pieceAt(end - 1)];
    const lastStart = ends[last - 1] ?? 0;
    if ((ends[first - 1] ?? 0) !== start || ends[last] !== end || isSpaceAt(text, start)) return undefined;
    // The rest of a run that was cut for its length would be read anew.
    if (first > 0 && start - (ends[first - 2] ?? 0) >= longestPiece - 1) return undefined;
    // Two pieces of white space would be one.
    if (lastStart > start && [end - 1, lastStart, lastStart - 1].every((index) => isSpaceAt(text, index)))
      return undefined;
    return this.#through(last) - this.#through(first - 1);
  }

  /** The furthest end of a piece with at most `tokens` tokens from `start`; `start` if there is none. */
  reach(start: number, tokens: number): number {
    const piece = upperBound(this.#measure.tokens, this.#before(start) + tokens) - 1;
    return Math.max(start, this.#measure.ends[piece] ?? 0);
  }

  /** The earliest start of a piece with at most `tokens` tokens up to `end`; `end` if there is none. */
  reachBack(end: number, tokens: number): number {
    const through = end <= 0 ? 0 : this.#through(this.#pieceAt(end - 1));
    if (through <= tokens) return 0;
    const piece = upperBound(this.#measure.tokens, through - tokens - 1);
    return Math.min(end, this.#measure.ends[piece] ?? end);
  }

  /** The end of the piece that holds `at`. */
  pieceEnd(index: number): number {
    return this.#measure.ends[this.#pieceAt(index)] ?? index;
  }

  /** Tokens through the end of a piece. */
  #through(piece: number): number {
    return this.#measure.tokens[piece] ?? 0;
  }

  /** Tokens before the piece that holds `at`. */
  #before(index: number): number {
    return this.#through(this.#pieceAt(index) - 1);
  }

  #pieceAt(index: number): number {
    return upperBound(this.#measure.ends, index);
  }
}

function isSpaceAt(text: string, offset: number): boolean {
  return /\s/.test(text.charAt(offset));
}

/** Index of the first value above `bound` in a sorted array; its length if there is none. */
export function upperBound(sorted: Uint32Array, bound: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) > bound) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The pieces of a text, as the counter measures them if it can. */
export function measureTokens(text: string, counter: TokenCounter): TokenMeasure {
  if (counter.measure === undefined) return measureWords(text, counter);
  const measured = counter.measure(text);
  if (counter !== defaultTokens) checkMeasure(measured, text, counter);
  return measured;
}

/**
 * Refuses what a counter of the caller's may return where nothing checks its types: chunks would overlap, be lost or be cut
 * in thousands.
 */
function checkMeasure(measured: unknown, text: string, { name }: TokenCounter): void {
  const refuse = (problem: string): never => {
    throw wrongCounter(name, `measure() returned ${problem}`);
  };
  const { ends, tokens } = isRecord(measured) ? measured : refuse(`${shown(measured)}, not { ends, tokens }`);
  if (!types.isUint32Array(ends) || !types.isUint32Array(tokens))
    return refuse("ends or tokens that are no Uint32Array");
  if (ends.length !== tokens.length) refuse(`${ends.length} ends, and tokens of ${tokens.length} pieces`);
  const last = ends.at(-1) ?? 0;
  if (last !== text.length) refuse(`pieces that end at ${last}, of a text that ends at ${text.length}`);
  for (let piece = 1; piece < ends.length; piece++) {
    if (ends[piece]! < ends[piece - 1]!) refuse(`ends that fall from ${ends[piece - 1]} to ${ends[piece]}`);
    if (tokens[piece]! < tokens[piece - 1]!) refuse(`tokens that fall from ${tokens[piece - 1]} to ${tokens[piece]}`);
  }
}

function wrongCounter(name: string, problem: string): OptionsError {
  return new OptionsError("options", `The token counter ${name} is wrong: ${problem}`, { option: "tokens" });
}

/** Counts word by word, long words in parts, for counters that cannot measure. */
function measureWords(text: string, counter: TokenCounter): TokenMeasure {
  const ends: number[] = [];
  const tokens: number[] = [];
  let total = 0;
  for (const { 0: word, index } of text.matchAll(/\s{0,40}\S{1,40}|\s{1,40}/gu)) {
    const count: unknown = counter.count(word);
    if (typeof count !== "number" || !(count >= 0) || !Number.isFinite(count)) {
      throw wrongCounter(counter.name, `count() returned ${shown(count)}, which is no number of 0 or more`);
    }
    total += count;
    ends.push(index + word.length);
    tokens.push(total);
  }
  return { ends: Uint32Array.from(ends), tokens: Uint32Array.from(tokens) };
}
