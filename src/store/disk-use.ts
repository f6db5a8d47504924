import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { generationFolder, readPointer } from "./database/store-pointer.js";

/** Bytes on disk of a store, by part. Files that are not the store's do not count. */
export interface DiskUse {
  /** SQLite: documents, chunks and vectors. */
  readonly database: number;
  /** The search indexes, which are derived from the database. */
  readonly indexes: number;
  readonly conversations: number;
  /** The store from before the last migration, and the one that an unfinished migration is building. */
  readonly otherGenerations: number;
  readonly total: number;
}

/**
 * Measures the files of the store in `folder`, which must exist.
 *
 * @throws StoreError `damaged` when it is unknown which store in the folder is in use.
 */
export function diskUse(folder: string): DiskUse {
  const { current, previous, building } = readPointer(folder);
  const { database, indexes } = storeBytes(generationFolder(folder, current));
  const conversations = bytesOf(folder, /^conversations\.sqlite(-wal|-shm)?$/);
  const others = [previous, building].filter((name) => name !== undefined);
  const otherGenerations = others
    .map((name) => storeBytes(generationFolder(folder, name)))
    .reduce((sum, store) => sum + store.database + store.indexes, 0);
  const total = database + indexes + conversations + otherGenerations;
  return { database, indexes, conversations, otherGenerations, total };
}

function storeBytes(folder: string): Pick<DiskUse, "database" | "indexes"> {
  return {
    database: bytesOf(folder, /^store\.sqlite(-wal|-shm)?$/),
    indexes: bytesOf(folder, /^(lexical|graph|flat|latent)(\.json|-[\w-]+\.(bin|tmp))$/),
  };
}

/** Files that vanish meanwhile, because a process replaces them, have no size. */
function bytesOf(folder: string, names: RegExp): number {
  return readdirSync(folder)
    .filter((name) => names.test(name))
    .reduce((sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0), 0);
}
