import { LoadError } from "../../../core/errors.js";
import { escapeCell, markdownRows } from "../html/table.js";
import type { LoadedText } from "../loader.js";

/** Cells of the tables of one file, the empty ones between others included. */
const maxCells = 20_000_000;

/** A filled cell: its column, from 0, and its words as the sheet shows them. */
export type Cell = readonly [column: number, value: string];

/** A sheet of a workbook. */
export interface Sheet {
  readonly name: string;
  readonly isHidden: boolean;
  /** Rows, which are read on demand and only once. */
  readonly rows: Iterable<Iterable<Cell>>;
}

/** Rounds a number stored to seventeen digits: the last two are artefacts of floating point. */
export function withoutNoise(stored: string): string {
  const digits = stored.replace(/[eE].*|\D/g, "").length;
  const isInexact = /[.eE]/.test(stored) && digits > 15 && Number.isFinite(Number(stored));
  return isInexact ? String(Number(Number(stored).toPrecision(15))) : stored;
}

/**
 * Sheets as Markdown tables under their names, the first row as the head, without rows, columns and sheets that are empty.
 * Hidden sheets are left out, with a warning.
 *
 * @param limit for tests
 * @throws LoadError (`too-large`) when the tables have more than 20,000,000 cells.
 */
export function markdownOfSheets(uri: string, sheets: readonly Sheet[], limit = maxCells): LoadedText {
  let left = limit;
  const spend = (cells: number) => {
    left -= cells;
    if (left < 0) throw new LoadError("too-large", uri, `${uri} has tables of more than ${limit} cells: split it`);
  };
  const blocks = sheets.flatMap(({ name, isHidden, rows }) => {
    if (isHidden) return [];
    const filled: (readonly Cell[])[] = [];
    for (const row of rows) {
      const cells: Cell[] = [];
      for (const [column, value] of row) {
        const words = escapeCell(value.replace(/\s+/gu, " ").trim());
        if (words === "") continue;
        spend(1);
        cells.push([column, words]);
      }
      if (cells.length > 0) filled.push(cells);
    }
    if (filled.length === 0) return [];
    // A stray mark far to the right would otherwise widen every row.
    const columns = new Set(filled.flatMap((cells) => cells.map(([column]) => column)));
    const places = new Map([...columns].toSorted((a, b) => a - b).map((column, place) => [column, place]));
    spend(filled.length * places.size);
    const table = filled.map((cells) => {
      const line = Array.from({ length: places.get(cells.at(-1)![0])! + 1 }, () => "");
      for (const [column, words] of cells) line[places.get(column)!] = words;
      return line;
    });
    return [`# ${name}\n\n${markdownRows(table).join("\n")}`];
  });
  const hidden = sheets.filter(({ isHidden }) => isHidden).map(({ name }) => JSON.stringify(name));
  return {
    text: blocks.join("\n\n"),
    anchors: [],
    mediaType: "text/markdown",
    ...(hidden.length > 0 && {
      warnings: [
        `${hidden.length} of its ${sheets.length} sheets are hidden and left out (${hidden.join(", ")}): show them to have them read`,
      ],
    }),
  };
}
