import type { Span } from "../types.js";
import type { Block } from "./block.js";
import { breakPoints } from "./break-points.js";
import { firstAbove } from "./rising.js";
import { type Section, sections } from "./sections.js";
import type { TokenIndex } from "./token-index.js";

/** Of the room on one side of a chunk: whole blocks that fill less of it are followed by a part of the next block. */
const enough = 1 / 2;

/**
 * Finds what to read around a chunk. Where a section that holds it has at most `maxTokens`, that is the largest such
 * section, so that chunks of one section have one parent. In longer sections it is a window around the chunk: whole
 * blocks where they fit, else up to a sentence or line. Linear over all chunks of a document in their order.
 */
export class ParentSpans {
  readonly #text: string;
  readonly #blocks: readonly Block[];
  readonly #sections: readonly Section[];
  readonly #starts: Uint32Array;
  readonly #index: TokenIndex;
  readonly #maxTokens: number;
  /** Of the blocks that a window was last cut in, before and behind its chunk. */
  readonly #cuts = { before: new Cuts(), behind: new Cuts() };

  constructor(text: string, blocks: readonly Block[], index: TokenIndex, maxTokens: number) {
    this.#text = text;
    this.#blocks = blocks;
    this.#sections = sections(blocks, text.length);
    this.#starts = Uint32Array.from(blocks, ({ start }) => start);
    this.#index = index;
    this.#maxTokens = maxTokens;
  }

  /** The parent of a chunk; undefined where it would be the chunk itself. */
  of({ start, end }: Span): Span | undefined {
    let section = this.#sections[this.#blockAt(start)];
    while (section && (section.start > start || section.end < end)) section = section.outer;
    if (!section) return undefined;
    let fitting: Span | undefined;
    for (
      let wider: Section | undefined = section;
      wider && this.#tokens(wider) <= this.#maxTokens;
      wider = wider.outer
    ) {
      fitting = { start: wider.start, end: wider.end };
    }
    const parent = fitting ?? this.#window(start, end, section);
    return parent.start < start || parent.end > end ? parent : undefined;
  }

  /** Half of the room that the chunk leaves on either side, and what one side does not need on the other. */
  #window(start: number, end: number, section: Section): Span {
    const room = this.#maxTokens - this.#index.between(start, end);
    if (room <= 0) return { start, end };
    const ahead = this.#tokens({ start: end, end: section.end });
    const before = this.#startBefore(start, Math.max(room / 2, room - ahead), section);
    return { start: before, end: this.#endBehind(end, room - this.#tokens({ start: before, end: start }), section) };
  }

  #startBefore(start: number, room: number, section: Section): number {
    const low = Math.max(section.start, this.#index.reachBack(start, room));
    const next = low === 0 ? 0 : this.#blockAt(low - 1) + 1;
    const whole = Math.min(start, this.#blocks[next]?.start ?? start);
    if (low >= start || this.#tokens({ start: whole, end: start }) >= room * enough) return whole;
    const points = this.#cuts.before.of(this.#text, this.#blocks[this.#blockAt(low)]!);
    return Math.min(whole, points[firstAbove(points, low - 1)] ?? start);
  }

  #endBehind(end: number, room: number, section: Section): number {
    const high = Math.min(section.end, this.#index.reach(end, room));
    if (high === section.end) return high;
    const block = this.#blocks[this.#blockAt(high)]!;
    const whole = Math.max(end, block.start);
    if (high <= end || this.#tokens({ start: end, end: whole }) >= room * enough) return whole;
    const points = this.#cuts.behind.of(this.#text, block);
    return Math.max(whole, points[firstAbove(points, high) - 1] ?? end);
  }

  #tokens({ start, end }: Span): number {
    return this.#index.between(start, end);
  }

  /** The block that holds `at`. */
  #blockAt(at: number): number {
    return firstAbove(this.#starts, at) - 1;
  }
}

/** Where one block can be cut. Found once as long as it is the same block that is asked for. */
class Cuts {
  #of: { readonly block: Block; readonly points: Uint32Array } | undefined;

  of(text: string, block: Block): Uint32Array {
    if (this.#of?.block !== block) this.#of = { block, points: breakPoints(text, block) };
    return this.#of.points;
  }
}
