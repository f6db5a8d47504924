import type { PageLine } from "./page-lines.js";
import { depthByNumber } from "./heading-number.js";
import type { Paragraph } from "./paragraphs.js";

/** Of the text's size: what is larger stands out. */
const leastSize = 1.15;
/** Sizes as near as this, as a share, are one. */
const sameSize = 0.05;
/** Longer ones are text in large letters. */
const mostLines = 3;
const mostCharacters = 200;
/** Share of a text from which on headings are none: it has no size that most of it is in. */
const mostOfText = 0.3;
const deepest = 6;
/** Dots that lead to a page's number: a line of a table of contents. */
const leader = /(?:\. ?){4,}\s*\w*$|…\s*\w+$/u;

/** The size that most letters have, in points; 0 without any. */
export function bodySizeOf(lines: Iterable<PageLine>): number {
  const letters = new Map<number, number>();
  for (const { text, letterSize } of lines) {
    const size = Math.round(letterSize * 2) / 2;
    letters.set(size, (letters.get(size) ?? 0) + text.length);
  }
  let [bodySize, most] = [0, 0];
  for (const [size, count] of letters) if (count > most) [bodySize, most] = [size, count];
  return bodySize;
}

/**
 * Levels of the paragraphs that are headings, 1 to 6: short and in larger letters than the text; the larger, the higher.
 * Those of `bold` lines stand below them, by their numbers.
 */
export function headingLevels(
  paragraphs: readonly Paragraph[],
  bodySize: number,
  bold: ReadonlySet<PageLine> = new Set<PageLine>(),
): ReadonlyMap<Paragraph, number> {
  const large = paragraphs.filter((paragraph) => isLarge(paragraph, bodySize));
  const stressed = paragraphs.filter(({ lines }) => lines.every((line) => bold.has(line)));
  if (lengthOf([...large, ...stressed]) > mostOfText * lengthOf(paragraphs)) return new Map();
  const sizes: number[] = [];
  for (const size of large.map(sizeOf).toSorted((a, b) => b - a)) {
    if (sizes.length === 0 || size < sizes.at(-1)! * (1 - sameSize)) sizes.push(size);
  }
  const levels = new Map<Paragraph, number>();
  for (const paragraph of stressed) levels.set(paragraph, sizes.length + depthByNumber(paragraph.lines[0]!.text));
  for (const paragraph of large) {
    levels.set(paragraph, 1 + sizes.findIndex((each) => sizeOf(paragraph) >= each * (1 - sameSize)));
  }
  let below: number | undefined;
  for (const paragraph of paragraphs.toReversed()) {
    const level = levels.get(paragraph);
    // A smaller line right above a heading, such as the chapter's number, belongs to that.
    below = level === undefined ? undefined : Math.min(deepest, level, below ?? level);
    if (below !== undefined) levels.set(paragraph, below);
  }
  return levels;
}

function isLarge({ lines }: Paragraph, bodySize: number): boolean {
  const text = lines.map((line) => line.text).join(" ");
  return (
    lines.length <= mostLines &&
    text.length <= mostCharacters &&
    /\p{L}.*\p{L}/su.test(text) &&
    !/[,;，；、]$/u.test(text) &&
    !leader.test(text) &&
    lines.every(({ letterSize }) => letterSize >= leastSize * bodySize)
  );
}

function sizeOf({ lines }: Paragraph): number {
  return Math.max(...lines.map(({ letterSize }) => letterSize));
}

function lengthOf(paragraphs: readonly Paragraph[]): number {
  return paragraphs.reduce((sum, { lines }) => sum + lines.reduce((length, { text }) => length + text.length, 0), 0);
}
