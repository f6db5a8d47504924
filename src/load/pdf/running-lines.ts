import type { PageLine } from "./page-lines.js";

/** Of a page, so many lines from its top and from its bottom may repeat on others. */
const edgeLines = 3;
/** Fewer pages do not tell what repeats from what is said twice. */
const fewestPages = 3;
/** Share of the pages from which on a line is a running one. Less than half: left and right pages may have their own. */
const leastShare = 0.4;
/** Of the text's size: larger lines at the top of each page are titles, as slides have them. */
const largest = 1.15;
/** In points: lines at the same place are as near as this. */
const placeHeight = 2;

/**
 * Pages without running heads and feet: lines at the top or bottom, at the same place on most pages, that say the same on
 * each, but for numbers that count the pages. Where one has words, it stays on the first page that has it: it may say
 * what nothing else does.
 *
 * @param bodySize of the letters of the text, in points.
 */
export function withoutRunningLines(pages: readonly (readonly PageLine[])[], bodySize: number): PageLine[][] {
  const written = pages.filter((lines) => lines.length > 0).length;
  const enough = Math.max(fewestPages, leastShare * written);
  const atEdges = pages.map((lines) => edges(lines).filter(({ letterSize }) => letterSize <= largest * bodySize));
  const counts = new Map<string, number>();
  for (const [page, lines] of atEdges.entries()) {
    for (const key of new Set(lines.flatMap((line) => keysOf(line, page)))) {
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  const repeats = (line: PageLine, page: number) => keysOf(line, page).some((key) => counts.get(key)! >= enough);
  const wordings = new Set<string>();
  for (const [page, lines] of atEdges.entries()) {
    for (const line of lines) if (repeats(line, page)) wordings.add(wordingOf(line));
  }
  const said = new Set<string>();
  const isRepetition = (line: PageLine) => {
    const wording = wordingOf(line);
    // The first pages of a book have the same heads with other numbers.
    if (!wordings.has(wording)) return false;
    const isFirst = hasWords(line) && !said.has(wording);
    said.add(wording);
    return !isFirst;
  };
  const running = atEdges.map((lines) => new Set(lines.filter(isRepetition)));
  const left = pages.map((lines, page) => lines.filter((line) => !running[page]!.has(line)));
  // Where nothing else is left, what repeats is what there is to read.
  return left.some((lines) => lines.length > 0) ? left : pages.map((lines) => [...lines]);
}

/** The outermost lines of a page, by where they stand: those that say nothing but a number may come in any order. */
function edges(lines: readonly PageLine[]): PageLine[] {
  const fromTop = lines.toSorted((a, b) => a.base - b.base);
  return [...new Set([...fromTop.slice(0, edgeLines), ...fromTop.slice(-edgeLines)])];
}

const number = /\d+/gu;
/** Fewer letters are no wording to know a line by. */
const fewestLetters = 4;
/** Of numbers in a head or foot: the page's, how many pages there are, a year. */
const mostNumbers = 3;

/** What a line says and where, each number once as it is and once as how far it is ahead of the page. */
function keysOf({ text, base }: PageLine, page: number): string[] {
  const numbers = text.match(number) ?? [];
  if (numbers.length > mostNumbers) return [`${place(base)} ${text}`];
  let keys = [""];
  let at = 0;
  for (const found of numbers) {
    const start = text.indexOf(found, at);
    const before = text.slice(at, start);
    keys = keys.flatMap((key) => [`${key}${before}${found}`, `${key}${before}page+${Number(found) - page}`]);
    at = start + found.length;
  }
  // Numbers alone that do not count the pages are those of a table.
  const counting = /\p{L}/u.test(text) ? keys : keys.filter((key) => key.includes("page+"));
  return counting.map((key) => `${place(base)} ${key}${text.slice(at)}`);
}

/** What a line says beside numbers, Roman ones too, where that is something. */
function wordingOf({ text, base }: PageLine): string {
  return `${place(base)} ${hasWords({ text }) ? lettersOf(text) : text.replace(number, "#")}`;
}

function hasWords({ text }: Pick<PageLine, "text">): boolean {
  return lettersOf(text).length >= fewestLetters;
}

function lettersOf(text: string): string {
  return text.replace(/(?:^|(?<=\s))[ivxlc]+(?=\s|$)/gu, "").replace(/\P{L}/gu, "");
}

function place(base: number): number {
  return Math.round(base / placeHeight);
}
