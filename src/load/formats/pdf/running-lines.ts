import type { PageLine } from "./page-lines.js";

/** Lines at the top and at the bottom of a page that may repeat on others. */
const edgeLines = 3;
/** On fewer pages a running line cannot be told from a coincidence. */
const minPages = 3;
/** Share of the pages that a running line is on, at least. Below half: left and right pages may have their own. */
const minShare = 0.4;
/** Lines of more than this many times the text's size are titles, as slides have them. */
const maxSize = 1.15;
/** Lines within this distance are at the same place, in points. */
const placeHeight = 2;

/**
 * Removes running heads and feet: lines at the top or bottom, at the same place on most pages, that are the same on each
 * except for numbers that count the pages. One with words stays on the first page that has it, and on pages that hold
 * nothing else: nothing else may say the same.
 *
 * @param bodySize size of the text's letters, in points
 * @returns with the number of pages that hold nothing but running lines
 */
export function withoutRunningLines(
  pages: readonly (readonly PageLine[])[],
  bodySize: number,
): { readonly left: PageLine[][]; readonly bare: readonly number[] } {
  const written = pages.filter((lines) => lines.length > 0).length;
  const enough = Math.max(minPages, minShare * written);
  const atEdges = pages.map((lines) => edges(lines).filter(({ letterSize }) => letterSize <= maxSize * bodySize));
  const counts = new Map<string, number>();
  for (const [page, lines] of atEdges.entries()) {
    for (const key of new Set(lines.flatMap((line) => keysOf(line, page)))) {
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  const repeats = (line: PageLine, page: number) => keysOf(line, page).some((key) => counts.get(key)! >= enough);
  const wordings = new Set(
    atEdges.flatMap((lines, page) => lines.filter((line) => repeats(line, page)).map(wordingOf)),
  );
  const seen = new Set<string>();
  const isRepetition = (line: PageLine) => {
    const wording = wordingOf(line);
    // The first pages of a book have the same heads with other numbers.
    if (!wordings.has(wording)) return false;
    const isFirst = hasWords(line) && !seen.has(wording);
    seen.add(wording);
    return !isFirst;
  };
  const running = atEdges.map((lines) => new Set(lines.filter(isRepetition)));
  const others = pages.map((lines, page) => lines.filter((line) => !running[page]!.has(line)));
  // Where nothing else is left at all, also bare numbers are the text.
  const isAll = others.every((lines) => lines.length === 0);
  const left = pages.map((lines, page) => {
    return others[page]!.length > 0 ? others[page]! : lines.filter((line) => isAll || hasWords(line));
  });
  return { left, bare: others.flatMap((lines, page) => (lines.length === 0 ? [page + 1] : [])) };
}

/** The outermost lines of a page, by position: page numbers may come anywhere in the order of the file. */
function edges(lines: readonly PageLine[]): PageLine[] {
  const fromTop = lines.toSorted((a, b) => a.base - b.base);
  return [...new Set([...fromTop.slice(0, edgeLines), ...fromTop.slice(-edgeLines)])];
}

const number = /\d+/gu;
/** Letters that tell a line from others, at least. */
const minLetters = 4;
/** Numbers in a head or foot: the page's, the count of pages, a year. */
const maxNumbers = 3;

/** Keys of a line's text and place, with each number once unchanged and once relative to the page's. */
function keysOf({ text, base }: PageLine, page: number): string[] {
  const numbers = text.match(number) ?? [];
  if (numbers.length > maxNumbers) return [`${place(base)} ${text}`];
  let keys = [""];
  let offset = 0;
  for (const found of numbers) {
    const start = text.indexOf(found, offset);
    const before = text.slice(offset, start);
    keys = keys.flatMap((key) => [`${key}${before}${found}`, `${key}${before}page+${Number(found) - page}`]);
    offset = start + found.length;
  }
  // Bare numbers that do not count the pages are those of a table.
  const counting = /\p{L}/u.test(text) ? keys : keys.filter((key) => key.includes("page+"));
  return counting.map((key) => `${place(base)} ${key}${text.slice(offset)}`);
}

/** A line's place and words without numbers, Roman ones included; without words, its signs. */
function wordingOf({ text, base }: PageLine): string {
  return `${place(base)} ${hasWords({ text }) ? lettersOf(text) : text.replace(number, "#")}`;
}

function hasWords({ text }: Pick<PageLine, "text">): boolean {
  return lettersOf(text).length >= minLetters;
}

function lettersOf(text: string): string {
  return text.replace(/(?:^|(?<=\s))[ivxlc]+(?=\s|$)/gu, "").replace(/\P{L}/gu, "");
}

function place(base: number): number {
  return Math.round(base / placeHeight);
}
