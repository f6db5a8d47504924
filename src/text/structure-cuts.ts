import type { Document, Span } from "../types.js";
import type { Block } from "./block.js";
import { breakPoints, cutWithin, startWithin } from "./break-points.js";
import { type Context, StandingContexts } from "./chunk-context.js";
import { cutCost } from "./code-lines.js";
import { type Cuts, endInPiece, type MeasuredText, overlapOf, type SplitOptions } from "./cuts.js";
import { ParentSpans } from "./parent-spans.js";
import { firstAbove } from "./rising.js";
import type { TokenIndex } from "./token-index.js";

/** Of the budget: from here on, a chunk is full enough to end at a heading, or between a colon and what does not fit behind it. */
const enough = 1 / 2;
/**
 * Of the budget: a chunk as full as this ends before the next block, whether that would fit or not. More and evener
 * chunks find more: at 512 tokens, 1 instead of 7/10 loses 0.3 of 100 answers in a budget of 512 to 2048 tokens
 * (`benchmarks/spans.ts`).
 */
const full = 7 / 10;
/**
 * Of the budget: less than this is not worth a chunk of its own. What has more ends before a block that does not fit, so
 * that the block is parted evenly in itself: waiting for a half loses 0.25 of 100 answers on Chinese articles, whose
 * paragraphs are long, and none elsewhere (`benchmarks/spans.ts`).
 */
const tiny = 1 / 8;

/**
 * Chunks that end before headings where they are half full, between blocks otherwise, and inside a block only where that
 * does not fit into a chunk: at a sentence or line, at a clause or word, and at last between two characters.
 */
export class StructureCuts implements Cuts {
  readonly #text: string;
  readonly #options: SplitOptions;
  readonly #blocks: readonly Block[];
  readonly #index: TokenIndex;
  readonly #contexts: StandingContexts;
  readonly #parents: ParentSpans | undefined;
  /** Of the block that was cut last. */
  #cuts: { readonly block: Block; readonly points: Uint32Array } | undefined;
  /** Of the block that the last chunk started in: starts never go back by a block. */
  #blockAtStart = 0;

  constructor(document: Document, { blocks, index }: MeasuredText, options: SplitOptions) {
    this.#text = document.text;
    this.#options = options;
    this.#blocks = blocks;
    this.#index = index;
    this.#contexts = new StandingContexts(document.title, blocks, options);
    const { parentTokens = 0 } = options;
    if (parentTokens > 0) this.#parents = new ParentSpans(document.text, blocks, index, parentTokens);
  }

  contextAt(start: number): Context {
    this.#blockAtStart = this.#blockAt(start);
    return this.#contexts.of(this.#blockAtStart, start);
  }

  parentOf(span: Span): Span | undefined {
    return this.#parents?.of(span);
  }

  /** Where a chunk of about `budget` tokens from `start` ends best; always beyond `covered`. */
  end(start: number, covered: number, budget: number): number {
    const { length } = this.#text;
    const limit = this.#index.reach(start, budget);
    const { heading, between } = this.#bounds(start, limit, covered, budget);
    if (limit >= length) {
      return heading !== undefined && this.#index.between(heading, length) >= budget * tiny ? heading : length;
    }
    if (heading !== undefined) return heading;
    if (between !== undefined && this.#endsBefore(between, this.#index.between(start, between), budget)) return between;
    if (limit <= covered) return endInPiece(this.#text, this.#index, { start, covered, budget });
    if (between === limit) return between;
    return this.#endInBlock(start, limit, Math.max(covered, between ?? 0), budget);
  }

  /**
   * Bounds between blocks up to `limit`: the last of those before the highest heading once the chunk is full enough, and
   * the last of all. Never behind a heading, nor between a colon and what it announces if there is another.
   */
  #bounds(start: number, limit: number, covered: number, budget: number) {
    let heading: number | undefined;
    let level = 7;
    let between: number | undefined;
    const halfFull = this.#index.reach(start, budget * enough);
    const wellFull = this.#index.reach(start, budget * full);
    for (let at = this.#blockAt(start); ; at++) {
      const block = this.#blocks[at];
      const next = this.#blocks[at + 1];
      if (!block || !next || block.end > limit) return { heading, between };
      if (block.kind === "heading" || block.end <= covered) continue;
      if (between !== undefined && between >= halfFull && this.#introduces(at)) continue;
      if (between === undefined || between < wellFull) between = block.end;
      if (next.kind === "heading" && block.end >= halfFull && (next.level ?? 1) <= level) {
        heading = block.end;
        level = next.level ?? 1;
      }
    }
  }

  /** Whether the block at `at` is a paragraph such as "For example:" that belongs to the fence, list or table behind it. */
  #introduces(at: number): boolean {
    const block = this.#blocks[at];
    const next = this.#blocks[at + 1];
    if (block?.kind !== "paragraph" || !next || next.kind === "paragraph" || next.kind === "heading") return false;
    let last = block.end - 1;
    while (last > block.start && /\s/.test(this.#text.charAt(last))) last--;
    return /[:：]/.test(this.#text.charAt(last));
  }

  /** Whether a chunk that has `filled` tokens at `bound`, before a block that does not fit into it, should end there. */
  #endsBefore(bound: number, filled: number, budget: number): boolean {
    const next = this.#blockAt(bound);
    return filled >= budget * (this.#introduces(next - 1) ? enough : tiny) || this.#startsWhole(next, filled, budget);
  }

  /** Whether the block at `at`, with the headings before it, should start a chunk in which it is whole. */
  #startsWhole(at: number, filled: number, budget: number): boolean {
    let last = at;
    while (this.#blocks[last]?.kind === "heading") last++;
    const block = this.#blocks[last];
    if (!block || this.#index.between(this.#blocks[at]!.start, block.end) > budget) return false;
    return filled >= budget * tiny || block.kind === "fence" || block.kind === "table";
  }

  /**
   * A cut at the sentence or line that parts what is left of the block into even chunks, else at a clause or word before
   * `limit`: 128 + 128 tokens instead of 250 and a rest of 6 find 0.4 more of 100 answers (`benchmarks/spans.ts`).
   */
  #endInBlock(start: number, limit: number, beyond: number, budget: number): number {
    const block = this.#blocks[this.#blockAt(limit - 1)];
    const low = Math.max(start, beyond, block?.start ?? 0);
    if (block?.kind === "fence" || block?.kind === "code") {
      const line = this.#lineToCutBefore(block, Math.max(low, start + ((limit - start) >>> 1)), limit);
      if (line !== undefined) return line;
    }
    if (block) {
      const points = this.#pointsOf(block);
      const rest = this.#index.between(start, block.end);
      const even = this.#index.reach(start, rest / Math.ceil(rest / budget));
      const behind = firstAbove(points, even - 1);
      const point = [points[behind - 1] ?? 0, points[behind] ?? Infinity]
        .filter((place) => place > low && place <= limit)
        .toSorted((one, other) => Math.abs(one - even) - Math.abs(other - even))[0];
      // A cut that leaves most of the chunk empty is worse than one inside a sentence.
      if (point !== undefined && point - start >= (limit - start) * tiny) return point;
    }
    return cutWithin(this.#text, low, limit);
  }

  /** Of the lines of code that start in `low < start <= high`, the last of those that are best to cut before. */
  #lineToCutBefore(block: Block, low: number, high: number): number | undefined {
    const points = this.#pointsOf(block);
    let best: number | undefined;
    let least = Infinity;
    for (let at = firstAbove(points, low); at < points.length && points[at]! <= high; at++) {
      const cost = cutCost(this.#text, points[at]!);
      if (cost > least) continue;
      best = points[at]!;
      least = cost;
    }
    return best;
  }

  /** Where the chunk after `end` starts: earlier by the overlap if a block of prose or code was cut there. */
  nextStart(start: number, end: number): number {
    const overlap = overlapOf(this.#options);
    const block = this.#blocks[this.#blockAt(end)];
    if (!block || overlap === 0 || block.start >= end || block.kind === "table" || block.kind === "heading") return end;
    const low = Math.max(block.start, start + 1);
    const back = this.#index.reachBack(end, overlap);
    const points = this.#pointsOf(block);
    const point = points[firstAbove(points, Math.max(low, back) - 1)] ?? Infinity;
    if (point < end) return point;
    // The cut is between two sentences, and the one before it is longer than the overlap.
    if (point === end || back < low) return end;
    const word = startWithin(this.#text, back, end);
    return word >= low && word < end ? word : end;
  }

  #pointsOf(block: Block): Uint32Array {
    if (this.#cuts?.block !== block) this.#cuts = { block, points: breakPoints(this.#text, block) };
    return this.#cuts.points;
  }

  /** The block that holds `at`, looked for from where the last chunk started. */
  #blockAt(at: number): number {
    let block = this.#blockAtStart;
    while (block < this.#blocks.length && (this.#blocks[block]?.end ?? 0) <= at) block++;
    return block;
  }
}
