import { LoadError } from "../../../core/errors.js";
import { isText, named, type HtmlElement, type HtmlNode } from "../html/tree.js";
import type { Loader } from "../loader.js";
import { openDocument, countOf } from "./open-document.js";
import { clockTime, markdownOfSheets, maxColumns, rowOf } from "./sheets.js";

/** Rows of all sheets together: an entry may stand for a million equal ones. */
const maxRows = 1_000_000;

/**
 * Reads sheets in OpenDocument as Markdown tables, each under its name, the first row as the head. Values are as they are
 * stored, formulas their last result; dates and times are ISO 8601.
 *
 * @throws LoadError (`unreadable`) when it is damaged or encrypted, (`too-large`) when it has more than 1,000,000 rows.
 */
export const loadOds: Loader = (file) => {
  const { body, properties } = openDocument(file, "spreadsheet");
  const { uri } = file;
  let left = maxRows;
  const sheets = named(body, "table:table").map((sheet) => ({
    name: sheet.attributes["table:name"] ?? "Sheet",
    rows: named(sheet, "table:table-row").flatMap((row) => {
      const cells = rowOf(cellsOf(row));
      if (cells.length === 0) return [];
      const times = countOf(row.attributes["table:number-rows-repeated"]);
      left -= times;
      if (left < 0) throw new LoadError("too-large", uri, `${uri} has more than ${maxRows} rows: split it`);
      return Array.from({ length: times }, () => cells);
    }),
  }));
  return { ...markdownOfSheets(sheets), ...properties };
};

function* cellsOf(row: HtmlElement): Generator<readonly [column: number, value: string]> {
  let column = 0;
  for (const cell of named(row, "table:table-cell", "table:covered-table-cell")) {
    const value = valueOf(cell);
    const end = column + countOf(cell.attributes["table:number-columns-repeated"]);
    for (; column < Math.min(end, maxColumns); column++) yield [column, value];
  }
}

function valueOf(cell: HtmlElement): string {
  const { attributes } = cell;
  const stored = (name: string) => attributes[`office:${name}`] ?? shownText(cell);
  switch (attributes["office:value-type"] ?? "string") {
    case "float":
    case "percentage":
    case "currency":
      return stored("value");
    case "date":
      return stored("date-value");
    case "time":
      return timeOf(stored("time-value"));
    case "boolean":
      return stored("boolean-value").toUpperCase();
    default:
      return shownText(cell);
  }
}

/** The text that the cell shows, without comments. */
function shownText(cell: HtmlElement): string {
  return cell.children.map(wordsOf).join(" ");
}

function wordsOf(node: HtmlNode): string {
  if (isText(node)) return node.text;
  if (node.name === "office:annotation") return "";
  return /^text:(?:s|tab|line-break)$/.test(node.name) ? " " : node.children.map(wordsOf).join("");
}

/** `PT26H05M00S` as `26:05:00`. */
function timeOf(duration: string): string {
  const [, hours = "0", minutes = "0", seconds = "0"] =
    /^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,]\d+)?S)?$/u.exec(duration) ?? [];
  return duration.startsWith("PT") ? clockTime(hours, minutes, seconds) : duration;
}
