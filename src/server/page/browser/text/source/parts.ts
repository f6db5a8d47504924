import type { WireExcerpt } from "../../../../api/wire.js";
import { element } from "./drawn-source.js";
import { isSlides } from "../../words/slides.js";

/** A kind of block that parts are told by. Code is named when it says its language. */
export type BlockKind = "words" | "code" | "named-code" | "table";

/** A part of a document that is drawn by itself: a page, a slide, or a cell of a notebook. Offsets into the document. */
export interface Part {
  readonly start: number;
  readonly end: number;
  readonly page?: number | undefined;
  readonly isCell: boolean;
}

/** Cuts a stretch of an excerpt where pages, slides and cells begin. Pure. */
export function partsOf({ pages, cells }: Pick<WireExcerpt, "pages" | "cells">, from: number, length: number): Part[] {
  const to = from + length;
  const starts = [...new Set([from, ...pages.map(({ start }) => start), ...(cells ?? [])])]
    .filter((start) => start >= from && start < to)
    .toSorted((one, other) => one - other);
  return starts.map((start, index) => ({
    start,
    end: starts[index + 1] ?? to,
    page: pages.find((each) => each.start === start)?.page,
    isCell: cells !== undefined,
  }));
}

interface DrawnBlock {
  readonly element: HTMLElement;
  readonly kind: BlockKind;
}

interface Labels {
  readonly excerpt: Pick<WireExcerpt, "uri">;
  readonly pageBreak: (page: number) => string;
  readonly slide: (slide: number) => string;
  /** Label of the output of a notebook's cell. */
  readonly output: string;
}

/** The elements of a part: its blocks below a line that names the page, or within a slide or a cell. */
export function nodesOf(part: Part, blocks: readonly DrawnBlock[], labels: Labels): Node[] {
  const elements = blocks.map((block) => block.element);
  if (part.isCell) return elements.length === 0 ? [] : [cellOf(blocks, labels.output)];
  if (!isSlides(labels.excerpt.uri)) {
    return part.page === undefined
      ? elements
      : [element("span", "page-break", labels.pageBreak(part.page)), ...elements];
  }
  const slide = element("section", "slide");
  // The excerpt may begin within a slide.
  if (part.page !== undefined) slide.append(element("p", "part-label", labels.slide(part.page)));
  slide.append(...elements);
  return [slide];
}

/** A cell of a notebook. Code without a language, and tables, that follow its code are what that printed. */
function cellOf(blocks: readonly DrawnBlock[], label: string): HTMLElement {
  const hasCode = blocks[0]?.kind === "named-code";
  const cell = element("section", hasCode ? "cell code-cell" : "cell");
  let output: HTMLElement | undefined;
  for (const block of blocks) {
    if (hasCode && (block.kind === "code" || block.kind === "table")) {
      if (!output) cell.append((output = element("div", "cell-output")));
      if (output.childNodes.length === 0) output.append(element("p", "part-label", label));
      output.append(block.element);
    } else {
      output = undefined;
      cell.append(block.element);
    }
  }
  return cell;
}
