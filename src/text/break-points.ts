import type { Block, BlockKind } from "./block.js";
import { lineEnd } from "./lines.js";
import { sentences } from "./sentences.js";

const cutAtLines: ReadonlySet<BlockKind> = new Set(["front-matter", "fence", "code", "table", "html"]);

/** Where a block that has to be cut is cut best: starts of lines in code and tables, of sentences elsewhere. Rising. */
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

/**
 * The best place to cut a sentence or line in `low < place <= high`: behind a comma or its like in the last third, else
 * behind white space in the last half, else `high`, or just before it where that would part what is one character.
 */
export function cutWithin(text: string, low: number, high: number): number {
  const middle = low + ((high - low) >>> 1);
  const lastThird = high - Math.floor((high - low) / 3);
  let space = 0;
  for (let at = high; at > middle; at--) {
    if (at > lastThird && endsClause(text, at) && isWhole(text, at)) return at;
    if (space === 0 && /\s/.test(text.charAt(at - 1)) && isWhole(text, at)) space = at;
    if (at <= lastThird && space > 0) break;
  }
  return space > 0 ? space : wholeBefore(text, low, high);
}

function endsClause(text: string, at: number): boolean {
  if ("，；：、".includes(text.charAt(at - 1))) return true;
  return /\s/.test(text.charAt(at - 1)) && /[,;:]/.test(text.charAt(at - 2));
}

/** The first place from `low` on, in the first half of the span, that is behind white space; else one that parts nothing. */
export function startWithin(text: string, low: number, high: number): number {
  const middle = low + ((high - low) >>> 1);
  for (let at = low; at <= middle; at++) if (/\s/.test(text.charAt(at - 1)) && isWhole(text, at)) return at;
  for (let at = low; at <= middle; at++) if (isWhole(text, at)) return at;
  return high;
}

/** `at`, or the nearest place before it, but above `low`, that parts no character; above `at` where there is none. */
export function wholeBefore(text: string, low: number, at: number): number {
  for (let place = at; place > low && place > at - 40; place--) if (isWhole(text, place)) return place;
  for (let place = at; place > low && place > at - 3; place--) if (!partsPair(text, place)) return place;
  return partsPair(text, at) ? at + 1 : at;
}

/** Whether a cut leaves surrogate pairs, CRLF, combining marks and joined emoji together. */
function isWhole(text: string, at: number): boolean {
  if (partsPair(text, at)) return false;
  return text.charAt(at - 1) !== "\u200d" && !/^(?:[\p{M}\p{Emoji_Modifier}]|\u200d)/u.test(text.slice(at, at + 2));
}

/** Whether a cut would part a surrogate pair or a CRLF. */
function partsPair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const next = text.charCodeAt(at);
  return (before === 13 && next === 10) || ((before & 0xfc00) === 0xd800 && (next & 0xfc00) === 0xdc00);
}
