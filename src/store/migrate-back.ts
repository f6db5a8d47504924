import { existsSync } from "node:fs";
import { resolve as resolvePath } from "node:path";
import { StoreError } from "../core/errors.js";
import { databasePathIn } from "./database/store-folder.js";
import { generationFolder, readPointer, type StorePointer, writePointer } from "./database/store-pointer.js";
import { WriteLock } from "./database/write-lock.js";

/**
 * Makes the store from before the last migration the current one again. Called once more, it goes forward again.
 *
 * @throws StoreError `missing` when there is none, `locked` while another process writes.
 */
export function migrateBack(path: string): void {
  const folder = resolvePath(path);
  const { current, previous, building } = readPointer(folder);
  if (previous === undefined || !existsSync(databasePathIn(generationFolder(folder, previous)))) {
    throw new StoreError("missing", `${folder} holds no earlier store to go back to: it was not migrated`, {
      path: folder,
    });
  }
  const { lock } = takeCurrent(folder, { current });
  try {
    writePointer(folder, { current: previous, previous: current, ...(building !== undefined && { building }) });
  } finally {
    lock.release();
  }
}

/** Takes the write lock of the current store. */
export function takeCurrent(folder: string, { current }: StorePointer): { databasePath: string; lock: WriteLock } {
  const place = generationFolder(folder, current);
  const databasePath = databasePathIn(place);
  if (!existsSync(databasePath)) {
    throw new StoreError("missing", `There is no store at ${folder}. Run \`citewell index <folder>\` first`, {
      path: folder,
    });
  }
  const lock = new WriteLock(place);
  lock.take();
  return { databasePath, lock };
}
