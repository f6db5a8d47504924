import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { guarded, openForReading } from "../../sqlite/database.js";
import { isUnused } from "./schema.js";
import { WriteLock } from "./write-lock.js";

/** The folder of a store's files, and what of it existed before. */
export interface StoreFolder {
  readonly path: string;
  readonly databasePath: string;
  /** Topmost folder that had to be created, or undefined. */
  readonly firstCreated: string | undefined;
  /** Whether the database did not exist yet. */
  readonly isNew: boolean;
}

export function databasePathIn(folder: string): string {
  return join(folder, "store.sqlite");
}

/** Creates the folder if it is missing. */
export function prepareFolder(path: string): StoreFolder {
  const databasePath = databasePathIn(path);
  const isNew = !existsSync(databasePath);
  const firstCreated = guarded(path, () => mkdirSync(path, { recursive: true }));
  return { path, databasePath, isNew, firstCreated };
}

/**
 * Deletes the files of a store that was never written to, and the folders created for it if they are empty. A store that
 * another process has filled in the meantime stays.
 */
export function removeIfUnused({ path, databasePath, firstCreated }: StoreFolder): void {
  const lock = new WriteLock(path);
  if (!lock.tryTake()) return;
  try {
    const database = openForReading(databasePath, 100_000);
    try {
      if (!isUnused(database)) return;
    } finally {
      database.close();
    }
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
