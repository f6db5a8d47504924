import { LoadError, asError, type LoadErrorCode } from "../../../core/errors.js";
import type { FileOutcome, RowFile, RowOptions } from "../loader.js";
import { mapRow, type Row } from "./row-mapping.js";

/** A row, or the problem with it. */
export interface ReadRow {
  /** Names the row within the file where no column does: `row=12` (RFC 7111), `line=12` or `/12`. */
  readonly fragment: string;
  /** 1-based line on which it starts, where known. */
  readonly line?: number;
  readonly row?: Row;
  readonly problem?: Problem;
}

interface Problem {
  readonly code: LoadErrorCode;
  readonly message: string;
  readonly option?: string;
  readonly cause?: unknown;
}

/**
 * Turns rows into documents. Two rows with one name would be one document, so the second is refused. Names from columns
 * are remembered for that; rows named by their place need not be, and a file may have millions.
 */
export async function* rowDocuments(
  { uri }: Pick<RowFile, "uri">,
  rows: AsyncIterable<ReadRow> | Iterable<ReadRow>,
  { mapping, source }: RowOptions,
): AsyncGenerator<FileOutcome> {
  const seen = new Map<string, string>();
  for await (const { fragment, line, row, problem } of rows) {
    const place = line === undefined ? fragment : `line ${line}`;
    const failed = ({ code, message, ...details }: Problem): FileOutcome => ({
      error: new LoadError(code, `${uri}#${fragment}`, `${uri} ${place}: ${message}`, details),
    });
    if (!row) {
      yield failed(problem!);
      continue;
    }
    let mapped;
    try {
      mapped = mapRow(row, mapping);
    } catch (thrown) {
      yield failed({ code: "malformed", message: asError(thrown).message });
      continue;
    }
    const { text, title, id, metadata } = mapped;
    const address = mapped.uri ?? `${uri}#${id === undefined ? fragment : encodeURIComponent(id)}`;
    const isNamed = mapped.uri !== undefined || id !== undefined;
    const first = isNamed ? seen.get(address) : undefined;
    if (first !== undefined) {
      const message = `has the same name as ${first}: ${address}. Name rows by another column (rows.id)`;
      yield failed({ code: "malformed", message });
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
