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
  for (let offset = lineEnd(text, start); offset < end; offset = lineEnd(text, offset)) starts.push(offset);
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
  for (const [index, block] of blocks.entries()) {
    if (blocks[index - 1]?.kind !== "heading") starts.push(block.start);
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
  for (let offset = high; offset > middle; offset--) {
    if (offset > lastThird && endsClause(text, offset) && splitsNothing(text, offset)) return offset;
    if (space === 0 && /\s/.test(text.charAt(offset - 1)) && splitsNothing(text, offset)) space = offset;
    if (offset <= lastThird && space > 0) break;
  }
  return space > 0 ? space : wholeBefore(text, low, high);
}

function endsClause(text: string, offset: number): boolean {
  if ("，；：、".includes(text.charAt(offset - 1))) return true;
  return /\s/.test(text.charAt(offset - 1)) && /[,;:]/.test(text.charAt(offset - 2));
}

/** The first place after white space in the first half of the span; without any, the first that splits no character. */
export function startWithin(text: string, low: number, high: number): number {
  const middle = low + ((high - low) >>> 1);
  for (let offset = low; offset <= middle; offset++)
    if (/\s/.test(text.charAt(offset - 1)) && splitsNothing(text, offset)) return offset;
  for (let index = low; index <= middle; index++) if (splitsNothing(text, index)) return index;
  return high;
}

/** `at`, or the nearest place before it, above `low`, that splits no character; one place after `at` if there is none. */
export function wholeBefore(text: string, low: number, index: number): number {
  for (let place = index; place > low && place > index - 40; place--) if (splitsNothing(text, place)) return place;
  for (let place = index; place > low && place > index - 3; place--) if (!splitsPair(text, place)) return place;
  return splitsPair(text, index) ? index + 1 : index;
}

/** Whether a cut here keeps surrogate pairs, CRLF, combining marks and joined emoji together. */
function splitsNothing(text: string, offset: number): boolean {
  if (splitsPair(text, offset)) return false;
  return (
    text.charAt(offset - 1) !== "\u200d" &&
    !/^(?:[\p{M}\p{Emoji_Modifier}]|\u200d)/u.test(text.slice(offset, offset + 2))
  );
}

/** Whether a cut here would split a surrogate pair or a CRLF. */
function splitsPair(text: string, offset: number): boolean {
  const before = text.charCodeAt(offset - 1);
  const next = text.charCodeAt(offset);
  return (before === 13 && next === 10) || ((before & 0xfc00) === 0xd800 && (next & 0xfc00) === 0xdc00);
}
