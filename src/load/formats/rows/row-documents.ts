import { LoadError, asError, type LoadErrorCode } from "../../../core/errors.js";
import type { FileOutcome, RowFile, RowOptions } from "../loader.js";
import { mapRow, type Row } from "../row-mapping.js";

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
 * Turns rows into documents. Rows with one name are told apart by a number behind it: the second of `#7` is `#7;2`, and the
 * first that happens to carries a warning. Names from columns are counted for that; rows named by their place need not be,
 * and a file may have millions.
 */
export async function* rowDocuments(
  { uri }: Pick<RowFile, "uri">,
  rows: AsyncIterable<ReadRow> | Iterable<ReadRow>,
  { mapping, source }: RowOptions,
): AsyncGenerator<FileOutcome> {
  const counts = new Map<string, number>();
  let warned = false;
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
    const name = mapped.uri ?? (id === undefined ? undefined : `${uri}#${encoded(id)}`);
    let address = name ?? `${uri}#${fragment}`;
    if (name !== undefined) {
      let count = counts.get(name) ?? 0;
      do address = ++count === 1 ? name : `${name};${count}`;
      while (count > 1 && counts.has(address));
      counts.set(name, count);
    }
    const warnings: string[] = [];
    if (address !== name && name !== undefined && !warned) {
      const hint = "So are the others like it. Name rows by a column whose values differ (rows.id)";
      const short = (full: string) => JSON.stringify(full.slice(full.startsWith(`${uri}#`) ? uri.length + 1 : 0));
      warnings.push(
        `${uri} ${place}: a row before it is named ${short(name)} too, so it is ${short(address)}. ${hint}`,
      );
      warned = true;
    }
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
      warnings,
    };
  }
}

/** An id for an address. The half of a surrogate pair has no UTF-8, and becomes a replacement character. */
function encoded(id: string): string {
  return encodeURIComponent(Buffer.from(id).toString());
}
