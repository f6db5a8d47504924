import { posix } from "node:path";
import { LoadError } from "../../../core/errors.js";
import { named, textOf, type HtmlElement } from "../html/tree.js";
import type { Loader } from "../loader.js";
import { unpack, type Package } from "./package.js";
import { clockTime, markdownOfSheets, rowOf } from "./sheets.js";

/**
 * Reads the sheets of an Excel file as Markdown tables, each under its name, the first row as the head. Values are as they
 * are stored, to fifteen digits, formulas their last result; dates and times are ISO 8601.
 *
 * @throws LoadError (`unreadable`) when it is damaged, encrypted, or of the format before 2007.
 */
export const loadXlsx: Loader = (file) => {
  const parts = withPlainNames(unpack(file, (path) => /\.(?:xml|rels)$/.test(path)));
  const workbook = parts.xml("xl/workbook.xml");
  const { uri } = file;
  if (!workbook) throw new LoadError("unreadable", uri, `${uri} is not an Excel file: it has no workbook`);
  const shared = named(parts.xml("xl/sharedStrings.xml"), "si").map(visibleText);
  const dates = cellDates(parts, workbook);
  const names = named(workbook, "sheet").map(({ attributes }) => attributes["name"] ?? "");
  const sheets = parts.related("xl/workbook.xml", "worksheet").map((path, index) => ({
    name: names[index] ?? posix.basename(path, ".xml"),
    rows: named(parts.xml(path), "row").map((row) => rowOf(cellsOf(row, shared, dates))),
  }));
  return { ...markdownOfSheets(sheets), ...parts.properties() };
};

const mainNamespace =
  /\sxmlns:(\w+)="http:\/\/(?:schemas\.openxmlformats\.org\/spreadsheetml\/2006|purl\.oclc\.org\/ooxml\/spreadsheetml)\/main"/;

/** Removes the prefix that some programs give to every name in a sheet. */
function withPlainNames(parts: Package): Package {
  let plain = parts;
  for (const path of parts.paths) {
    const text = parts.text(path)!;
    const prefix = mainNamespace.exec(text.slice(0, 2000))?.[1];
    if (prefix !== undefined) plain = plain.with(path, text.replace(new RegExp(`(</?)${prefix}:`, "g"), "$1"));
  }
  return plain;
}

/**
 * The text that a reader sees: without readings, and with the characters that XML lacks decoded as ECMA-376 part 1,
 * 22.9.2.19 says.
 */
function visibleText(element: HtmlElement): string {
  return named(element, "t", "rPh")
    .filter(({ name }) => name === "t")
    .map(textOf)
    .join("")
    .replace(/_x([\dA-Fa-f]{4})_/g, (_, unit: string) => String.fromCharCode(Number.parseInt(unit, 16)));
}

function* cellsOf(
  row: HtmlElement,
  shared: readonly string[],
  dates: CellDates,
): Generator<readonly [column: number, value: string]> {
  let next = 0;
  for (const cell of named(row, "c")) {
    const column = columnOf(cell.attributes["r"]) ?? next;
    next = column + 1;
    yield [column, valueOf(cell, shared, dates)];
  }
}

/** The number of a column, from 0, by its letters: `C7` is 2. */
function columnOf(reference = ""): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference)?.[0];
  if (letters === undefined) return undefined;
  return Array.from(letters).reduce((number, letter) => number * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

function valueOf(cell: HtmlElement, shared: readonly string[], dates: CellDates): string {
  const { t: type = "n", s: style } = cell.attributes;
  if (type === "inlineStr") return visibleText(cell);
  const [value] = named(cell, "v");
  const stored = value ? textOf(value) : "";
  if (type === "s") return shared[Number(stored)] ?? "";
  if (type === "b") return stored === "1" ? "TRUE" : "FALSE";
  return type === "n" ? (dates(style, stored) ?? shownNumber(stored)) : stored;
}

/** Rounds a number that is stored to seventeen digits, of which the last two are only how a computer holds it. */
function shownNumber(stored: string): string {
  const digits = stored.replace(/[eE].*|\D/g, "").length;
  const isInexact = /[.eE]/.test(stored) && digits > 15 && Number.isFinite(Number(stored));
  return isInexact ? String(Number(Number(stored).toPrecision(15))) : stored;
}

/** Turns the number in a cell of this style into a date, where the style says that it is one. */
type CellDates = (style: string | undefined, number: string) => string | undefined;

interface DateFormat {
  readonly hasDate: boolean;
  readonly hasTime: boolean;
}

/** Formats that every program knows by number, of ECMA-376 part 1, 18.8.30. */
function builtInFormat(id: number): DateFormat | undefined {
  const hasDate = (id >= 14 && id <= 17) || id === 22;
  const hasTime = (id >= 18 && id <= 22) || (id >= 45 && id <= 47);
  return hasDate || hasTime ? { hasDate, hasTime } : undefined;
}

const dayMs = 86_400_000;
const lastDay = 2_958_466; // 1 January 10000

/** Dates and times of a workbook, by its styles: ISO 8601, so that they are found however the file shows them. */
function cellDates(parts: Package, workbook: HtmlElement): CellDates {
  const styles = parts.xml("xl/styles.xml");
  const own = new Map(
    named(styles, "numFmt").map(({ attributes }) => [
      Number(attributes["numFmtId"]),
      formatOf(attributes["formatCode"] ?? ""),
    ]),
  );
  const formats = named(named(styles, "cellXfs")[0], "xf").map(({ attributes }) => {
    const id = Number(attributes["numFmtId"]);
    return own.has(id) ? own.get(id) : builtInFormat(id);
  });
  const from1904 = named(workbook, "workbookPr").some(({ attributes }) =>
    /^(?:1|true)$/.test(attributes["date1904"] ?? ""),
  );
  return (style, number) => {
    const format = formats[Number(style ?? 0)];
    const days = Number(number);
    if (!format || number.trim() === "" || !(days >= 0 && days < lastDay)) return undefined;
    return isoDate(days, format, from1904);
  };
}

/** The parts of a date that a format shows, by its letters outside quotes, colours and conditions; an `m` is ambiguous. */
function formatOf(code: string): DateFormat | undefined {
  const [shown = ""] = code.replace(/"[^"]*"|\\.|[_*]./gu, "").split(";");
  const letters = shown.replace(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/giu, "").toLowerCase();
  if (/general/u.test(letters)) return undefined;
  const format = { hasDate: /[yd]|mmm/u.test(letters), hasTime: /[hs]|\[m+\]/u.test(letters) };
  return format.hasDate || format.hasTime ? format : undefined;
}

function isoDate(days: number, { hasDate, hasTime }: DateFormat, from1904: boolean): string {
  const seconds = Math.round((days % 1) * 86_400);
  if (!hasDate) {
    const total = Math.floor(days) * 86_400 + seconds;
    return clockTime(Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60);
  }
  // Excel counts a 29 February 1900 that never was, as day 60, so days before it lie one later.
  const first = from1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  const iso = new Date(first + Math.floor(days) * dayMs + seconds * 1000).toISOString();
  return hasTime ? iso.slice(0, 19) : iso.slice(0, 10);
}
