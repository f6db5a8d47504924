import { LoadError, asError, type LoadErrorCode } from "../../errors.js";
import type { FileOutcome } from "../load-file.js";
import { mapRow, type Row } from "./row-mapping.js";
import type { RowFile, RowOptions } from "./row-reader.js";

/** A row, or why there is none. */
export interface ReadRow {
  /** Names the row within the file while no column does: `row=12`, as RFC 7111 has it, `line=12` or `/12`. */
  readonly fragment: string;
  /** 1-based line on which it starts, where known. */
  readonly line?: number;
  readonly row?: Row;
  readonly problem?: { readonly code: LoadErrorCode; readonly message: string; readonly cause?: unknown };
}

/**
 * Rows as documents. Two rows of one name would be one document, so the second is refused. Names that columns give are
 * remembered for that; those of rows that are named by their place are not: a file may have millions.
 */
export async function* rowDocuments(
  { uri }: Pick<RowFile, "uri">,
  rows: AsyncIterable<ReadRow> | Iterable<ReadRow>,
  { mapping, source }: RowOptions,
): AsyncGenerator<FileOutcome> {
  const seen = new Map<string, string>();
  for await (const { fragment, line, row, problem } of rows) {
    const place = line === undefined ? fragment : `line ${line}`;
    const failed = (code: LoadErrorCode, message: string, cause?: unknown): FileOutcome => ({
      error: new LoadError(
        code,
        `${uri}#${fragment}`,
        `${uri} ${place}: ${message}`,
        cause === undefined ? {} : { cause },
      ),
    });
    if (!row) {
      yield failed(problem!.code, problem!.message, problem!.cause);
      continue;
    }
    let mapped;
    try {
      mapped = mapRow(row, mapping);
    } catch (thrown) {
      yield failed("malformed", asError(thrown).message);
      continue;
    }
    const { text, title, id, metadata } = mapped;
    const address = mapped.uri ?? `${uri}#${id === undefined ? fragment : encodeURIComponent(id)}`;
    const isNamed = mapped.uri !== undefined || id !== undefined;
    const first = isNamed ? seen.get(address) : undefined;
    if (first !== undefined) {
      yield failed("malformed", `has the same name as ${first}: ${address}. Name rows by another column (rows.id)`);
      continue;
    }
    if (isNamed) seen.set(address, place);
    yield {
      document: {
        uri: address,
        source,
        text,
        mediaType: "text/plain",
        anchors: line === undefined ? [] : [{ start: 0, line }],
        ...(title !== undefined && { title }),
        ...(metadata && { metadata }),
      },
      warnings: [],
    };
  }
}
