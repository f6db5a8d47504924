import { posix } from "node:path";
import { LoadError } from "../errors.js";
import { find, textOf } from "./html-content.js";
import type { HtmlElement } from "./html-tree.js";
import type { Loader } from "./loader.js";
import { cellDates, type CellDates } from "./office/cell-dates.js";
import { documentProperties } from "./office/document-properties.js";
import { cellText, mostColumns, sheetTable } from "./office/sheet-table.js";
import { related } from "./office/related-parts.js";
import { unpack, type Package } from "./office/package.js";

/**
 * Sheets of an Excel file as Markdown tables, each under its name, the first row as the head. Values are as they are
 * stored, to fifteen digits, formulas their last result; dates and times are ISO 8601.
 *
 * @throws LoadError (`unreadable`) when it is damaged, encrypted, or of the format before 2007.
 */
export const loadXlsx: Loader = (file) => {
  const parts = withPlainNames(unpack(file, (path) => /\.(?:xml|rels)$/.test(path)));
  const workbook = parts.xml("xl/workbook.xml");
  const { uri } = file;
  if (!workbook) throw new LoadError("unreadable", uri, `${uri} is no Excel file: it has no workbook`);
  const shared = sharedTexts(parts);
  const dates = cellDates(parts, workbook);
  const names = find(workbook, ({ name }) => name === "sheet").map(({ attributes }) => attributes["name"] ?? "");
  const blocks = related(parts, "xl/workbook.xml", "worksheet").flatMap((path, index) => {
    const table = tableOf(parts.xml(path), shared, dates);
    return table === "" ? [] : [`# ${names[index] ?? posix.basename(path, ".xml")}\n\n${table}`];
  });
  return { text: blocks.join("\n\n"), anchors: [], mediaType: "text/markdown", ...documentProperties(parts) };
};

const mainNamespace =
  /\sxmlns:(\w+)="http:\/\/(?:schemas\.openxmlformats\.org\/spreadsheetml\/2006|purl\.oclc\.org\/ooxml\/spreadsheetml)\/main"/;

/** The same parts, without the prefix that some programs give to every name in a sheet. */
function withPlainNames(parts: Package): Package {
  let plain = parts;
  for (const path of parts.paths) {
    const text = parts.text(path)!;
    const prefix = mainNamespace.exec(text.slice(0, 2000))?.[1];
    if (prefix !== undefined) plain = plain.with(path, text.replace(new RegExp(`(</?)${prefix}:`, "g"), "$1"));
  }
  return plain;
}

/** Texts that cells name by their number. */
function sharedTexts(parts: Package): string[] {
  const table = parts.xml("xl/sharedStrings.xml");
  return table ? find(table, ({ name }) => name === "si").map(textIn) : [];
}

/** What a reader sees of a text: not how it is pronounced, and signs for what XML has none for, of ECMA-376 part 1, 22.9.2.19. */
function textIn(element: HtmlElement): string {
  return find(element, ({ name }) => name === "t" || name === "rPh")
    .filter(({ name }) => name === "t")
    .map(textOf)
    .join("")
    .replace(/_x([\dA-Fa-f]{4})_/g, (_, unit: string) => String.fromCharCode(Number.parseInt(unit, 16)));
}

function tableOf(sheet: HtmlElement | undefined, shared: readonly string[], dates: CellDates): string {
  const rows = sheet ? find(sheet, ({ name }) => name === "row") : [];
  return sheetTable(rows.map((row) => cellsOf(row, shared, dates)));
}

function cellsOf(row: HtmlElement, shared: readonly string[], dates: CellDates): string[] {
  const cells: string[] = [];
  for (const cell of find(row, ({ name }) => name === "c")) {
    const column = columnOf(cell.attributes["r"]) ?? cells.length;
    if (column >= mostColumns) continue;
    while (cells.length < column) cells.push("");
    cells[column] = cellText(valueOf(cell, shared, dates));
  }
  while (cells.at(-1) === "") cells.pop();
  return cells;
}

/** The number of a column, from 0, by its letters: `C7` is 2. */
function columnOf(reference = ""): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference)?.[0];
  if (letters === undefined) return undefined;
  return Array.from(letters).reduce((number, letter) => number * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

function valueOf(cell: HtmlElement, shared: readonly string[], dates: CellDates): string {
  if (cell.attributes["t"] === "inlineStr") return textIn(cell);
  const [value] = find(cell, ({ name }) => name === "v");
  const said = value ? textOf(value) : "";
  if (cell.attributes["t"] === "s") return shared[Number(said)] ?? "";
  if (cell.attributes["t"] === "b") return said === "1" ? "TRUE" : "FALSE";
  const isNumber = (cell.attributes["t"] ?? "n") === "n";
  return (isNumber ? (dates(cell.attributes["s"], said) ?? shownNumber(said)) : undefined) ?? said;
}

/** A number that is stored to seventeen digits, of which the last two are only how a computer holds it. */
function shownNumber(said: string): string | undefined {
  const isInexact = /[.eE]/.test(said) && said.replace(/[eE].*|\D/g, "").length > 15 && Number.isFinite(Number(said));
  return isInexact ? String(Number(Number(said).toPrecision(15))) : undefined;
}
