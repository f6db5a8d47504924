import { headingNumber } from "./heading-number.js";
import type { PageLine } from "./page-lines.js";
import { columnsOf, isProse } from "./paragraphs.js";

/** Of the text's size: smaller lines are captions and heads of tables, larger ones headings by their size. */
const [leastSize, mostSize] = [0.95, 1.15];
/** More lines of bold letters are text that somebody stressed. */
const mostLines = 3;
const mostColumns = 100;
/** Of the text under a heading, in letters. */
const leastText = 60;
/** Share of the leading below a line from which on the one above is a gap. */
const leastGap = 1.15;

/** What starts like a caption, or like an item of a list. */
const caption = /^(?:table|figure|fig\.|listing|algorithm|exhibit|[图表])\s*\d|^[•‣◦▪■●○–—*·-]\s/iu;
const endOfSentence = /[.!?:。！？：][)\]"'”’）」]*$/u;

/**
 * Lines in bold letters of the text's size that are headings: short, on their own, behind the end of what was said before,
 * and with a text in other letters under them. Cells of tables, labels of forms, captions and stressed sentences are none.
 *
 * @param bodySize of the letters of the text, in points.
 * @param bold ids of the fonts that are bold, while that of the text is not.
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
  const isBold = (line: PageLine | undefined) => line !== undefined && line.fonts.every((font) => bold.has(font));
  for (let start = 0; start < lines.length; start++) {
    if (!isBold(lines[start])) continue;
    let end = start + 1;
    while (isBold(lines[end]) && !firstOfPage.has(lines[end]!)) end++;
    const group = lines.slice(start, end);
    const before = firstOfPage.has(group[0]!) ? undefined : lines[start - 1];
    const after = textBelow(lines, end, isBold);
    const alone =
      group.length <= mostLines &&
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
    letterSize >= leastSize * bodySize &&
    letterSize < mostSize * bodySize &&
    (parts === 1 || (parts === 2 && headingNumber.test(text))) &&
    columnsOf(text) <= mostColumns &&
    /\p{L}.*\p{L}/u.test(text) &&
    !/^\p{Ll}/u.test(text) &&
    !caption.test(text)
  );
}

/** Whether a line starts something new: behind a gap, a full stop, or a line in letters of another size. */
function startsAfresh(before: PageLine, line: PageLine, after: PageLine | undefined): boolean {
  if (areBeside(before, line)) return false;
  const [above, below] = [line.base - before.base, (after?.base ?? line.base) - line.base];
  const gap = above < 0 || (below > 0 && above > leastGap * below);
  const otherSize = Math.abs(before.letterSize - line.letterSize) > 0.12 * line.letterSize;
  return gap || otherSize || endOfSentence.test(before.text) || !isProse(before);
}

/** The lines behind a heading up to the next bold one, as far as it takes to tell whether they are its text. */
function textBelow(
  lines: readonly PageLine[],
  from: number,
  isBold: (line: PageLine | undefined) => boolean,
): readonly PageLine[] {
  const most = Math.min(lines.length, from + 4);
  let end = from;
  while (end < most && !isBold(lines[end])) end++;
  return lines.slice(from, end);
}

/** Whether what follows a heading is text: sentences or a list, and no row of a table. */
function isTextOf(heading: PageLine, after: readonly PageLine[]): boolean {
  const [first] = after;
  if (!first || areBeside(heading, first) || first.parts > 1 || /^\p{Ll}/u.test(first.text)) return false;
  return after.some(isProse) && after.reduce((sum, { text }) => sum + columnsOf(text), 0) >= leastText;
}

/** Whether two lines are cells of one row. */
function areBeside(a: PageLine, b: PageLine): boolean {
  return Math.abs(a.base - b.base) < 0.5 * Math.max(a.size, b.size);
}
