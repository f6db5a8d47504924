import type { Document } from "../../core/types.js";
import { wholeBefore } from "../blocks/break-points.js";
import type { Context } from "./chunk-context.js";
import { Cuts, type MeasuredText, type SplitOptions } from "./cuts.js";

/** Chunks as full as possible, each with the overlap, wherever that cuts; only the title is their context. */
export class FixedCuts extends Cuts {
  readonly #title: Context;

  constructor(document: Document, measured: MeasuredText, options: SplitOptions) {
    super(document, measured, options);
    this.#title = this.contexts.title;
  }

  override contextAt(): Context {
    return this.#title;
  }

  end(start: number, covered: number, budget: number): number {
    const limit = this.index.reach(start, budget);
    if (limit >= this.text.length) return limit;
    if (limit <= covered) return this.endInPiece(start, covered, budget);
    return wholeBefore(this.text, covered, limit);
  }

  override nextStart(start: number, end: number): number {
    const back = Math.max(start + 1, this.index.reachBack(end, this.overlapTokens));
    return back >= end ? end : wholeBefore(this.text, start, back);
  }
}
