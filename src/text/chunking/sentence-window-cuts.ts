import type { Document, Span } from "../../core/types.js";
import { cutWithin, sentenceStarts } from "../blocks/break-points.js";
import { Cuts, type MeasuredText, type SplitOptions } from "./cuts.js";
import { upperBound } from "./token-index.js";

/** Sentences on either side of a chunk that belong to its parent. */
const windowSentences = 3;

/** One sentence a chunk; its parent is the sentences around it. A sentence that does not fit is cut at a clause or word. */
export class SentenceWindowCuts extends Cuts {
  readonly #sentences: Uint32Array;

  constructor(document: Document, measured: MeasuredText, options: SplitOptions) {
    super(document, measured, options);
    this.#sentences = sentenceStarts(document.text, measured.blocks);
  }

  end(start: number, covered: number, budget: number): number {
    const limit = this.index.reach(start, budget);
    const next = this.#sentences[upperBound(this.#sentences, covered)] ?? this.text.length;
    if (next <= limit) return next;
    if (limit <= covered) return this.endInPiece(start, covered, budget);
    return cutWithin(this.text, Math.max(start, covered), limit);
  }

  override parentOf({ start, end }: Span): Span | undefined {
    const { parentTokens = 0 } = this.options;
    const first = upperBound(this.#sentences, start) - 1;
    const next = upperBound(this.#sentences, end - 1);
    for (let sentences = windowSentences; sentences >= 0; sentences--) {
      const parent = {
        start: this.#sentences[Math.max(0, first - sentences)] ?? 0,
        end: this.#sentences[next + sentences] ?? this.text.length,
      };
      if (parent.start === start && parent.end === end) return undefined;
      if (this.index.between(parent.start, parent.end) <= parentTokens) return parent;
    }
    return undefined;
  }
}
