import type { Block } from "../blocks/block.js";
import { cutWithin, LastBreakPoints, startWithin } from "../blocks/break-points.js";
import { cutCost } from "../blocks/lines.js";
import type { Context } from "./chunk-context.js";
import { Cuts } from "./cuts.js";
import { upperBound } from "./token-index.js";

/** Share of the budget from which a chunk may end before a heading, or between a colon and what it announces. */
const halfFull = 1 / 2;
/**
 * Share of the budget from which a chunk ends before the next block even if that would fit. More and more even chunks
 * find more: at 512 tokens, 1 instead of 7/10 loses 0.3 of 100 answers in a budget of 512 to 2048 tokens
 * (`benchmarks/spans.ts`).
 */
const full = 7 / 10;
/**
 * Share of the budget below which a chunk is too small to stand alone. A fuller one ends before a block that does not
 * fit, so that the block is divided evenly within itself: waiting for a half loses 0.25 of 100 answers on Chinese
 * articles, whose paragraphs are long, and none elsewhere (`benchmarks/spans.ts`).
 */
const tiny = 1 / 8;

/**
 * Chunks that end before headings once they are half full, otherwise between blocks, and inside a block only if that
 * does not fit into a chunk: at a sentence or line, at a clause or word, and at last between two characters.
 */
export class StructureCuts extends Cuts {
  readonly #breakPoints = new LastBreakPoints();
  /** The block that the last chunk started in: starts never go back by a block. */
  #startBlock = 0;

  override contextAt(start: number): Context {
    this.#startBlock = this.#blockAt(start);
    return this.contexts.of(this.#startBlock, start);
  }

  end(start: number, covered: number, budget: number): number {
    const { length } = this.text;
    const limit = this.index.reach(start, budget);
    const { heading, between } = this.#bounds(start, limit, covered, budget);
    if (limit >= length) {
      return heading !== undefined && this.index.between(heading, length) >= budget * tiny ? heading : length;
    }
    if (heading !== undefined) return heading;
    if (between !== undefined && this.#endsBefore(between, this.index.between(start, between), budget)) return between;
    if (limit <= covered) return this.endInPiece(start, covered, budget);
    if (between === limit) return between;
    return this.#endInBlock(start, limit, Math.max(covered, between ?? 0), budget);
  }

  /**
   * Bounds between blocks up to `limit`: the last one before a heading of the highest level once the chunk is half full,
   * and the last of all. Never after a heading, nor between a colon and what it announces if there is another bound.
   */
  #bounds(start: number, limit: number, covered: number, budget: number) {
    let heading: number | undefined;
    let level = 7;
    let between: number | undefined;
    const half = this.index.reach(start, budget * halfFull);
    const whole = this.index.reach(start, budget * full);
    for (let position = this.#blockAt(start); ; position++) {
      const block = this.blocks[position];
      const next = this.blocks[position + 1];
      if (!block || !next || block.end > limit) return { heading, between };
      if (block.kind === "heading" || block.end <= covered) continue;
      if (between !== undefined && between >= half && this.#introduces(position)) continue;
      if (between === undefined || between < whole) between = block.end;
      if (next.kind === "heading" && block.end >= half && (next.level ?? 1) <= level) {
        heading = block.end;
        level = next.level ?? 1;
      }
    }
  }

  /** Whether the block is a paragraph such as "For example:" that belongs to the fence, list or table after it. */
  #introduces(index: number): boolean {
    const block = this.blocks[index];
    const next = this.blocks[index + 1];
    if (block?.kind !== "paragraph" || !next || next.kind === "paragraph" || next.kind === "heading") return false;
    let last = block.end - 1;
    while (last > block.start && /\s/.test(this.text.charAt(last))) last--;
    return /[:：]/.test(this.text.charAt(last));
  }

  /** Whether a chunk with `filled` tokens should end at `bound`, before a block that does not fit into it. */
  #endsBefore(bound: number, filled: number, budget: number): boolean {
    const next = this.#blockAt(bound);
    const minShare = this.#introduces(next - 1) ? halfFull : tiny;
    return filled >= budget * minShare || this.#startsWhole(next, filled, budget);
  }

  /** Whether the block, with the headings before it, should start a chunk in which it is whole. */
  #startsWhole(position: number, filled: number, budget: number): boolean {
    let last = position;
    while (this.blocks[last]?.kind === "heading") last++;
    const block = this.blocks[last];
    if (!block || this.index.between(this.blocks[position]!.start, block.end) > budget) return false;
    return filled >= budget * tiny || block.kind === "fence" || block.kind === "table";
  }

  /**
   * A cut at the sentence or line that divides the rest of the block into even chunks, else at a clause or word before
   * `limit`: 128 + 128 tokens instead of 250 and a rest of 6 find 0.4 more of 100 answers (`benchmarks/spans.ts`).
   */
  #endInBlock(start: number, limit: number, covered: number, budget: number): number {
    const block = this.blocks[this.#blockAt(limit - 1)];
    const low = Math.max(start, covered, block?.start ?? 0);
    if (block?.kind === "fence" || block?.kind === "code") {
      const line = this.#lineToCutBefore(block, Math.max(low, start + ((limit - start) >>> 1)), limit);
      if (line !== undefined) return line;
    }
    if (block) {
      const points = this.#breakPoints.of(this.text, block);
      const rest = this.index.between(start, block.end);
      const even = this.index.reach(start, rest / Math.ceil(rest / budget));
      const next = upperBound(points, even - 1);
      const point = [points[next - 1] ?? 0, points[next] ?? Infinity]
        .filter((place) => place > low && place <= limit)
        .toSorted((one, other) => Math.abs(one - even) - Math.abs(other - even))[0];
      // A cut that leaves most of the chunk empty is worse than one inside a sentence.
      if (point !== undefined && point - start >= (limit - start) * tiny) return point;
    }
    return cutWithin(this.text, low, limit);
  }

  /** The last of the cheapest lines of code to cut before that start in `low < start <= high`. */
  #lineToCutBefore(block: Block, low: number, high: number): number | undefined {
    const points = this.#breakPoints.of(this.text, block);
    let best: number | undefined;
    let minCost = Infinity;
    for (let index = upperBound(points, low); index < points.length && points[index]! <= high; index++) {
      const cost = cutCost(this.text, points[index]!);
      if (cost > minCost) continue;
      best = points[index]!;
      minCost = cost;
    }
    return best;
  }

  /** Goes back by the overlap if the chunk ends inside a block of prose or code. */
  override nextStart(start: number, end: number): number {
    const overlap = this.overlapTokens;
    const block = this.blocks[this.#blockAt(end)];
    if (!block || overlap === 0 || block.start >= end || block.kind === "table" || block.kind === "heading") return end;
    const low = Math.max(block.start, start + 1);
    const back = this.index.reachBack(end, overlap);
    const points = this.#breakPoints.of(this.text, block);
    const point = points[upperBound(points, Math.max(low, back) - 1)] ?? Infinity;
    if (point < end) return point;
    // The cut is between two sentences, and the one before it is longer than the overlap.
    if (point === end || back < low) return end;
    const word = startWithin(this.text, back, end);
    return word >= low && word < end ? word : end;
  }

  /** The block that holds `at`, searched from where the last chunk started. */
  #blockAt(index: number): number {
    let block = this.#startBlock;
    while (block < this.blocks.length && (this.blocks[block]?.end ?? 0) <= index) block++;
    return block;
  }
}
