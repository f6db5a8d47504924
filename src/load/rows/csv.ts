import type { CsvError } from "csv-parse";
import { LoadError } from "../../errors.js";
import { decodedChunks } from "./decoded-chunks.js";
import { rowDocuments, type ReadRow } from "./row-documents.js";
import { mappedColumns, noSuchColumn } from "./row-mapping.js";
import type { RowFile, RowOptions, RowReader } from "./row-reader.js";

/**
 * Rows of a CSV file, of which the first names the columns. The separator is whichever of comma, semicolon, tab and bar
 * the first line has most of, or the one that a line `sep=;` before it names, as spreadsheets write it.
 */
export const readCsv: RowReader = async function* (file, options) {
  let line = 0;
  try {
    yield* rowDocuments(
      file,
      readRows(file, options, (at) => (line = at)),
      options,
    );
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

interface ParsedRecord {
  readonly record: readonly string[];
  /** Line on which it ends, and how many of those up to there were empty. */
  readonly lines: number;
  readonly emptyLines: number;
}

/** @param starts told the line on which each row starts, before it is read. */
async function* readRows(
  { uri, chunks }: RowFile,
  { maxRowBytes, mapping }: RowOptions,
  starts: (line: number) => void,
): AsyncGenerator<ReadRow> {
  const first = await firstLine(decodedChunks(uri, chunks));
  let columns: readonly string[] | undefined;
  let line = 1;
  let empty = 0;
  let number = 0;
  starts(line);
  const named = /^sep=(.)$/i.exec(first.line)?.[1];
  const separator = named ?? separatorOf(first.line);
  let isPreamble = named !== undefined;
  for await (const { record, lines, emptyLines } of records(first.pieces, separator, maxRowBytes)) {
    const start = line + emptyLines - empty;
    line = lines + 1;
    empty = emptyLines;
    starts(line);
    if (isPreamble) {
      isPreamble = false;
      continue;
    }
    number++;
    if (columns) yield { fragment: `row=${number}`, line: start, ...asRow(columns, record, separator) };
    else {
      columns = namesOf(record);
      const missing = mappedColumns(mapping).find((column) => !columns!.includes(column));
      // Said once: every row would say the same.
      if (missing !== undefined) throw new LoadError("malformed", uri, `${uri}: ${noSuchColumn(missing, columns)}`);
    }
  }
}

/** Records as they come. Those before a damaged one are handed on before it is thrown, which a stream's own iterator omits. */
async function* records(
  pieces: AsyncIterable<string>,
  separator: string,
  maxRowBytes: number,
): AsyncGenerator<ParsedRecord> {
  const { parse } = await import("csv-parse");
  let parsed: ParsedRecord[] = [];
  const parser = parse({
    delimiter: separator,
    // Quotes inside a value that is not quoted are common, and say what they mean.
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: maxRowBytes,
    on_record: (record: string[], { lines, empty_lines }) => {
      parsed.push({ record, lines, emptyLines: empty_lines });
      return null;
    },
  });
  const take = () => {
    const taken = parsed;
    parsed = [];
    return taken;
  };
  let failure: Error | undefined;
  parser.on("error", (error) => (failure = error));
  try {
    for await (const piece of pieces) {
      await new Promise<void>((resolve) => parser.write(piece, () => resolve()));
      yield* take();
      if (failure) throw failure;
    }
    await new Promise<void>((resolve) => parser.end(() => resolve()));
    yield* take();
    if (failure) throw failure;
  } finally {
    parser.destroy();
  }
}

function asRow(
  columns: readonly string[],
  record: readonly string[],
  separator: string,
): Pick<ReadRow, "row" | "problem"> {
  const [only] = columns;
  // Where there is nothing to separate, a comma is a comma.
  if (columns.length === 1) return { row: { [only!]: record.join(separator) } };
  if (record.length > columns.length) {
    const message = `has ${record.length} values for ${columns.length} columns: quote values that hold the separator`;
    return { problem: { code: "malformed", message } };
  }
  return { row: Object.fromEntries(columns.map((column, index) => [column, record[index] ?? ""])) };
}

/** Names of columns: those without one, or with that of another, by their number. */
function namesOf(header: readonly string[]): string[] {
  const taken = new Set<string>();
  return header.map((given, index) => {
    const name = given.trim();
    const unique = name === "" || taken.has(name) ? `${name || "column"}_${index + 1}` : name;
    taken.add(unique);
    return unique;
  });
}

/** The first line, and all pieces from the start. */
async function firstLine(pieces: AsyncGenerator<string>): Promise<{ line: string; pieces: AsyncIterable<string> }> {
  const held: string[] = [];
  let ended = false;
  while (!/[\r\n]/.test(held.at(-1) ?? "")) {
    const next = await pieces.next();
    if (next.done) {
      ended = true;
      break;
    }
    held.push(next.value);
  }
  const start = held.join("");
  const all = async function* () {
    yield start;
    if (!ended) yield* pieces;
  };
  return { line: /^[^\r\n]*/.exec(start)![0], pieces: all() };
}

function separatorOf(line: string): string {
  const bare = line.replace(/"[^"]*"/gu, "");
  const counts = [",", ";", "\t", "|"].map((separator) => ({ separator, count: bare.split(separator).length }));
  return counts.reduce((best, each) => (each.count > best.count ? each : best)).separator;
}

function isCsvError(thrown: unknown): thrown is CsvError {
  return thrown instanceof Error && "code" in thrown && String(thrown.code).startsWith("CSV_");
}
