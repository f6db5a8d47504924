import { LoadError, asError } from "../../../core/errors.js";
import { openBytes } from "../../../sqlite/database.js";
import type { Loader, LoadedText } from "../loader.js";
import { RowLines } from "./row-lines.js";

/**
 * Reads the rows of the tables of a SQLite file, each as that of a CSV, under the name of its table. Views, virtual tables
 * and computed columns are left out, as they would run what the file says, and so are columns of bytes. Changes that SQLite
 * still holds in a file beside it (`-wal`) are not read.
 *
 * @throws LoadError (`binary`) when it is no SQLite file, (`unreadable`) when it is damaged or encrypted.
 */
export const loadSqlite: Loader = ({ uri, bytes }, signal, onProgress) => {
  if (!Buffer.from(bytes.subarray(0, 16)).equals(Buffer.from("SQLite format 3\0"))) {
    throw new LoadError("binary", uri, `${uri} is no SQLite file, or is encrypted`);
  }
  const rows: NonNullable<LoadedText["rows"]>[number][] = [];
  try {
    const database = openBytes(bytes);
    try {
      const lines = new RowLines(uri);
      const tables = database
        .prepare<[], TableInfo>("SELECT name, type FROM pragma_table_list WHERE schema = 'main'")
        .all();
      for (const { name, type } of tables) {
        if (type !== "table" || name.startsWith("sqlite_")) continue;
        const columns = database
          .prepare<[string], ColumnInfo>("SELECT name, hidden FROM pragma_table_xinfo(?)")
          .all(name);
        const stored = columns.filter(({ hidden }) => hidden === 0).map((column) => quoted(column.name));
        if (stored.length === 0) continue;
        let count = 0;
        for (const row of database
          .prepare<[], object>(`SELECT ${stored.join(", ")} FROM ${quoted(name)}`)
          .safeIntegers()
          .iterate()) {
          lines.add(row);
          if (++count % 10_000 === 0) onProgress?.();
        }
        signal.throwIfAborted();
        rows.push({ name, lines: lines.take() });
      }
    } finally {
      database.close();
    }
  } catch (cause) {
    if (cause instanceof LoadError) throw cause;
    throw new LoadError(
      "unreadable",
      uri,
      `${uri} is a damaged SQLite file (${asError(cause).message}): copy it with .backup`,
      { cause },
    );
  }
  return { text: "", rows };
};

interface TableInfo {
  readonly name: string;
  readonly type: string;
}

interface ColumnInfo {
  readonly name: string;
  /** Other than 0 for columns that are computed, or that belong to a virtual table. */
  readonly hidden: number;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
