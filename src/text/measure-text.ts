import type { TokenCounter, TokenMeasure } from "../ports.js";
import type { Document } from "../types.js";
import { blocksInSteps } from "./blocks.js";
import { wholeBefore } from "./break-points.js";
import type { MeasuredText } from "./cuts.js";
import { lineEnd } from "./lines.js";
import { measureTokens, TokenIndex } from "./token-index.js";

/** In UTF-16 code units: some milliseconds of counting. */
const partLength = 1 << 17;

/** Blocks and tokens of a text; yields after each part of it, so that the caller can let others work. */
export function* measureText(document: Document, counter: TokenCounter): Generator<undefined, MeasuredText> {
  const { text } = document;
  const parts: TokenMeasure[] = [];
  for (let start = 0; start < text.length;) {
    const end = partEnd(text, start);
    parts.push(measureTokens(text.slice(start, end), counter));
    if (end < text.length) yield;
    start = end;
  }
  return { blocks: yield* blocksInSteps(document), index: new TokenIndex(joined(parts)) };
}

/**
 * Where a part ends: at the end of the text, or before a line that is not indented, where no piece of a usual vocabulary
 * goes across, or where there is none near, somewhere else.
 */
function partEnd(text: string, start: number): number {
  const wanted = start + partLength;
  if (wanted >= text.length) return text.length;
  for (let at = lineEnd(text, wanted); at < text.length && at < wanted + partLength / 8; at = lineEnd(text, at)) {
    if (/\S/.test(text.charAt(at))) return at;
  }
  return wholeBefore(text, start, wanted);
}

function joined(parts: readonly TokenMeasure[]): TokenMeasure {
  if (parts.length === 1) return parts[0]!;
  const length = parts.reduce((sum, { ends }) => sum + ends.length, 0);
  const all = { ends: new Uint32Array(length), tokens: new Uint32Array(length) };
  let [at, offset, total] = [0, 0, 0];
  for (const { ends, tokens } of parts) {
    for (let piece = 0; piece < ends.length; piece++) {
      all.ends[at] = offset + ends[piece]!;
      all.tokens[at] = total + tokens[piece]!;
      at++;
    }
    offset += ends.at(-1) ?? 0;
    total += tokens.at(-1) ?? 0;
  }
  return all;
}
