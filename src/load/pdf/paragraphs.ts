import { headingNumber } from "./heading-number.js";
import type { PageLine } from "./page-lines.js";

/** What stands between two lines: nothing to keep (they are one sentence flowing on), a line end, or an empty line. */
export type Break = "flow" | "line" | "paragraph";

/** Lines that an empty line keeps from all others, with what stands between each two of them. */
export interface Paragraph {
  readonly lines: readonly PageLine[];
  readonly breaks: readonly Break[];
}

/** The lines of a page in paragraphs; those of `headings` stand in paragraphs of their own. */
export function paragraphsOf(
  lines: readonly PageLine[],
  headings: ReadonlySet<PageLine> = new Set<PageLine>(),
): Paragraph[] {
  const breaks = breaksOf(lines).map((kind, index) => {
    const [before, line] = [lines[index]!, lines[index + 1]!];
    const apart = headings.has(before) !== headings.has(line) || (headings.has(line) && headingNumber.test(line.text));
    return apart ? "paragraph" : kind;
  });
  const starts = lines.flatMap((_, index) => (index === 0 || breaks[index - 1] === "paragraph" ? [index] : []));
  return starts.map((start, at) => {
    const end = starts[at + 1] ?? lines.length;
    return { lines: lines.slice(start, end), breaks: breaks.slice(start, end - 1) };
  });
}

/** Baselines farther apart than this many letter heights leave room for an empty line. */
const mostLeading = 1.9;
/** Lines of fewer characters are rows, captions and code rather than prose; ideographs count twice. */
const leastProse = 32;
/** An edge is one when a second line of the page comes as near to it as this, in letter heights. */
const edgeWidth = 3;
const item = /^(?:[•‣◦▪■●○–—*·-]|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)、])\s/iu;
const ideograph = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uffef]/u;

/**
 * What stands before each line but the first. A line flows into the next when it was broken only because it was full:
 * the next line's first word would not have fitted. Rows of tables, code, verses and headings keep their line ends.
 */
export function breaksOf(lines: readonly PageLine[]): Break[] {
  const breaks: Break[] = [];
  const right = rightEdges(lines);
  for (let index = 1; index < lines.length; index++) {
    const [before, line, after] = [lines[index - 1]!, lines[index]!, lines[index + 1]];
    const previous = breaks[index - 2] ?? "paragraph";
    const apart = isApart(before, line);
    if (apart && !continuesElsewhere(before, line)) breaks.push("paragraph");
    else if (!apart && isCutWord(before, line)) breaks.push("flow");
    else if (!isFull(before, line, right[index - 1]!) || item.test(line.text))
      breaks.push(apart ? "paragraph" : "line");
    else if (apart) breaks.push("flow");
    else breaks.push(isIndented(before, line, after, previous) ? "line" : "flow");
  }
  return breaks;
}

/** Lines that do not belong under one another: of another size, or with room between them. */
function isApart(before: PageLine, line: PageLine): boolean {
  const size = Math.max(before.size, line.size);
  const leading = line.base - before.base;
  return leading > mostLeading * size || leading < -0.5 * size || differsInSize(before, line);
}

function differsInSize(before: PageLine, line: PageLine): boolean {
  return Math.abs(before.size - line.size) > 0.12 * Math.max(before.size, line.size);
}

/** A sentence that goes on at the top of the next column: it starts in the middle, as only a sentence cut in two does. */
function continuesElsewhere(before: PageLine, line: PageLine): boolean {
  return (
    line.base < before.base &&
    !differsInSize(before, line) &&
    /^\p{Ll}/u.test(line.text) &&
    !/[.!?:]$/u.test(before.text)
  );
}

/**
 * The right edge of the block each line is in: that of the longest of the lines that stand under one another. A long line
 * that no other on the page is as long as is no edge: nothing says that it was full.
 */
function rightEdges(lines: readonly PageLine[]): number[] {
  const edges: number[] = [];
  const proseEnds = Float64Array.from(lines.filter(isProse), ({ end }) => end).toSorted();
  for (let start = 0; start < lines.length;) {
    let end = start + 1;
    let longest = lines[start]!;
    for (; end < lines.length && !isApart(lines[end - 1]!, lines[end]!); end++) {
      if (lines[end]!.end > longest.end) longest = lines[end]!;
    }
    const width = edgeWidth * longest.size;
    const near =
      countWhile(proseEnds, (value) => value < longest.end + width) -
      countWhile(proseEnds, (value) => value <= longest.end - width);
    const edge = near > 1 ? longest.end : Number.POSITIVE_INFINITY;
    for (let line = start; line < end; line++) edges.push(edge);
    start = end;
  }
  return edges;
}

/** How many of the sorted values a condition holds for that holds for the first ones alone. */
function countWhile(sorted: Float64Array, holds: (value: number) => boolean): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (holds(sorted[middle]!)) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Whether a line of prose had no room left for the word that the next line starts with. */
function isFull(line: PageLine, next: PageLine, edge: number): boolean {
  if (!isProse(line) || (isRow(line) && isRow(next))) return false;
  const word = ideograph.test(next.text[0]!) ? next.text.slice(0, 1) : /^\S+/u.exec(next.text)![0];
  const width = ((next.end - next.start) * columnsOf(word)) / columnsOf(next.text);
  return line.end + 0.2 * line.size + width > edge - 0.3 * line.size;
}

/** Whether a word goes on in the next line, however much room there was: in lines of unequal length as well. */
function isCutWord(line: PageLine, next: PageLine): boolean {
  return isProse(line) && /\p{L}[-\u2010]$/u.test(line.text) && /^\p{Ll}{2}/u.test(next.text);
}

/** Whether the next line starts a paragraph by its indentation. */
function isIndented(before: PageLine, line: PageLine, after: PageLine | undefined, previous: Break): boolean {
  const shift = (line.start - before.start) / line.size;
  if (Math.abs(shift) < 0.5) return false;
  // Back to the left: after the first line of a paragraph it flows on; otherwise a hanging item starts.
  if (shift < 0) return previous === "flow";
  // To the right: the rest of a hanging item stays there, the first line of a paragraph is left again at once.
  return after !== undefined && !isApart(line, after) && after.start - line.start < -0.5 * line.size;
}

/** Whether a line is as long as lines of prose are. */
export function isProse({ text }: PageLine): boolean {
  return columnsOf(text) >= leastProse;
}

/** Whether a line is mostly numbers, as rows of tables are. */
function isRow({ text }: PageLine): boolean {
  const words = text.split(" ");
  return words.filter((word) => /\d/u.test(word) && !/\p{L}{3}/u.test(word)).length >= 0.5 * words.length;
}

/** Width of a text in letters; an ideograph is as wide as two. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += ideograph.test(character) ? 2 : 1;
  return columns;
}
