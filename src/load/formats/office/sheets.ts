import type { LoadedText } from "../loader.js";
import { escapeCell, markdownRows } from "../html/table.js";

/** More columns than a table in a text can have; cells farther out are mostly stray marks. */
export const maxColumns = 200;

/** A sheet of a workbook. */
export interface Sheet {
  readonly name: string;
  readonly rows: readonly (readonly string[])[];
}

/** A row's cells by their column, from 0, as they stand in a table: in one line, without empty cells at the end. */
export function rowOf(cells: Iterable<readonly [column: number, value: string]>): string[] {
  const row: string[] = [];
  for (const [column, value] of cells) {
    if (column >= maxColumns) continue;
    while (row.length < column) row.push("");
    row[column] = escapeCell(value.replace(/\s+/gu, " ").trim());
  }
  while (row.at(-1) === "") row.pop();
  return row;
}

/** Sheets as Markdown tables under their names, the first row as the head, without rows and sheets that are empty. */
export function markdownOfSheets(sheets: readonly Sheet[]): LoadedText {
  const blocks = sheets.flatMap(({ name, rows }) => {
    const lines = markdownRows(rows.filter((cells) => cells.some((cell) => cell !== "")));
    return lines.length === 0 ? [] : [`# ${name}\n\n${lines.join("\n")}`];
  });
  return { text: blocks.join("\n\n"), anchors: [], mediaType: "text/markdown" };
}

/** Hours may be more than a day has: formats such as `[h]:mm` show how long something took. */
export function clockTime(hours: number | string, minutes: number | string, seconds: number | string): string {
  return [hours, minutes, seconds].map((part) => String(part).padStart(2, "0")).join(":");
}
