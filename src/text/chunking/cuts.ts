import type { TokenCounter } from "../../core/ports.js";
import type { Document, Span } from "../../core/types.js";
import type { Block } from "../blocks/block.js";
import { wholeBefore } from "../blocks/break-points.js";
import { ChunkContexts, type Context } from "./chunk-context.js";
import { ParentSpans } from "./parent-spans.js";
import { type TokenIndex, upperBound } from "./token-index.js";

export interface SplitOptions {
  /** Maximum tokens of a chunk's `embeddingText`, its context included. At least 16. */
  readonly maxTokens: number;
  /** Tokens repeated from the end of a chunk that cuts a block; at most a quarter of `maxTokens` takes effect. */
  readonly overlapTokens: number;
  readonly tokens: TokenCounter;
  /** Maximum tokens of a chunk's parent, counted within the text. Default: 0, no parents. */
  readonly parentTokens?: number;
  /** Whether a chunk's context has the title and headings that it stands under. Default: true. */
  readonly contextLine?: boolean;
}

/** The facts about a text that decide where it is cut. */
export interface MeasuredText {
  readonly blocks: readonly Block[];
  readonly index: TokenIndex;
}

/**
 * A strategy: it says where chunks end and start. That chunks cover the text and keep the limit is not its concern.
 * Methods that a strategy does not override give chunks the headings they stand under, and no overlap.
 */
export abstract class Cuts {
  protected readonly text: string;
  protected readonly blocks: readonly Block[];
  protected readonly index: TokenIndex;
  protected readonly options: SplitOptions;
  protected readonly contexts: ChunkContexts;
  /** Start of each block. */
  protected readonly blockStarts: Uint32Array;
  #parents: ParentSpans | undefined;

  constructor(document: Document, { blocks, index }: MeasuredText, options: SplitOptions) {
    this.text = document.text;
    this.blocks = blocks;
    this.index = index;
    this.options = options;
    this.contexts = new ChunkContexts(document.title, blocks, options);
    this.blockStarts = Uint32Array.from(blocks, ({ start }) => start);
  }

  /** The best end of a chunk of about `budget` tokens from `start`; always beyond `covered`. */
  abstract end(start: number, covered: number, budget: number): number;

  /** The context of the chunk from `start`. Called first, with rising starts. */
  contextAt(start: number): Context {
    return this.contexts.of(upperBound(this.blockStarts, start) - 1, start);
  }

  /** Where the chunk after one from `start` to `end` starts: above `start`, at most at `end`. */
  nextStart(_start: number, end: number): number {
    return end;
  }

  /** The tokens of a chunk's text by itself, if the measure of the whole text tells. */
  tokensOf({ start, end }: Span): number | undefined {
    return this.index.ofSlice(start, end);
  }

  /** The span to read in place of a chunk when there is room for more. */
  parentOf(span: Span): Span | undefined {
    const { parentTokens = 0 } = this.options;
    if (parentTokens === 0) return undefined;
    this.#parents ??= new ParentSpans(this.text, this.blocks, this.index, parentTokens);
    return this.#parents.of(span);
  }

  protected get overlapTokens(): number {
    return Math.min(this.options.overlapTokens, Math.floor(this.options.maxTokens / 4));
  }

  /** Cuts a single piece that has more than `budget` tokens, in proportion. */
  protected endInPiece(start: number, covered: number, budget: number): number {
    const pieceEnd = this.index.pieceEnd(start);
    const share = Math.floor(((pieceEnd - start) * budget) / Math.max(1, this.index.between(start, pieceEnd)));
    return wholeBefore(this.text, covered, Math.max(covered + 1, Math.min(start + share, pieceEnd)));
  }
}
