import { commonest, type PageLine } from "./page-lines.js";
import { columnsOf, headingNumber, isProse, type Paragraph } from "./paragraphs.js";

/** Letters of at least this many times the text's size make a heading. */
const minLargeSize = 1.15;
/** Sizes that differ by less than this share are one. */
const sizeTolerance = 0.05;
/** A longer paragraph is text in large or bold letters. */
const maxLines = 3;
const maxCharacters = 200;
/** Larger shares of the text are not headings: no size is that of most of it. */
const maxHeadingShare = 0.3;
const maxLevel = 6;
/** Dots before a page number: a line of a table of contents. */
const leader = /(?:\. ?){4,}\s*\w*$|…\s*\w+$/u;

/** The size that most letters have, in points; 0 without any. */
export function bodySizeOf(lines: readonly PageLine[]): number {
  const printed = lines.filter(({ isWritten }) => !isWritten);
  return commonest(printed.map(({ text, letterSize }) => [Math.round(letterSize * 2) / 2, text.length])) ?? 0;
}

/**
 * Levels of the paragraphs that are headings, 1 to 6: short and in larger letters than the text; the larger, the higher.
 * Headings of `bold` lines stand below them, by their numbers.
 */
export function headingLevels(
  paragraphs: readonly Paragraph[],
  bodySize: number,
  bold: ReadonlySet<PageLine> = new Set<PageLine>(),
): ReadonlyMap<Paragraph, number> {
  const large = paragraphs.filter((paragraph) => isLarge(paragraph, bodySize));
  const inBold = paragraphs.filter(({ lines }) => lines.every((line) => bold.has(line)));
  if (lengthOf([...large, ...inBold]) > maxHeadingShare * lengthOf(paragraphs)) return new Map();
  const sizes: number[] = [];
  for (const size of large.map(sizeOf).toSorted((a, b) => b - a)) {
    if (sizes.length === 0 || size < sizes.at(-1)! * (1 - sizeTolerance)) sizes.push(size);
  }
  const levels = new Map<Paragraph, number>();
  for (const paragraph of inBold) levels.set(paragraph, sizes.length + depthByNumber(paragraph.lines[0]!.text));
  for (const paragraph of large) {
    levels.set(paragraph, 1 + sizes.findIndex((currentSize) => sizeOf(paragraph) >= currentSize * (1 - sizeTolerance)));
  }
  let below: number | undefined;
  for (const paragraph of paragraphs.toReversed()) {
    const level = levels.get(paragraph);
    // A smaller line right above a heading, such as the chapter's number, belongs to it.
    below = level === undefined ? undefined : Math.min(maxLevel, level, below ?? level);
    if (below !== undefined) levels.set(paragraph, below);
  }
  return levels;
}

function isLarge({ lines }: Paragraph, bodySize: number): boolean {
  const text = lines.map((line) => line.text).join(" ");
  return (
    lines.length <= maxLines &&
    text.length <= maxCharacters &&
    /\p{L}.*\p{L}/su.test(text) &&
    !/[,;，；、]$/u.test(text) &&
    !leader.test(text) &&
    lines.every(({ letterSize, isWritten }) => letterSize >= minLargeSize * bodySize && !isWritten)
  );
}

function sizeOf({ lines }: Paragraph): number {
  return Math.max(...lines.map(({ letterSize }) => letterSize));
}

function lengthOf(paragraphs: readonly Paragraph[]): number {
  return paragraphs.reduce((sum, { lines }) => sum + lines.reduce((length, { text }) => length + text.length, 0), 0);
}

/** How deep a heading lies by its number: 1 for `3` and `一、`, 3 for `3.1.2`; 1 without one. */
function depthByNumber(text: string): number {
  const [, counted, bracketed] = headingNumber.exec(text) ?? [];
  return bracketed === undefined ? (counted ?? "").split(".").length : 2;
}

/** Bold lines below this share of the text's size are captions and heads of tables. */
const minBoldSize = 0.95;
const maxColumns = 100;
/** Letters of text that a heading has under it, at least. */
const minTextBelow = 60;
/** The leading above a line is a gap from this multiple of the one below it. */
const minGap = 1.15;

/** The start of a caption or a list item. */
const caption = /^(?:table|figure|fig\.|listing|algorithm|exhibit|[图表])\s*\d|^[•‣◦▪■●○–—*·-]\s/iu;
const endOfSentence = /[.!?:。！？：][)\]"'”’）」]*$/u;

/**
 * Finds headings among lines in bold letters of the text's size: short, on their own, after a completed sentence, and with
 * text in other letters under them. Table cells, form labels, captions and stressed sentences do not count.
 *
 * @param bodySize size of the text's letters, in points
 * @param bold ids of the bold fonts; the text's own font is not bold
 */
export function boldHeadings(
  pages: readonly (readonly PageLine[])[],
  bodySize: number,
  bold: ReadonlySet<string>,
): ReadonlySet<PageLine> {
  const found = new Set<PageLine>();
  if (bold.size === 0) return found;
  const lines = pages.flat();
  const firstOfPage = new Set(pages.flatMap(([first]) => first ?? []));
  const isBold = (line: PageLine | undefined) =>
    line !== undefined && !line.isWritten && line.fonts.every((font) => bold.has(font));
  for (let start = 0; start < lines.length; start++) {
    if (!isBold(lines[start])) continue;
    let end = start + 1;
    while (isBold(lines[end]) && !firstOfPage.has(lines[end]!)) end++;
    const group = lines.slice(start, end);
    const before = firstOfPage.has(group[0]!) ? undefined : lines[start - 1];
    const after = textBelow(lines, end, isBold);
    const alone =
      group.length <= maxLines &&
      group.every((line) => looksLikeHeading(line, bodySize)) &&
      !/[.,;:!，；、。：！]$/u.test(group.at(-1)!.text) &&
      (before === undefined || startsAfresh(before, group[0]!, after[0])) &&
      group.every((line, index) => index === 0 || !areBeside(group[index - 1]!, line)) &&
      isTextOf(group.at(-1)!, after);
    if (alone) for (const line of group) found.add(line);
    start = end - 1;
  }
  return found;
}

function looksLikeHeading({ text, letterSize, parts }: PageLine, bodySize: number): boolean {
  return (
    letterSize >= minBoldSize * bodySize &&
    letterSize < minLargeSize * bodySize &&
    (parts === 1 || (parts === 2 && headingNumber.test(text))) &&
    columnsOf(text) <= maxColumns &&
    /\p{L}.*\p{L}/u.test(text) &&
    !/^\p{Ll}/u.test(text) &&
    !caption.test(text)
  );
}

/** Whether a line starts something new: after a gap, a full stop, or a line in letters of another size. */
function startsAfresh(before: PageLine, line: PageLine, after: PageLine | undefined): boolean {
  if (areBeside(before, line)) return false;
  const [above, below] = [line.base - before.base, (after?.base ?? line.base) - line.base];
  const gap = above < 0 || (below > 0 && above > minGap * below);
  const otherSize = Math.abs(before.letterSize - line.letterSize) > 0.12 * line.letterSize;
  return gap || otherSize || endOfSentence.test(before.text) || !isProse(before);
}

/** The lines after a heading up to the next bold one, as many as it takes to tell whether they are its text. */
function textBelow(
  lines: readonly PageLine[],
  from: number,
  isBold: (line: PageLine | undefined) => boolean,
): readonly PageLine[] {
  const max = Math.min(lines.length, from + 4);
  let end = from;
  while (end < max && !isBold(lines[end])) end++;
  return lines.slice(from, end);
}

/** Whether text follows a heading: sentences or a list, not a row of a table. */
function isTextOf(heading: PageLine, after: readonly PageLine[]): boolean {
  const [first] = after;
  if (!first || areBeside(heading, first) || first.parts > 1 || /^\p{Ll}/u.test(first.text)) return false;
  return after.some(isProse) && after.reduce((sum, { text }) => sum + columnsOf(text), 0) >= minTextBelow;
}

/** Whether two lines are cells of one row. */
function areBeside(a: PageLine, b: PageLine): boolean {
  return Math.abs(a.base - b.base) < 0.5 * Math.max(a.size, b.size);
}
