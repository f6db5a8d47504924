import type { TokenCounter, TokenMeasure } from "../../core/ports.js";
import type { Document } from "../../core/types.js";
import { blocksInSteps } from "../blocks/blocks.js";
import { wholeBefore } from "../blocks/break-points.js";
import { lineEnd } from "../blocks/lines.js";
import { defaultTokens } from "../tokens/tokens.js";
import type { MeasuredText } from "./cuts.js";
import { measureTokens, TokenIndex } from "./token-index.js";

/** In UTF-16 code units: some milliseconds of counting. */
const partLength = 1 << 17;

/** Finds the blocks and counts the tokens of a text; yields after each part, so that the caller can let other work run. */
export function* measureText(document: Document, counter: TokenCounter): Generator<undefined, MeasuredText> {
  const { text } = document;
  const parts: TokenMeasure[] = [];
  let areWhole = counter === defaultTokens;
  for (let start = 0; start < text.length;) {
    const end = partEnd(text, start);
    parts.push(measureTokens(text.slice(start, end), counter));
    if (end < text.length) {
      yield;
      areWhole &&= startsLine(text, end);
    }
    start = end;
  }
  return { blocks: yield* blocksInSteps(document), index: new TokenIndex(joined(parts), areWhole ? text : undefined) };
}

/**
 * The end of a part: the end of the text, or the start of a line that is not indented, which no piece of a usual
 * vocabulary crosses. If there is no such line nearby, the part ends elsewhere.
 */
function partEnd(text: string, start: number): number {
  const wanted = start + partLength;
  if (wanted >= text.length) return text.length;
  for (
    let offset = lineEnd(text, wanted);
    offset < text.length && offset < wanted + partLength / 8;
    offset = lineEnd(text, offset)
  ) {
    if (startsLine(text, offset)) return offset;
  }
  return wholeBefore(text, start, wanted);
}

/** Whether a line that is not indented starts here. */
function startsLine(text: string, offset: number): boolean {
  return /[\r\n]/.test(text.charAt(offset - 1)) && /\S/.test(text.charAt(offset));
}

function joined(parts: readonly TokenMeasure[]): TokenMeasure {
  if (parts.length === 1) return parts[0]!;
  const length = parts.reduce((sum, { ends }) => sum + ends.length, 0);
  const all = { ends: new Uint32Array(length), tokens: new Uint32Array(length) };
  let [filled, offset, total] = [0, 0, 0];
  for (const { ends, tokens } of parts) {
    for (let piece = 0; piece < ends.length; piece++) {
      all.ends[filled] = offset + ends[piece]!;
      all.tokens[filled] = total + tokens[piece]!;
      filled++;
    }
    offset += ends.at(-1)!;
    total += tokens.at(-1)!;
  }
  return all;
}
