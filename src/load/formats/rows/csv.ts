import type { CsvError, Info } from "csv-parse";
import { LoadError } from "../../../core/errors.js";
import { decodedChunks } from "../decode.js";
import type { RowFile, RowOptions, RowReader } from "../loader.js";
import { rowDocuments, type ReadRow } from "./row-documents.js";
import { mappedColumns, noSuchColumn } from "../row-mapping.js";

/**
 * Reads the rows of a CSV file, of which the first names the columns. The separator is whichever of comma, semicolon, tab
 * and bar the first line has most of, or the one that a line `sep=;` before it names, as spreadsheets write it.
 */
export const readCsv: RowReader = async function* (file, options) {
  let line = 0;
  try {
    const rows = readRows(file, options, (index) => (line = index));
    yield* rowDocuments(file, rows, options);
  } catch (thrown) {
    if (thrown instanceof LoadError) {
      yield { error: thrown };
      return;
    }
    if (!isCsvError(thrown)) throw thrown;
    const reason =
      thrown.code === "CSV_QUOTE_NOT_CLOSED"
        ? "a quote is opened in this row and never closed"
        : thrown.code === "CSV_MAX_RECORD_SIZE"
          ? `the row has more than ${options.maxRowBytes} bytes, or a quote is opened in it and not closed`
          : thrown.message;
    const message = `${file.uri} line ${line}: ${reason}. The rows before it were read`;
    yield { error: new LoadError("malformed", file.uri, message, { cause: thrown }) };
  }
};

/** @param onRow called with the line on which each row starts, before it is read */
async function* readRows(
  file: RowFile,
  { maxRowBytes, mapping }: RowOptions,
  onRow: (line: number) => void,
): AsyncGenerator<ReadRow> {
  const pieces = decodedChunks(file);
  // The first piece is as long as the sample that its encoding was told from.
  const { value: start = "" } = await pieces.next();
  const firstLine = /^[^\r\n]*/.exec(start)![0];
  let columns: readonly string[] | undefined;
  let endsOpen = false;
  let line = 1;
  let empty = 0;
  let number = 0;
  onRow(line);
  const named = /^sep=(.)$/i.exec(firstLine)?.[1];
  const separator = named ?? separatorOf(firstLine);
  let isPreamble = named !== undefined;
  for await (const { record, info } of records(start, pieces, separator, maxRowBytes)) {
    const place = line + info.empty_lines - empty;
    line = info.lines + 1;
    empty = info.empty_lines;
    onRow(line);
    if (isPreamble) {
      isPreamble = false;
      continue;
    }
    number++;
    if (columns) yield { fragment: `row=${number}`, line: place, ...asRow(columns, record, { separator, endsOpen }) };
    else {
      if (record.length > maxColumns) {
        const limit = `and more than ${maxColumns} are not read: is it really separated by ${JSON.stringify(separator)}?`;
        throw new LoadError("too-large", file.uri, `${file.uri} has ${record.length} columns, ${limit}`);
      }
      columns = namesOf(record);
      endsOpen = record.length > 1 && record.at(-1)!.trim() === "";
      const missing = mappedColumns(mapping).find((column) => !columns!.includes(column));
      // Reported once: every row would say the same.
      if (missing !== undefined)
        throw new LoadError("malformed", file.uri, `${file.uri}: ${noSuchColumn(missing, columns)}`);
    }
  }
}

/** Each column takes memory for its name, in every row. */
const maxColumns = 100_000;

interface ParsedRecord {
  readonly record: readonly string[];
  /** Counts of lines and empty lines up to the end of the record. */
  readonly info: Pick<Info, "lines" | "empty_lines">;
}

/** Yields the records before a damaged one and then throws, which the parser's own iterator does not do. */
async function* records(
  start: string,
  pieces: AsyncIterable<string>,
  separator: string,
  maxRowBytes: number,
): AsyncGenerator<ParsedRecord> {
  const { parse } = await import("csv-parse");
  const parsed: ParsedRecord[] = [];
  const parser = parse({
    delimiter: separator,
    // Quotes inside an unquoted value are common, and unambiguous.
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: maxRowBytes,
    on_record: (record: string[], info) => {
      parsed.push({ record, info });
      return null;
    },
  });
  let failure: Error | undefined;
  parser.on("error", (error) => (failure = error));
  const parsedAfter = async function* (step: (done: () => void) => unknown) {
    await new Promise<void>((resolve) => step(resolve));
    yield* parsed.splice(0);
    if (failure) throw failure;
  };
  try {
    yield* parsedAfter((done) => parser.write(start, done));
    for await (const piece of pieces) yield* parsedAfter((done) => parser.write(piece, done));
    yield* parsedAfter((done) => parser.end(done));
  } finally {
    parser.destroy();
  }
}

interface Layout {
  readonly separator: string;
  /** Whether the header ends in a separator. */
  readonly endsOpen: boolean;
}

function asRow(
  columns: readonly string[],
  record: readonly string[],
  { separator, endsOpen }: Layout,
): Pick<ReadRow, "row" | "problem"> {
  const [only] = columns;
  // With a single column there is nothing to separate, so a comma is text.
  if (columns.length === 1) return { row: { [only!]: record.join(separator) } };
  // Programs that end each row with a separator give it blank values behind the last column.
  if (record.slice(columns.length).some((value) => value !== "")) {
    const message = `has ${record.length} values for ${columns.length} columns: quote values that hold the separator`;
    return { problem: { code: "malformed", message } };
  }
  const cells = columns.map((column, index) => [column, record[index] ?? ""] as const);
  // A header that ends in a separator names no column there.
  if (endsOpen && cells.at(-1)![1] === "") cells.pop();
  return { row: Object.fromEntries(cells) };
}

/** Names of columns, made unique: an empty or repeated name gets the number of its column. */
function namesOf(header: readonly string[]): string[] {
  const taken = new Set<string>();
  return header.map((given, index) => {
    const name = given.trim();
    const unique = name === "" || taken.has(name) ? `${name || "column"}_${index + 1}` : name;
    taken.add(unique);
    return unique;
  });
}

function separatorOf(line: string): string {
  const bare = line.replace(/"[^"]*"/gu, "");
  const counts = [",", ";", "\t", "|"].map((separator) => ({ separator, count: bare.split(separator).length }));
  return counts.reduce((best, currentCount) => (currentCount.count > best.count ? currentCount : best)).separator;
}

function isCsvError(thrown: unknown): thrown is CsvError {
  return thrown instanceof Error && "code" in thrown && String(thrown.code).startsWith("CSV_");
}
