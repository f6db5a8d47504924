import { LoadError } from "../errors.js";
import { find } from "./html-content.js";
import { isText, type HtmlElement, type HtmlNode } from "./html-tree.js";
import type { Loader } from "./loader.js";
import { openDocument } from "./office/open-document.js";
import { cellText, mostColumns, sheetTable } from "./office/sheet-table.js";

/** Rows of all sheets together: an entry may stand for a million equal ones. */
const mostRows = 1_000_000;

/**
 * Sheets in OpenDocument as Markdown tables, each under its name, the first row as the head. Values are as they are stored,
 * formulas their last result; dates and times are ISO 8601.
 *
 * @throws LoadError (`unreadable`) when it is damaged or encrypted, (`too-large`) when it has more than 1,000,000 rows.
 */
export const loadOds: Loader = (file) => {
  const { body, properties } = openDocument(file, "spreadsheet");
  const { uri } = file;
  let left = mostRows;
  const blocks = find(body, ({ name }) => name === "table:table").flatMap((sheet) => {
    const rows: string[][] = [];
    for (const row of find(sheet, ({ name }) => name === "table:table-row")) {
      const cells = cellsOf(row);
      if (cells.length === 0) continue;
      const times = timesOf(row.attributes["table:number-rows-repeated"]);
      left -= times;
      if (left < 0) throw new LoadError("too-large", uri, `${uri} has more than ${mostRows} rows: split it`);
      for (let time = 0; time < times; time++) rows.push(cells);
    }
    const table = sheetTable(rows);
    return table === "" ? [] : [`# ${sheet.attributes["table:name"] ?? "Sheet"}\n\n${table}`];
  });
  return { text: blocks.join("\n\n"), anchors: [], mediaType: "text/markdown", ...properties };
};

function cellsOf(row: HtmlElement): string[] {
  const cells: string[] = [];
  for (const cell of find(row, ({ name }) => name === "table:table-cell" || name === "table:covered-table-cell")) {
    const text = cellText(valueOf(cell));
    for (let times = timesOf(cell.attributes["table:number-columns-repeated"]); times > 0; times--) {
      if (cells.length === mostColumns) break;
      cells.push(text);
    }
  }
  while (cells.at(-1) === "") cells.pop();
  return cells;
}

function valueOf(cell: HtmlElement): string {
  const { attributes } = cell;
  const said = (name: string) => attributes[`office:${name}`] ?? shown(cell);
  switch (attributes["office:value-type"] ?? "string") {
    case "float":
    case "percentage":
    case "currency":
      return said("value");
    case "date":
      return said("date-value");
    case "time":
      return clock(said("time-value"));
    case "boolean":
      return said("boolean-value").toUpperCase();
    default:
      return shown(cell);
  }
}

/** What the cell shows, without remarks on it. */
function shown(cell: HtmlElement): string {
  return cell.children.map(words).join(" ");
}

function words(node: HtmlNode): string {
  if (isText(node)) return node.text;
  if (node.name === "office:annotation") return "";
  return /^text:(?:s|tab|line-break)$/.test(node.name) ? " " : node.children.map(words).join("");
}

/** `PT26H05M00S` as `26:05:00`. */
function clock(duration: string): string {
  const [, hours = "0", minutes = "0", seconds = "0"] =
    /^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,]\d+)?S)?$/u.exec(duration) ?? [];
  if (!duration.startsWith("PT")) return duration;
  return [hours, minutes, seconds].map((part) => part.padStart(2, "0")).join(":");
}

function timesOf(repeated: string | undefined): number {
  const times = Number.parseInt(repeated ?? "1", 10);
  return times >= 1 ? times : 1;
}
