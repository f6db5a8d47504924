import { statSync } from "node:fs";
import { createRequire } from "node:module";
import type SQLite from "better-sqlite3";
import { CitewellError, closeSomeFiles, isOutOfFiles, OptionsError, StoreError } from "../core/errors.js";

const require = createRequire(import.meta.url);

export type Database = SQLite.Database;
export type Statement<Parameters extends unknown[], Row> = SQLite.Statement<Parameters, Row>;

/**
 * Opens the SQLite file at `path` for writing, in WAL mode: readers see the last commit while a writer works. A commit is on
 * disk when it returns (`synchronous = FULL`), so paid-for vectors survive a power cut and no derived file is ever newer
 * than the data it was made from.
 *
 * @param cacheBytes page cache. A connection that only reads needs little, since the operating system caches the file too.
 */
export function openDatabase(path: string, cacheBytes = 16_000_000): Database {
  return open(path, 5000, (database) => {
    database.pragma("journal_mode = WAL");
    prepareConnection(database, cacheBytes);
  });
}

/** Opens the SQLite file at `path` in the mode it is in, so that a file that cannot be written can be read. */
export function openForReading(path: string, cacheBytes = 16_000_000): Database {
  return open(path, 5000, (database) => prepareConnection(database, cacheBytes));
}

/**
 * Page cache for a connection that looks single rows up, in bytes: the inner pages of the tables, which each row is found
 * through, take about a 450th of the file. Of a million, reading 80 vectors takes 4.6 ms of CPU with 1 MB and 1.8 ms with this.
 */
export function lookupCacheBytes(path: string): number {
  const { size = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return Math.max(1_000_000, Math.min(16_000_000, size / 450));
}

function prepareConnection(database: Database, cacheBytes: number): void {
  database.pragma("synchronous = FULL");
  database.pragma("foreign_keys = ON");
  database.pragma(`cache_size = ${-Math.floor(cacheBytes / 1024)}`);
}

/**
 * Ends WAL mode, unless another connection is open. The file can then be read without files beside it: from a folder
 * that cannot be written, and by a copy of it alone.
 */
export function endWal(database: Database): void {
  try {
    database.pragma("query_only = OFF");
    database.pragma("journal_mode = DELETE");
  } catch {
    // Another connection is open, and the last one will end it; or this one may not write.
  }
}

/** Opens the bytes of an untrusted SQLite file in memory: its own functions and triggers do not run. */
export function openBytes(bytes: Uint8Array): Database {
  const copy = Buffer.from(bytes);
  // A file in WAL mode cannot be opened without the files beside it; these two bytes say the mode.
  copy.fill(1, 18, 20);
  const Database = loadSqlite();
  const database = new Database(copy, { readonly: true });
  database.pragma("trusted_schema = OFF");
  database.pragma("cell_size_check = ON");
  return database;
}

/** Opens a small database beside the store, without WAL files. */
export function openPlainDatabase(path: string, timeoutMs: number): Database {
  return open(path, timeoutMs, (database) => database.pragma("journal_mode = MEMORY"));
}

/**
 * Opens a database for this connection alone: every other one is refused with `locked`, also within this process.
 * Opening changes nothing in the file.
 */
export function openExclusiveDatabase(path: string, timeoutMs: number): Database {
  return open(path, timeoutMs, (database) => {
    database.pragma("locking_mode = EXCLUSIVE");
    // The lock is taken with the first transaction.
    database.exec("BEGIN IMMEDIATE; COMMIT");
  });
}

function open(path: string, timeoutMs: number, prepare: (database: Database) => unknown): Database {
  const Database = loadSqlite();
  const database = guarded(path, () => new Database(path, { timeout: timeoutMs }));
  try {
    guarded(path, () => prepare(database));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

let loaded: typeof SQLite | undefined;

/**
 * The package under each name that it is installed as, the preferred one first. Version 12 ends Node 24.19 and newer when it
 * collects a database at the end (WiseLibs/better-sqlite3#1515), and version 13 ends Node 20 at once. Version 13 comes
 * compiled, but not for every platform. The names are literals, since tools that copy what a program needs look for those.
 */
const version12 = () => require("better-sqlite3") as typeof SQLite;
const version13 = () => require("better-sqlite3-13") as typeof SQLite;
const comesCompiled = Number.parseInt(process.versions.node) >= 22;
const sqlitePackages = comesCompiled ? [version13, version12] : [version12];

/**
 * The native package, loaded when a database is first opened: a process without a store neither waits for it nor needs
 * it to be built.
 */
export function loadSqlite(): typeof SQLite {
  if (loaded) return loaded;
  let cause: unknown;
  for (const load of sqlitePackages) {
    try {
      const found = load();
      // The package loads its native part with the first database.
      new found(":memory:").close();
      return (loaded = found);
    } catch (error) {
      cause = error;
    }
  }
  throw new OptionsError("missing-package", `A store cannot be opened: ${problemWith(cause)}`, { cause });
}

function problemWith(cause: unknown): string {
  if (comesCompiled) {
    return (
      "better-sqlite3-13 is not there, or not for this platform. It comes compiled, but npm compiles it once more when it " +
      "installs from a package-lock.json, and leaves it out where it cannot: install with `npm ci --ignore-scripts`, or have " +
      "Python, make and a C++ compiler. When you bundle, leave citewell external"
    );
  }
  if ((cause as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND") {
    return (
      "the package better-sqlite3 is not there. npm leaves it out where it can neither download nor compile its native " +
      "module: see why with `npm install better-sqlite3`, which needs Python, make and a C++ compiler, or take Node 22 or " +
      "newer, where it comes compiled. When you bundle, leave citewell external"
    );
  }
  return (
    `better-sqlite3 has no native module for Node ${process.version} on ${process.platform}-${process.arch}, because its ` +
    "install script did not run or failed. Allow the script and build it: `npm rebuild better-sqlite3`, or with pnpm " +
    "`pnpm approve-builds`. Where no prebuilt module can be downloaded, that needs Python, make and a C++ compiler"
  );
}

/** Whether SQLite refused because another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return isSqliteError(error) && error.code.startsWith("SQLITE_BUSY");
}

function isSqliteError(error: unknown): error is InstanceType<typeof SQLite.SqliteError> {
  // Compare by name: the package may not be loaded, or be loaded twice.
  return error instanceof Error && error.name === "SqliteError" && "code" in error;
}

/** Runs `work` and turns errors of SQLite and the file system into a `StoreError`. */
export function guarded<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw asStoreError(path, error);
  }
}

/** Turns an error of SQLite or the file system into a `StoreError`. Other errors, misuse of SQLite among them, stay as they are. */
export function asStoreError(path: string, error: unknown): unknown {
  const storeError = (code: "damaged" | "locked" | "disk", message: string) =>
    new StoreError(code, message, { cause: error, path });
  if (isSystemError(error)) {
    const hint = isOutOfFiles(error)
      ? closeSomeFiles
      : "Check that the disk has room and that this process may write there, then try again";
    return storeError("disk", `${error.message}. ${hint}; everything acknowledged is kept`);
  }
  if (!isSqliteError(error)) return error;
  const { code, message } = error;
  if (code.startsWith("SQLITE_NOTADB") || code.startsWith("SQLITE_CORRUPT")) {
    const hint = "Restore it from a backup, or delete it and index again";
    return storeError("damaged", `${path} is not a valid SQLite file (${message}). ${hint}`);
  }
  if (isBusy(error)) {
    return storeError("locked", `${path} is in use by another process. Try again when that process is done`);
  }
  if (message.startsWith("no such table")) {
    return storeError(
      "damaged",
      `${path} has lost its tables (${message}): it was replaced or removed while it was open. Close it and open it again, or restore it from a backup`,
    );
  }
  const refusal = refusals.find(({ codes }) => codes.test(code));
  if (!refusal) return error;
  const { problem, hint } = refusal;
  return storeError("disk", `${path} ${problem} (${message}, ${code}). ${hint}; everything acknowledged is kept`);
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  if (!(error instanceof Error) || error instanceof CitewellError) return false;
  // Loading one of our own modules late may exceed the limit of open files: that error has neither.
  return ("syscall" in error && "errno" in error) || isOutOfFiles(error);
}

/** SQLite's codes for errors of the operating system, and the way out of each. */
const refusals = [
  { codes: /^SQLITE_FULL$/, problem: "cannot grow: the disk is full", hint: "Free some space and try again" },
  {
    codes: /^SQLITE_READONLY_(DIRECTORY|RECOVERY|CANTINIT|ROLLBACK)/,
    problem: "was not closed by whoever wrote last, so that reading it needs write permission",
    hint: "Open and close it once as a user who may write in its folder",
  },
  {
    codes: /^SQLITE_READONLY/,
    problem: "cannot be written",
    hint: "Give this user write permission on the file and its folder",
  },
  {
    codes: /^SQLITE_(CANTOPEN|PERM|AUTH)/,
    problem: "cannot be opened",
    hint: "Check that its folder exists, that this user may read it (and write it, if whoever wrote last did not close it), and that the process may open more files",
  },
  {
    codes: /^SQLITE_(IOERR|PROTOCOL|NOLFS)/,
    problem: "could not be read or written",
    hint: "Check that the disk is healthy, has room, and allows files of this size, then try again",
  },
] as const;
