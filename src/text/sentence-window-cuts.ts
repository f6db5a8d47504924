import type { Document, Span } from "../types.js";
import type { Block } from "./block.js";
import { cutWithin } from "./break-points.js";
import { type Context, StandingContexts } from "./chunk-context.js";
import { type Cuts, endInPiece, type MeasuredText, type SplitOptions } from "./cuts.js";
import { firstAbove } from "./rising.js";
import { sentenceBounds } from "./sentence-bounds.js";
import type { TokenIndex } from "./token-index.js";

/** Sentences on either side of a chunk that belong to its parent. */
const windowSentences = 3;

/** Each sentence a chunk, and the sentences around it its parent. Sentences that do not fit are cut at clauses or words. */
export class SentenceWindowCuts implements Cuts {
  readonly #text: string;
  readonly #options: SplitOptions;
  readonly #index: TokenIndex;
  readonly #contexts: StandingContexts;
  readonly #starts: Uint32Array;
  readonly #bounds: Uint32Array;

  constructor(document: Document, { blocks, index }: MeasuredText, options: SplitOptions) {
    this.#text = document.text;
    this.#options = options;
    this.#index = index;
    this.#contexts = new StandingContexts(document.title, blocks, options);
    this.#starts = Uint32Array.from(blocks, ({ start }: Block) => start);
    this.#bounds = sentenceBounds(document.text, blocks);
  }

  contextAt(start: number): Context {
    return this.#contexts.of(firstAbove(this.#starts, start) - 1, start);
  }

  end(start: number, covered: number, budget: number): number {
    const limit = this.#index.reach(start, budget);
    const bound = this.#bounds[firstAbove(this.#bounds, covered)] ?? this.#text.length;
    if (bound <= limit) return bound;
    if (limit <= covered) return endInPiece(this.#text, this.#index, { start, covered, budget });
    return cutWithin(this.#text, Math.max(start, covered), limit);
  }

  nextStart(_: number, end: number): number {
    return end;
  }

  parentOf({ start, end }: Span): Span | undefined {
    const { parentTokens = 0 } = this.#options;
    const first = firstAbove(this.#bounds, start) - 1;
    const behind = firstAbove(this.#bounds, end - 1);
    for (let sentences = windowSentences; sentences >= 0; sentences--) {
      const parent = {
        start: this.#bounds[Math.max(0, first - sentences)] ?? 0,
        end: this.#bounds[behind + sentences] ?? this.#text.length,
      };
      if (parent.start === start && parent.end === end) return undefined;
      if (this.#index.between(parent.start, parent.end) <= parentTokens) return parent;
    }
    return undefined;
  }
}
