import { elementsOf, isText, named, type HtmlElement, type HtmlNode } from "../element-tree.js";
import type { Loader } from "../loader.js";
import { openDocument, countOf } from "./open-document.js";
import { markdownOfSheets, type Cell, type Sheet } from "./sheets.js";

/** Equal rows that one entry may stand for, and columns that a sheet has at most: entries fill it up to its edges. */
const [maxEqualRows, maxColumns] = [1000, 16_384];

/**
 * Reads sheets in OpenDocument as Markdown tables, each under its name, the first row as the head. Values are as the sheet
 * shows them. Of more than 1,000 equal rows in a block only so many are kept, with a warning.
 *
 * @throws LoadError (`unreadable`) when it is damaged or encrypted, (`too-large`) when it has more cells than fit into
 *   memory.
 */
export const loadOds: Loader = (file) => {
  const { body, styles, properties } = openDocument(file, "spreadsheet");
  const hiding = new Set(styles.filter(isHiding).map(({ attributes }) => attributes["style:name"]));
  const cut: string[] = [];
  const sheets = elementsOf(body)
    // A copy of a sheet that is in another file names its source.
    .filter(
      (table) => table.name === "table:table" && !elementsOf(table).some(({ name }) => name === "table:table-source"),
    )
    .map((table): Sheet => {
      const { "table:name": name = "Sheet", "table:style-name": style } = table.attributes;
      return { name, isHidden: style !== undefined && hiding.has(style), rows: rowsOf(table, name, cut) };
    });
  const { warnings = [], ...loaded } = markdownOfSheets(file.uri, sheets);
  const all = [...warnings, ...cut];
  return { ...loaded, ...properties, ...(all.length > 0 && { warnings: all }) };
};

function isHiding(style: HtmlElement): boolean {
  return named(style, "style:table-properties").some(({ attributes }) => attributes["table:display"] === "false");
}

/** @param cut gets a warning for each block of equal rows of which some are left out */
function* rowsOf(table: HtmlElement, sheet: string, cut: string[]): Generator<readonly Cell[]> {
  for (const row of named(table, "table:table-row")) {
    const cells = [...cellsOf(row)];
    const times = cells.length === 0 ? 0 : countOf(row.attributes["table:number-rows-repeated"]);
    for (let time = 0; time < Math.min(times, maxEqualRows); time++) yield cells;
    if (times > maxEqualRows) {
      cut.push(`sheet ${JSON.stringify(sheet)} has ${times} equal rows in a block, of which ${maxEqualRows} are kept`);
    }
  }
}

function* cellsOf(row: HtmlElement): Generator<Cell> {
  let column = 0;
  for (const cell of named(row, "table:table-cell", "table:covered-table-cell")) {
    const value = valueOf(cell);
    const end = Math.min(maxColumns, column + countOf(cell.attributes["table:number-columns-repeated"]));
    if (value === "") column = end;
    for (; column < end; column++) yield [column, value];
  }
}

/** The words that the cell shows, without comments; some programs store only the value. */
function valueOf(cell: HtmlElement): string {
  const shown = cell.children.map(wordsOf).join(" ").trim();
  if (shown !== "") return shown;
  const stored = (name: string) => cell.attributes[`office:${name}`] ?? "";
  switch (cell.attributes["office:value-type"] ?? "string") {
    case "float":
      return stored("value");
    case "percentage":
      return `${Number((100 * Number(stored("value"))).toPrecision(15))}%`;
    case "currency":
      return `${stored("value")} ${stored("currency")}`;
    case "date":
      return stored("date-value")
        .replace(/T00:00:00(?:\.0+)?$/, "")
        .replace("T", " ");
    case "time":
      return clockTime(stored("time-value"));
    case "boolean":
      return stored("boolean-value").toUpperCase();
    default:
      return stored("string-value");
  }
}

function wordsOf(node: HtmlNode): string {
  if (isText(node)) return node.text;
  if (node.name === "office:annotation" || node.name === "office:binary-data") return "";
  return /^text:(?:s|tab|line-break)$/.test(node.name) ? " " : node.children.map(wordsOf).join("");
}

/** `PT26H05M00S` as `26:05:00`. */
function clockTime(duration: string): string {
  const parts = /^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,]\d+)?S)?$/u.exec(duration);
  return parts ? [1, 2, 3].map((part) => (parts[part] ?? "0").padStart(2, "0")).join(":") : duration;
}
