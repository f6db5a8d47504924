import type { Span } from "../types.js";
import type { Block } from "./block.js";

/** A heading with all that stands under it, deeper headings included; the outermost section is the whole document. */
export interface Section extends Span {
  /** The section that this one is part of. */
  readonly outer?: Section;
}

/** For each block the innermost section that it is part of; a heading is part of the section that it opens. */
export function sections(blocks: readonly Block[], length: number): readonly Section[] {
  const whole: Section & { end: number } = { start: 0, end: length };
  const open: { readonly level: number; readonly section: Section & { end: number } }[] = [];
  return blocks.map(({ kind, start, level = 1 }) => {
    if (kind === "heading") {
      while ((open.at(-1)?.level ?? 0) >= level) open.pop()!.section.end = start;
      open.push({ level, section: { start, end: length, outer: open.at(-1)?.section ?? whole } });
    }
    return open.at(-1)?.section ?? whole;
  });
}
