import type { TokenCounter } from "../ports.js";
import type { Span } from "../types.js";
import type { Block } from "./block.js";
import { wholeBefore } from "./break-points.js";
import type { Context } from "./chunk-context.js";
import type { TokenIndex } from "./token-index.js";

export interface SplitOptions {
  /** Most tokens of a chunk's `embeddingText`, its context included. At least 16. */
  readonly maxTokens: number;
  /** Tokens repeated from a chunk's end where a block had to be cut inside; at most a quarter of `maxTokens` is. */
  readonly overlapTokens: number;
  readonly tokens: TokenCounter;
  /** Most tokens of a chunk's parent, as they are counted within the text. Default: 0, no parents. */
  readonly parentTokens?: number;
}

/** What is found out about a text before it is cut. */
export interface MeasuredText {
  readonly blocks: readonly Block[];
  readonly index: TokenIndex;
}

/** A strategy: where chunks end and start. That they cover the text and keep the limit is not its concern. */
export interface Cuts {
  /** What the chunk from `start` has as context. Called with rising starts, before the other methods. */
  readonly contextAt: (start: number) => Context;
  /** Where a chunk of about `budget` tokens from `start` ends best; always beyond `covered`. */
  readonly end: (start: number, covered: number, budget: number) => number;
  /** Where the chunk after one from `start` to `end` starts: above `start`, at most at `end`. */
  readonly nextStart: (start: number, end: number) => number;
  readonly parentOf: (span: Span) => Span | undefined;
}

export function overlapOf({ overlapTokens, maxTokens }: SplitOptions): number {
  return Math.min(overlapTokens, Math.floor(maxTokens / 4));
}

/** A single piece is too long for `budget`: the end of as much of it as its share. */
export function endInPiece(
  text: string,
  index: TokenIndex,
  { start, covered, budget }: { readonly start: number; readonly covered: number; readonly budget: number },
): number {
  const pieceEnd = index.pieceEnd(start);
  const share = Math.floor(((pieceEnd - start) * budget) / Math.max(1, index.between(start, pieceEnd)));
  return wholeBefore(text, covered, Math.max(covered + 1, Math.min(start + share, pieceEnd)));
}
