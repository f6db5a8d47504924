import type { Span } from "../../core/types.js";
import type { Block } from "../blocks/block.js";
import { LastBreakPoints } from "../blocks/break-points.js";
import { type TokenIndex, upperBound } from "./token-index.js";

/** Share of the room on one side of a chunk: whole blocks that fill less are followed by a part of the next block. */
const minFilled = 1 / 2;

/**
 * Finds what to read around a chunk. That is the largest section around it with at most `maxTokens`, so that the chunks
 * of one section share a parent. In longer sections it is a window around the chunk: whole blocks if they fit, else up to
 * a sentence or line. Linear over all chunks of a document in their order.
 */
export class ParentSpans {
  readonly #text: string;
  readonly #blocks: readonly Block[];
  readonly #sections: readonly Section[];
  readonly #starts: Uint32Array;
  readonly #index: TokenIndex;
  readonly #maxTokens: number;
  readonly #breakPoints = { before: new LastBreakPoints(), after: new LastBreakPoints() };

  constructor(text: string, blocks: readonly Block[], index: TokenIndex, maxTokens: number) {
    this.#text = text;
    this.#blocks = blocks;
    this.#sections = sections(blocks, text.length);
    this.#starts = Uint32Array.from(blocks, ({ start }) => start);
    this.#index = index;
    this.#maxTokens = maxTokens;
  }

  /** The parent of a chunk; `undefined` if it would be the chunk itself. */
  of({ start, end }: Span): Span | undefined {
    let section = this.#sections[this.#blockAt(start)];
    while (section && (section.start > start || section.end < end)) section = section.outer;
    if (!section) return undefined;
    let parent: Span | undefined;
    for (let wider: Section | undefined = section; wider && this.#tokens(wider) <= this.#maxTokens;) {
      parent = { start: wider.start, end: wider.end };
      wider = wider.outer;
    }
    parent ??= this.#window(start, end, section);
    return parent.start < start || parent.end > end ? parent : undefined;
  }

  /** Gives each side half of the room, and the room that one side does not need to the other. */
  #window(start: number, end: number, section: Section): Span {
    const room = this.#maxTokens - this.#index.between(start, end);
    if (room <= 0) return { start, end };
    const ahead = this.#tokens({ start: end, end: section.end });
    const before = this.#startBefore(start, Math.max(room / 2, room - ahead), section);
    return { start: before, end: this.#endAfter(end, room - this.#tokens({ start: before, end: start }), section) };
  }

  #startBefore(start: number, room: number, section: Section): number {
    const low = Math.max(section.start, this.#index.reachBack(start, room));
    const next = low === 0 ? 0 : this.#blockAt(low - 1) + 1;
    const whole = Math.min(start, this.#blocks[next]?.start ?? start);
    if (low >= start || this.#tokens({ start: whole, end: start }) >= room * minFilled) return whole;
    const points = this.#breakPoints.before.of(this.#text, this.#blocks[this.#blockAt(low)]!);
    return Math.min(whole, points[upperBound(points, low - 1)] ?? start);
  }

  #endAfter(end: number, room: number, section: Section): number {
    const high = Math.min(section.end, this.#index.reach(end, room));
    if (high === section.end) return high;
    const block = this.#blocks[this.#blockAt(high)]!;
    const whole = Math.max(end, block.start);
    if (high <= end || this.#tokens({ start: end, end: whole }) >= room * minFilled) return whole;
    const points = this.#breakPoints.after.of(this.#text, block);
    return Math.max(whole, points[upperBound(points, high) - 1] ?? end);
  }

  #tokens({ start, end }: Span): number {
    return this.#index.between(start, end);
  }

  #blockAt(index: number): number {
    return upperBound(this.#starts, index) - 1;
  }
}

/** A heading with everything under it, deeper headings included; the outermost section is the whole document. */
interface Section extends Span {
  /** The section that this one is part of. */
  readonly outer?: Section;
}

/** For each block the innermost section around it; a heading belongs to the section that it opens. */
function sections(blocks: readonly Block[], length: number): readonly Section[] {
  const whole: Section = { start: 0, end: length };
  const open: { readonly level: number; readonly section: Section & { end: number } }[] = [];
  return blocks.map(({ kind, start, level = 1 }) => {
    if (kind === "heading") {
      while ((open.at(-1)?.level ?? 0) >= level) open.pop()!.section.end = start;
      open.push({ level, section: { start, end: length, outer: open.at(-1)?.section ?? whole } });
    }
    return open.at(-1)?.section ?? whole;
  });
}
