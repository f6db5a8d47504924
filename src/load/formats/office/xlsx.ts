import { posix } from "node:path";
import { format, isDateFormat } from "numfmt";
import { LoadError } from "../../../core/errors.js";
import { named, textOf, type HtmlElement } from "../element-tree.js";
import type { Loader } from "../loader.js";
import { unpack, type Package } from "./package.js";
import { markdownOfSheets, withoutNoise, type Cell, type Sheet } from "./sheets.js";

/**
 * Reads the sheets of an Excel file as Markdown tables, each under its name, the first row as the head. Numbers and dates
 * are as the sheet shows them, dates that it would show in the reader's own way as ISO 8601; formulas are their last result.
 *
 * @throws LoadError (`unreadable`) when it is damaged, encrypted, or of the format before 2007, (`too-large`) when it has
 *   more cells than fit into memory.
 */
export const loadXlsx: Loader = (file) => {
  const parts = withPlainNames(unpack(file, (path) => /\.(?:xml|rels)$/.test(path)));
  const workbook = parts.xml("xl/workbook.xml");
  const { uri } = file;
  if (!workbook) throw new LoadError("unreadable", uri, `${uri} is not an Excel file: it has no workbook`);
  const shared = named(parts.xml("xl/sharedStrings.xml"), "si").map(visibleText);
  const show = numberFormats(parts, workbook);
  const byId = new Map(named(workbook, "sheet").map(({ attributes }) => [attributes["r:id"], attributes]));
  const sheets = parts.related("xl/workbook.xml", "worksheet").map(({ id, path }): Sheet => {
    const { name = posix.basename(path, ".xml"), state } = byId.get(id) ?? {};
    return { name, isHidden: state === "hidden" || state === "veryHidden", rows: rowsOf(parts, path, shared, show) };
  });
  return { ...markdownOfSheets(uri, sheets), ...parts.properties() };
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

function* rowsOf(parts: Package, path: string, ...how: readonly [shared: readonly string[], show: ShowNumber]) {
  for (const row of named(parts.xml(path), "row")) yield cellsOf(row, ...how);
}

function* cellsOf(row: HtmlElement, shared: readonly string[], show: ShowNumber): Generator<Cell> {
  let next = 0;
  for (const cell of named(row, "c")) {
    const column = columnOf(cell.attributes["r"]) ?? next;
    next = column + 1;
    yield [column, valueOf(cell, shared, show)];
  }
}

/** The number of a column, from 0, by its letters: `C7` is 2. */
function columnOf(reference = ""): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference)?.[0];
  if (letters === undefined) return undefined;
  return Array.from(letters).reduce((number, letter) => number * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

function valueOf(cell: HtmlElement, shared: readonly string[], show: ShowNumber): string {
  const { t: type = "n", s: style = "0" } = cell.attributes;
  if (type === "inlineStr") return visibleText(cell);
  const [value] = named(cell, "v");
  const stored = value ? textOf(value) : "";
  switch (type) {
    case "s":
      return shared[Number(stored)] ?? "";
    case "b":
      return stored === "1" ? "TRUE" : "FALSE";
    case "n":
      return show(stored, style);
    case "d":
      // A date in ISO 8601, which the style shows as it does the number of the same day.
      return show(String(Date.parse(`${stored.replace(/Z$/, "")}Z`) / dayMs + unixEpochDay), style, stored);
    default:
      return stored;
  }
}

const dayMs = 86_400_000;
/** The day numbers of 1 January 1970, and of the first day in files that count from 1904. */
const [unixEpochDay, first1904Day] = [25_569, 1462];

/**
 * Formats that every program knows by number, of ECMA-376 part 1, 18.8.30. The first two follow the reader's settings,
 * so they are shown in ISO 8601, which is unambiguous.
 */
const builtInFormats: Readonly<Record<string, string>> = {
  14: "yyyy-mm-dd",
  22: "yyyy-mm-dd hh:mm",
  1: "0",
  2: "0.00",
  3: "#,##0",
  4: "#,##0.00",
  9: "0%",
  10: "0.00%",
  11: "0.00E+00",
  12: "# ?/?",
  13: "# ??/??",
  15: "d-mmm-yy",
  16: "d-mmm",
  17: "mmm-yy",
  18: "h:mm AM/PM",
  19: "h:mm:ss AM/PM",
  20: "h:mm",
  21: "h:mm:ss",
  37: "#,##0;(#,##0)",
  38: "#,##0;(#,##0)",
  39: "#,##0.00;(#,##0.00)",
  40: "#,##0.00;(#,##0.00)",
  45: "mm:ss",
  46: "[h]:mm:ss",
  47: "mm:ss.0",
  48: "##0.0E+0",
};

/** Shows a stored number as its style says, or `otherwise` where the style does not say. */
type ShowNumber = (stored: string, style: string, otherwise?: string) => string;

function numberFormats(parts: Package, workbook: HtmlElement): ShowNumber {
  const styles = parts.xml("xl/styles.xml");
  const codes = new Map(Object.entries(builtInFormats));
  for (const { attributes } of named(styles, "numFmt")) {
    codes.set(attributes["numFmtId"] ?? "", attributes["formatCode"] ?? "");
  }
  const ofStyle = named(named(styles, "cellXfs")[0], "xf").map(({ attributes }) =>
    codes.get(attributes["numFmtId"] ?? ""),
  );
  const from1904 = named(workbook, "workbookPr").some(({ attributes }) =>
    /^(?:1|true)$/.test(attributes["date1904"] ?? ""),
  );
  return (stored, style, otherwise = withoutNoise(stored)) => {
    const code = ofStyle[Number(style)];
    const number = Number(stored);
    if (code === undefined || /^(?:general|@)?$/i.test(code) || stored === "" || !Number.isFinite(number))
      return otherwise;
    try {
      const days = from1904 && isDateFormat(code) ? number + first1904Day : number;
      return format(code, days, { dateErrorThrows: true, dateSpanLarge: false });
    } catch {
      // A format that no program knows, or a day before the first or after the last.
      return otherwise;
    }
  };
}
