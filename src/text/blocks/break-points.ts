import type { Block, BlockKind } from "./block.js";
import { lineEnd } from "./lines.js";
import { sentences } from "./sentences.js";

const cutAtLines: ReadonlySet<BlockKind> = new Set(["front-matter", "fence", "code", "table", "html"]);

/** The best places to cut a block that is too long, in order: starts of lines in code and tables, of sentences elsewhere. */
export function breakPoints(text: string, { kind, start, end }: Block): Uint32Array {
  return Uint32Array.from(
    cutAtLines.has(kind)
      ? lineStarts(text, start, end)
      : sentences(text.slice(start, end))
          .slice(1)
          .map((sentence) => start + sentence.start),
  );
}

function lineStarts(text: string, start: number, end: number): number[] {
  const starts: number[] = [];
  for (let at = lineEnd(text, start); at < end; at = lineEnd(text, at)) starts.push(at);
  return starts;
}

/** Remembers the break points of the block it was last asked about: a long block is cut many times in a row. */
export class LastBreakPoints {
  #last: { readonly block: Block; readonly points: Uint32Array } | undefined;

  of(text: string, block: Block): Uint32Array {
    if (this.#last?.block !== block) this.#last = { block, points: breakPoints(text, block) };
    return this.#last.points;
  }
}

/**
 * Where the sentences of a text start, in order from 0. A fence, table or piece of code counts as one sentence, and a
 * heading as part of the next.
 */
export function sentenceStarts(text: string, blocks: readonly Block[]): Uint32Array {
  const starts: number[] = [];
  for (const [at, block] of blocks.entries()) {
    if (blocks[at - 1]?.kind !== "heading") starts.push(block.start);
    if (!cutAtLines.has(block.kind) && block.kind !== "heading") {
      for (const point of breakPoints(text, block)) starts.push(point);
    }
  }
  return Uint32Array.from(starts);
}

/**
 * The best place to cut a sentence or line in `low < place <= high`: after a comma or the like in the last third, else
 * after white space in the last half, else at `high`, or just before it where that would split a character.
 */
export function cutWithin(text: string, low: number, high: number): number {
  const middle = low + ((high - low) >>> 1);
  const lastThird = high - Math.floor((high - low) / 3);
  let space = 0;
  for (let at = high; at > middle; at--) {
    if (at > lastThird && endsClause(text, at) && splitsNothing(text, at)) return at;
    if (space === 0 && /\s/.test(text.charAt(at - 1)) && splitsNothing(text, at)) space = at;
    if (at <= lastThird && space > 0) break;
  }
  return space > 0 ? space : wholeBefore(text, low, high);
}

function endsClause(text: string, at: number): boolean {
  if ("，；：、".includes(text.charAt(at - 1))) return true;
  return /\s/.test(text.charAt(at - 1)) && /[,;:]/.test(text.charAt(at - 2));
}

/** The first place after white space in the first half of the span; without any, the first that splits no character. */
export function startWithin(text: string, low: number, high: number): number {
  const middle = low + ((high - low) >>> 1);
  for (let at = low; at <= middle; at++) if (/\s/.test(text.charAt(at - 1)) && splitsNothing(text, at)) return at;
  for (let at = low; at <= middle; at++) if (splitsNothing(text, at)) return at;
  return high;
}

/** `at`, or the nearest place before it, above `low`, that splits no character; one place after `at` if there is none. */
export function wholeBefore(text: string, low: number, at: number): number {
  for (let place = at; place > low && place > at - 40; place--) if (splitsNothing(text, place)) return place;
  for (let place = at; place > low && place > at - 3; place--) if (!splitsPair(text, place)) return place;
  return splitsPair(text, at) ? at + 1 : at;
}

/** Whether a cut here keeps surrogate pairs, CRLF, combining marks and joined emoji together. */
function splitsNothing(text: string, at: number): boolean {
  if (splitsPair(text, at)) return false;
  return text.charAt(at - 1) !== "\u200d" && !/^(?:[\p{M}\p{Emoji_Modifier}]|\u200d)/u.test(text.slice(at, at + 2));
}

/** Whether a cut here would split a surrogate pair or a CRLF. */
function splitsPair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const next = text.charCodeAt(at);
  return (before === 13 && next === 10) || ((before & 0xfc00) === 0xd800 && (next & 0xfc00) === 0xdc00);
}
