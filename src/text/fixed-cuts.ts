import type { Document, Span } from "../types.js";
import { wholeBefore } from "./break-points.js";
import { type Context, StandingContexts } from "./chunk-context.js";
import { type Cuts, endInPiece, type MeasuredText, overlapOf, type SplitOptions } from "./cuts.js";
import { ParentSpans } from "./parent-spans.js";
import type { TokenIndex } from "./token-index.js";

/** Chunks as full as they may be, each with the overlap, whatever they cut through; the title alone is their context. */
export class FixedCuts implements Cuts {
  readonly #text: string;
  readonly #options: SplitOptions;
  readonly #index: TokenIndex;
  readonly #context: Context;
  readonly #parents: ParentSpans | undefined;

  constructor(document: Document, { blocks, index }: MeasuredText, options: SplitOptions) {
    this.#text = document.text;
    this.#options = options;
    this.#index = index;
    this.#context = new StandingContexts(document.title, [], options).of(0, 0);
    const { parentTokens = 0 } = options;
    if (parentTokens > 0) this.#parents = new ParentSpans(document.text, blocks, index, parentTokens);
  }

  contextAt(): Context {
    return this.#context;
  }

  end(start: number, covered: number, budget: number): number {
    const limit = this.#index.reach(start, budget);
    if (limit >= this.#text.length) return limit;
    if (limit <= covered) return endInPiece(this.#text, this.#index, { start, covered, budget });
    return wholeBefore(this.#text, covered, limit);
  }

  nextStart(start: number, end: number): number {
    const back = Math.max(start + 1, this.#index.reachBack(end, overlapOf(this.#options)));
    return back >= end ? end : wholeBefore(this.#text, start, back);
  }

  parentOf(span: Span): Span | undefined {
    return this.#parents?.of(span);
  }
}
