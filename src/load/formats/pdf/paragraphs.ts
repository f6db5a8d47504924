import type { PageLine } from "./page-lines.js";

/** Separation of two lines: they flow on as one sentence, or a line end or an empty line stays between them. */
export type Break = "flow" | "line" | "paragraph";

/** Lines with an empty line before and after, and the breaks between each two of them. */
export interface Paragraph {
  readonly lines: readonly PageLine[];
  readonly breaks: readonly Break[];
}

/** Groups the lines of a page into paragraphs; lines of `headings` make paragraphs of their own. */
export function paragraphsOf(
  lines: readonly PageLine[],
  headings: ReadonlySet<PageLine> = new Set<PageLine>(),
): Paragraph[] {
  const breaks = breaksOf(lines).map((kind, index) => {
    const [before, line] = [lines[index]!, lines[index + 1]!];
    const separate =
      headings.has(before) !== headings.has(line) || (headings.has(line) && headingNumber.test(line.text));
    return separate ? "paragraph" : kind;
  });
  const starts = lines.flatMap((_, index) => (index === 0 || breaks[index - 1] === "paragraph" ? [index] : []));
  return starts.map((start, position) => {
    const end = starts[position + 1] ?? lines.length;
    return { lines: lines.slice(start, end), breaks: breaks.slice(start, end - 1) };
  });
}

/** Baselines farther apart than this many letter heights leave room for an empty line. */
const maxLeading = 1.9;
/** Shorter lines are rows, captions and code rather than prose; ideographs count twice. */
const minProseColumns = 32;
/** A second line of the page must end this near, in letter heights, to make the end of the longest line an edge. */
const edgeWidth = 3;
const item = /^(?:[•‣◦▪■●○–—*·-]|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)、])\s/iu;
const ideograph = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uffef]/u;

/**
 * The break before each line but the first. A line flows into the next when it was broken only because it was full: the
 * next line's first word would not have fitted. Rows of tables, code, verses and headings keep their line ends.
 */
export function breaksOf(lines: readonly PageLine[]): Break[] {
  const breaks: Break[] = [];
  const right = rightEdges(lines);
  for (let index = 1; index < lines.length; index++) {
    const [before, line, after] = [lines[index - 1]!, lines[index]!, lines[index + 1]];
    const previous = breaks[index - 2] ?? "paragraph";
    const separate = isSeparate(before, line);
    if (before.isWritten || line.isWritten) breaks.push(before.isWritten && line.isWritten ? "line" : "paragraph");
    else if (separate && !continuesElsewhere(before, line)) breaks.push("paragraph");
    else if (!separate && isCutWord(before, line)) breaks.push("flow");
    else if (!isFull(before, line, right[index - 1]!) || item.test(line.text))
      breaks.push(separate ? "paragraph" : "line");
    else if (separate) breaks.push("flow");
    else breaks.push(isIndented(before, line, after, previous) ? "line" : "flow");
  }
  return breaks;
}

/** Whether two lines do not belong together: they differ in size, or there is room between them. */
function isSeparate(before: PageLine, line: PageLine): boolean {
  const size = Math.max(before.size, line.size);
  const leading = line.base - before.base;
  return leading > maxLeading * size || leading < -0.5 * size || differsInSize(before, line);
}

function differsInSize(before: PageLine, line: PageLine): boolean {
  return Math.abs(before.size - line.size) > 0.12 * Math.max(before.size, line.size);
}

/** Whether a sentence goes on at the top of the next column: it starts in the middle, as only the rest of one does. */
function continuesElsewhere(before: PageLine, line: PageLine): boolean {
  return (
    line.base < before.base &&
    !differsInSize(before, line) &&
    /^\p{Ll}/u.test(line.text) &&
    !/[.!?:]$/u.test(before.text)
  );
}

/**
 * The right edge of the block of each line: the end of the longest of the lines that stand under one another. A line longer
 * than all others on the page makes no edge: nothing says that it was full.
 */
function rightEdges(lines: readonly PageLine[]): number[] {
  const edges: number[] = [];
  const proseEnds = Float64Array.from(lines.filter(isProse), ({ end }) => end).toSorted();
  for (let start = 0; start < lines.length;) {
    let end = start + 1;
    let longest = lines[start]!;
    for (; end < lines.length && !isSeparate(lines[end - 1]!, lines[end]!); end++) {
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

/** Counts the sorted values at the start for which a condition holds. */
function countWhile(sorted: Float64Array, holds: (value: number) => boolean): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (holds(sorted[middle]!)) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Whether a line of prose had no room left for the first word of the next line. */
function isFull(line: PageLine, next: PageLine, edge: number): boolean {
  if (!isProse(line) || (isRow(line) && isRow(next)) || (line.parts > 1 && next.parts > 1)) return false;
  const word = ideograph.test(next.text[0]!) ? next.text.slice(0, 1) : /^\S+/u.exec(next.text)![0];
  const width = ((next.end - next.start) * columnsOf(word)) / columnsOf(next.text);
  return line.end + 0.2 * line.size + width > edge - 0.3 * line.size;
}

/** Whether a hyphen cuts a word at the end of a line, however much room there was. */
function isCutWord(line: PageLine, next: PageLine): boolean {
  return isProse(line) && /\p{L}[-\u2010]$/u.test(line.text) && /^\p{Ll}{2}/u.test(next.text);
}

/** Whether the next line starts a paragraph by its indentation. */
function isIndented(before: PageLine, line: PageLine, after: PageLine | undefined, previous: Break): boolean {
  const shift = (line.start - before.start) / line.size;
  if (Math.abs(shift) < 0.5) return false;
  // Back to the left: after the first line of a paragraph the text flows on; otherwise a hanging item starts.
  if (shift < 0) return previous === "flow";
  // To the right: the rest of a hanging item stays there, the first line of a paragraph is left again at once.
  return after !== undefined && !isSeparate(line, after) && after.start - line.start < -0.5 * line.size;
}

/** Whether a line is as long as lines of prose are. */
export function isProse({ text }: PageLine): boolean {
  return columnsOf(text) >= minProseColumns;
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

/** The number before a heading: `3`, `3.1.2`, `A.1`, `一、`, `（二）`. */
export const headingNumber =
  /^(?:((?:\d{1,3}|[A-Z](?=\.))(?:\.\d{1,3})*)[.)]?\s|[一二三四五六七八九十]{1,3}、|([（(][一二三四五六七八九十]{1,3}[）)]))/u;

const cutWord = /(\p{L}+)[-\u2010]$/u;
const restOfWord = /^(\p{Ll}+)/u;

/** Words of a text, in lower case, hyphenated ones in one piece. */
export type Vocabulary = ReadonlySet<string>;

/** The whole words of the lines, without the halves at line ends: they decide whether a hyphen there stays. */
export function vocabularyOf(lines: Iterable<string>): Vocabulary {
  const words = new Set<string>();
  let cut = false;
  for (const line of lines) {
    const whole = line.replace(cut ? restOfWord : cutWord, "").replace(cutWord, "");
    for (const [word] of whole.matchAll(/\p{L}+(?:[-\u2010]\p{L}+)*/gu)) {
      words.add(word.toLowerCase().replaceAll("\u2010", "-"));
    }
    cut = cutWord.test(line);
  }
  return words;
}

/** Joins lines to text. `breaks[i]` stands between line `i` and the next. */
export function joinLines(lines: readonly string[], breaks: readonly Break[], known: Vocabulary): string {
  let text = lines[0] ?? "";
  for (const [index, kind] of breaks.entries()) {
    const next = lines[index + 1]!;
    if (kind === "paragraph") text += `\n\n${next}`;
    else if (kind === "line") text += `\n${next}`;
    else text = flowOn(text, next, known);
  }
  return text;
}

function flowOn(text: string, next: string, known: Vocabulary): string {
  const start = cutWord.exec(text.slice(-80))?.[1];
  const rest = restOfWord.exec(next)?.[1];
  if (start !== undefined && rest !== undefined) {
    return hyphenStays(start.toLowerCase(), rest, known) ? text + next : text.slice(0, -1) + next;
  }
  // A hyphen before a capital or a number belongs to the name it stands in.
  if (/[\p{L}\p{N}][-\u2010]$/u.test(text) && /^[\p{L}\p{N}]/u.test(next)) return text + next;
  const together = ideograph.test(text.at(-1)!) && ideograph.test(next[0]!);
  return together ? text + next : `${text} ${next}`;
}

/**
 * Whether the hyphen at a line's end is part of the word. The document decides: by how it writes the word elsewhere, and
 * whether the halves are words of their own.
 */
function hyphenStays(start: string, rest: string, known: Vocabulary): boolean {
  if (known.has(start + rest)) return false;
  return known.has(`${start}-${rest}`) || (known.has(start) && known.has(rest));
}
