import SQLite from "better-sqlite3";
import { StoreError } from "../errors.js";

export type Database = SQLite.Database;
export type Statement<Parameters extends unknown[], Row> = SQLite.Statement<Parameters, Row>;

/**
 * A connection to the SQLite file at `path`, in WAL mode: readers see the last commit while a writer works. A commit is
 * on disk when it returns (`synchronous = FULL`): what was paid for survives a power cut, and no derived file is ever
 * newer than the truth it was made from.
 *
 * @param cacheBytes most memory for pages read. Who only reads needs little: the operating system has them too.
 */
export function openDatabase(path: string, cacheBytes = 16_000_000): Database {
  const database = guarded(path, () => new SQLite(path, { timeout: 5000 }));
  try {
    guarded(path, () => {
      database.pragma("journal_mode = WAL");
      database.pragma("synchronous = FULL");
      database.pragma("foreign_keys = ON");
      database.pragma(`cache_size = ${-Math.floor(cacheBytes / 1024)}`);
    });
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

/** A connection to a small database beside the store, without WAL files of its own. */
export function openPlainDatabase(path: string, timeoutMs: number): Database {
  const database = guarded(path, () => new SQLite(path, { timeout: timeoutMs }));
  try {
    guarded(path, () => database.pragma("journal_mode = MEMORY"));
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

/**
 * A connection that nobody else has while it is open: whoever comes second is refused with `locked`, also within this
 * process. Opening it changes nothing in the file.
 */
export function openExclusiveDatabase(path: string, timeoutMs: number): Database {
  const database = guarded(path, () => new SQLite(path, { timeout: timeoutMs }));
  try {
    guarded(path, () => {
      database.pragma("locking_mode = EXCLUSIVE");
      // The lock is taken with the first transaction.
      database.exec("BEGIN IMMEDIATE; COMMIT");
    });
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

/** Whether SQLite refused because another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return error instanceof SQLite.SqliteError && error.code.startsWith("SQLITE_BUSY");
}

/** Runs `work`; what SQLite and the file system say about the files becomes a `StoreError`. */
export function guarded<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw asStoreError(path, error);
  }
}

/** An error of SQLite or of the file system as the `StoreError` it amounts to; any other, and one of wrong use, as it is. */
export function asStoreError(path: string, error: unknown): unknown {
  if (isSystemError(error)) {
    const wayOut = "See that there is room on the disk, and the right to write there, then try again";
    return new StoreError("disk", `${error.message}. ${wayOut}; what was acknowledged is kept`, { cause: error, path });
  }
  if (!(error instanceof SQLite.SqliteError)) return error;
  if (error.code.startsWith("SQLITE_NOTADB") || error.code.startsWith("SQLITE_CORRUPT")) {
    return new StoreError(
      "damaged",
      `${path} is not a sound SQLite file (${error.message}). Restore it from a backup, or delete it and index again`,
      { cause: error, path },
    );
  }
  if (isBusy(error)) {
    return new StoreError("locked", `${path} is in use by another process. Try again when it is done`, {
      cause: error,
      path,
    });
  }
  if (error.message.startsWith("no such table")) {
    return new StoreError(
      "damaged",
      `${path} has lost its tables (${error.message}): it was replaced or taken away while it was open. Close it and open it again, or restore it from a backup`,
      { cause: error, path },
    );
  }
  const refusal = refusals.find(({ codes }) => codes.test(error.code));
  if (!refusal) return error;
  return new StoreError(
    "disk",
    `${path} ${refusal.said} (${error.message}, ${error.code}). ${refusal.wayOut}; what was acknowledged is kept`,
    { cause: error, path },
  );
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error && "errno" in error;
}

/** What the system may say to SQLite, and what can be done about it. */
const refusals = [
  { codes: /^SQLITE_FULL$/, said: "cannot grow: the disk is full", wayOut: "Make room and try again" },
  {
    codes: /^SQLITE_READONLY/,
    said: "may not be written",
    wayOut: "Give whoever runs this the right to write to the file and its folder",
  },
  {
    codes: /^SQLITE_(CANTOPEN|PERM|AUTH)/,
    said: "cannot be opened",
    wayOut: "See that its folder is there and may be read and written, and that the process may open more files",
  },
  {
    codes: /^SQLITE_(IOERR|PROTOCOL|NOLFS)/,
    said: "could not be read or written",
    wayOut: "See that the disk is sound, has room, and lets files grow so large, then try again",
  },
] as const;
