import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

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
  return { path, databasePath, isNew, firstCreated: mkdirSync(path, { recursive: true }) };
}

/** Takes away the files of a store that nobody wrote to, and the folders that were made for it if they are empty. */
export function removeUnused({ path, firstCreated }: StoreFolder): void {
  for (const file of ["store.sqlite", "store.sqlite-wal", "store.sqlite-shm", "writer.lock"]) {
    rmSync(join(path, file), { force: true });
  }
  if (firstCreated === undefined) return;
  for (let folder = path; readdirSync(folder).length === 0; folder = dirname(folder)) {
    rmdirSync(folder);
    if (folder === firstCreated) return;
  }
}
