import { LoadError, asError } from "../../../core/errors.js";
import { wrongKindReason } from "../binary.js";
import type { FileToLoad, LoadedText, Loader } from "../loader.js";
import { hasCircularChain, isCompoundFile } from "./compound-file.js";
import { unpack } from "./package.js";
import { markdownOfSheets, withoutNoise, type Cell, type Sheet } from "./sheets.js";
import { spreadsheetPackage } from "./spreadsheet-package.js";

/**
 * Reads the sheets of an Excel file from before 2007, or of one in binary parts (`.xlsb`), as Markdown tables under their
 * names. The cells are as the sheet shows them, days as ISO 8601; formulas are their last result.
 *
 * @throws LoadError (`unreadable`) when it is damaged or encrypted, (`unsupported`) without the package that reads it.
 */
export const loadXls: Loader = async (file) => {
  const { bytes, uri } = file;
  const isMarkup = /^(?:\xef\xbb\xbf)?\s*</.test(Buffer.from(bytes.subarray(0, 512)).toString("latin1"));
  const isPackage = bytes[0] === 0x50 && bytes[1] === 0x4b;
  if (isPackage) unpack(file, () => true);
  else if (!isMarkup && !isCompoundFile(bytes)) {
    throw new LoadError("unreadable", uri, `${uri} ${wrongKindReason(bytes, "Office 97") ?? "is no Excel file"}`);
  } else if (hasCircularChain(bytes)) {
    throw new LoadError("unreadable", uri, `${uri} is damaged: its chains of sectors run in circles`);
  }
  return sheetsOf(file);
};

/** Reads a spreadsheet in any format that the package knows. */
export async function sheetsOf(file: FileToLoad): Promise<LoadedText> {
  const { read } = await spreadsheetPackage(file);
  const { uri, bytes } = file;
  let book;
  try {
    const onlyValues = { cellFormula: false, cellHTML: false, bookVBA: false, bookDeps: false, cellDates: true };
    book = read(bytes, { type: "array", dense: true, dateNF: "yyyy-mm-dd", ...onlyValues });
  } catch (cause) {
    const reason = `is damaged or encrypted (${asError(cause).message}): open it in a spreadsheet program and save it as .xlsx`;
    throw new LoadError("unreadable", uri, `${uri} ${reason}`, { cause });
  }
  const sheets = book.SheetNames.map((name, index): Sheet => {
    const isHidden = (book.Workbook?.Sheets?.[index]?.Hidden ?? 0) > 0;
    return { name, isHidden, rows: rowsOf(book.Sheets[name]?.["!data"] ?? []) };
  });
  const author = book.Props?.Author;
  return {
    ...markdownOfSheets(uri, sheets),
    ...(book.Props?.Title && { title: book.Props.Title }),
    ...(author && { metadata: { author } }),
  };
}

interface StoredCell {
  readonly t?: string;
  readonly w?: string;
  readonly v?: unknown;
}
type Rows = readonly (readonly (StoredCell | null | undefined)[] | null | undefined)[];

function* rowsOf(rows: Rows): Generator<Cell[]> {
  // Arrays with gaps: a loop over the numbers of a sheet's cells would count to millions.
  for (const row of rows) {
    const cells: Cell[] = [];
    row?.forEach((cell, column) => {
      if (cell) cells.push([column, shown(cell)]);
    });
    yield cells;
  }
}

function shown({ t: type, w: words, v: value = "" }: StoredCell): string {
  // Days of Numbers come without the words that it shows.
  if (words === undefined && value instanceof Date && !Number.isNaN(value.getTime()))
    return value.toISOString().replace(/T00:00:00\.000Z$|\.000Z$/, "");
  // A whole number that no format cuts is written out: Excel shows an article number as 1.23457E+12 where it lacks room.
  const isCut = Number.isSafeInteger(value) && /^-?\d\.\d{5}E\+\d+$/.test(words ?? "");
  const text = isCut ? String(value) : (words ?? String(value));
  return type === "n" && text === String(value) ? withoutNoise(text) : text;
}
