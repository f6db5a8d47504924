import type { Block, BlockKind } from "./block.js";
import { breakPoints } from "./break-points.js";

/** Kinds that are one unit here, however many lines they have. */
const whole: ReadonlySet<BlockKind> = new Set(["front-matter", "heading", "fence", "code", "table", "html"]);

/**
 * Where the sentences of a text start, rising from 0. A fence, table or piece of code counts as one, and a heading as part
 * of the sentence behind it.
 */
export function sentenceBounds(text: string, blocks: readonly Block[]): Uint32Array {
  const bounds: number[] = [];
  for (const [at, block] of blocks.entries()) {
    if (blocks[at - 1]?.kind !== "heading") bounds.push(block.start);
    if (!whole.has(block.kind)) for (const point of breakPoints(text, block)) bounds.push(point);
  }
  return Uint32Array.from(bounds);
}
