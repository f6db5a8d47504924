import { elementNode, type HtmlElement, type HtmlNode } from "../../element-tree.js";
import { isBlank, type SourceLine } from "../source-lines.js";

/** Renders the lines of a cell. */
type CellReader = (lines: readonly SourceLine[]) => readonly HtmlNode[];

/** The index behind the table with a grid that starts at `from`, or `from` where there is none. */
export function endOfGrid(lines: readonly SourceLine[], from: number): number {
  if (!/^\+(?:-+\+)+$/.test(lines[from]!.text)) return from;
  let end = from;
  while (end < lines.length && /^[+|]/.test(lines[end]!.text)) end++;
  return end - from >= 3 ? end : from;
}

interface GridCell {
  readonly from: number;
  readonly to: number;
  readonly lines: SourceLine[];
}

/** A table drawn with a line around each cell. A cell over several rows stands in the first. */
export function gridTable(lines: readonly SourceLine[], read: CellReader): HtmlElement {
  const columns = bordersOf(lines);
  const open: GridCell[] = [];
  const rows: HtmlElement[] = [];
  const flush = (isEnded: (cell: GridCell) => boolean) => {
    const ended = open.filter(isEnded);
    if (ended.length === 0) return;
    const cells = ended.map((cell) =>
      elementNode("td", read(trimmed(cell.lines)), { colspan: String(spanOf(cell, columns)) }, cell.lines[0]?.line),
    );
    rows.push(elementNode("tr", cells, {}, ended[0]!.lines[0]?.line));
    for (const cell of ended) open.splice(open.indexOf(cell), 1);
  };
  for (const { text, line } of lines) {
    if (isBorder(text, 0, text.length)) {
      flush(() => true);
      continue;
    }
    // A border below some of the cells ends those.
    flush((cell) => isBorder(text, cell.from - 1, cell.to + 1));
    for (const cell of cellsIn(text, columns)) {
      const above = open.find(({ from }) => from === cell.from);
      if (isBorder(text, cell.from - 1, cell.to + 1)) continue;
      const part = { text: text.slice(cell.from, above?.to ?? cell.to).trimEnd(), line };
      if (above) above.lines.push(part);
      else open.push({ ...cell, lines: [part] });
    }
    open.sort((one, other) => one.from - other.from);
  }
  flush(() => true);
  return elementNode("table", rows, {}, lines[0]!.line);
}

/** More columns than a page can show: each line is compared with each of them. */
const maxCorners = 100;

/** Columns at which a border of the grid has a corner. */
function bordersOf(lines: readonly SourceLine[]): readonly number[] {
  const corners = new Set<number>();
  for (const { text } of lines) {
    if (!/^\+[-=+]+\+$/.test(text)) continue;
    for (let offset = text.indexOf("+"); offset >= 0; offset = text.indexOf("+", offset + 1)) corners.add(offset);
  }
  return [...corners].toSorted((one, other) => one - other).slice(0, maxCorners);
}

function isBorder(text: string, from: number, to: number): boolean {
  return /^\+?[-=]+[-=+]*$/.test(text.slice(from, to)) && text.slice(from, to).length > 1;
}

function cellsIn(text: string, columns: readonly number[]): { from: number; to: number }[] {
  const bars = columns.filter((position) => text[position] === "|" || text[position] === "+");
  return bars.slice(1).map((to, index) => ({ from: bars[index]! + 1, to }));
}

function spanOf({ from, to }: GridCell, columns: readonly number[]): number {
  return columns.filter((index) => index >= from && index <= to).length || 1;
}

function trimmed(lines: readonly SourceLine[]): SourceLine[] {
  const indent = lines.reduce(
    (least, { text }) => (text.trim() === "" ? least : Math.min(least, text.length - text.trimStart().length)),
    100,
  );
  return lines.map(({ text, line }) => ({ text: text.slice(indent).trimEnd(), line }));
}

const simpleBorder = /^=+(?: +=+)+$/;

/** The index behind the table whose columns are only underlined, or `from` where there is none. */
export function endOfSimple(lines: readonly SourceLine[], from: number): number {
  if (!simpleBorder.test(lines[from]!.text)) return from;
  const borders: number[] = [];
  for (let index = from + 1; index < lines.length; index++) {
    if (!simpleBorder.test(lines[index]!.text)) continue;
    borders.push(index);
    // The border below the head is followed by rows.
    if (borders.length === 2 || isBlank(lines[index + 1])) return index + 1;
  }
  return from;
}

/** A table whose columns are underlined. A line with an empty first column goes on with the row above. */
export function simpleTable(lines: readonly SourceLine[], read: CellReader): HtmlElement {
  const starts = [...lines[0]!.text.matchAll(/=+/g)].map(({ index }) => index);
  const rows: SourceLine[][][] = [];
  let isNew = true;
  for (const { text, line } of lines) {
    const isRule = simpleBorder.test(text) || /^-+(?: +-+)*$/.test(text);
    if (isRule || text === "") {
      isNew = true;
      continue;
    }
    const parts = starts.map((start, column) => ({ text: text.slice(start, starts[column + 1]).trimEnd(), line }));
    if (isNew || parts[0]!.text.trim() !== "") rows.push(parts.map((part) => [part]));
    else for (const [column, part] of parts.entries()) rows.at(-1)![column]!.push(part);
    isNew = false;
  }
  return elementNode(
    "table",
    rows.map((cells) =>
      elementNode(
        "tr",
        cells.map((cell) => elementNode("td", read(trimmed(cell)), {}, cell[0]!.line)),
        {},
        cells[0]![0]!.line,
      ),
    ),
    {},
    lines[0]!.line,
  );
}
