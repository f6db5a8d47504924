import { existsSync } from "node:fs";
import { OptionsError, StoreError } from "../core/errors.js";
import { databasePathIn } from "./database/store-folder.js";
import { generationFolder, readPointer, type StorePointer, writePointer } from "./database/store-pointer.js";
import { WriteLock } from "./database/write-lock.js";
import { isDatabaseAddress, storeFolder } from "./store-address.js";

/**
 * Switches back to the store from before the last migration. A second call switches forward again.
 *
 * @throws StoreError `missing` when there is none, `locked` while another process writes; OptionsError for a database.
 * @example
 * ```ts
 * import { migrateBack, migrateKnowledgeBase } from "citewell";
 * await migrateKnowledgeBase({ path: "./.citewell", chunk: { maxTokens: 256 } });
 * migrateBack("./.citewell");
 * ```
 */
export function migrateBack(path: string): void {
  const folder = migratedFolder(path);
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

/** @throws OptionsError for a database. */
export function migratedFolder(path: string): string {
  if (!isDatabaseAddress(path)) return storeFolder(path);
  const message = "a store in a database is switched back by migratePostgresBack() of citewell/postgres";
  throw new OptionsError("options", message, { call: "migrateBack", option: "path" });
}

/** Takes the write lock of the current store. @internal */
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
