import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { guarded, openDatabase } from "../sqlite/database.js";
import { isUnused } from "./schema.js";
import { WriteLock } from "./write-lock.js";

/** Where a store's files lie, and whether they were there before. */
export interface StoreFolder {
  readonly path: string;
  readonly databasePath: string;
  /** Topmost folder that had to be made, or undefined. */
  readonly firstCreated: string | undefined;
  /** Whether the database was not there yet. */
  readonly isNew: boolean;
}

export function databasePathIn(folder: string): string {
  return join(folder, "store.sqlite");
}

/** Makes the folder where it is missing. */
export function prepareFolder(path: string): StoreFolder {
  const databasePath = databasePathIn(path);
  const isNew = !existsSync(databasePath);
  const firstCreated = guarded(path, () => mkdirSync(path, { recursive: true }));
  return { path, databasePath, isNew, firstCreated };
}

/**
 * Takes away the files of a store that nobody wrote to, and the folders that were made for it if they are empty. Another
 * process may have found it here and filled it since: then it stays.
 */
export function removeUnused({ path, databasePath, firstCreated }: StoreFolder): void {
  const lock = new WriteLock(path);
  if (!lock.tryTake()) return;
  try {
    if (!nobodyWroteTo(databasePath)) return;
    for (const file of ["store.sqlite", "store.sqlite-wal", "store.sqlite-shm", "writer.lock"]) {
      rmSync(join(path, file), { force: true });
    }
  } finally {
    lock.release();
  }
  if (firstCreated === undefined) return;
  for (let folder = path; readdirSync(folder).length === 0; folder = dirname(folder)) {
    rmdirSync(folder);
    if (folder === firstCreated) return;
  }
}

function nobodyWroteTo(databasePath: string): boolean {
  const database = openDatabase(databasePath, 100_000);
  try {
    return isUnused(database);
  } finally {
    database.close();
  }
}
