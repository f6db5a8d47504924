import { existsSync, rmSync } from "node:fs";
import type { Embedder, Store } from "../core/ports.js";
import type { Document } from "../core/types.js";
import { type Database, openForReading } from "../sqlite/database.js";
import { prepareSchema, readMeta, readSettings } from "./database/schema.js";
import { databasePathIn } from "./database/store-folder.js";
import {
  generationFolder,
  newGeneration,
  readPointer,
  removeOtherGenerations,
  type StorePointer,
  writePointer,
} from "./database/store-pointer.js";
import { StoreReader } from "./database/store-reader.js";
import { migratedFolder, takeCurrent } from "./migrate-back.js";
import { openEmbeddedStore } from "./open-embedded-store.js";
import type { StoreOptions } from "./store-options.js";

/** A new store that is built from the documents of the current one, beside it. */
export interface StoreMigration<Space extends string> {
  /** Vector space of the current store; undefined when it has none yet. */
  readonly from: string | undefined;
  /** Documents of the current store, and their number. */
  readonly documents: () => AsyncIterable<Document>;
  readonly documentCount: number;
  /** The new store. It begins with the settings of the current one, and with what that has learned about the same model. */
  readonly target: Store<Space>;
  /** Vectors of the current store that the new one can reuse: all if both have one space, else none. */
  readonly oldVectors: Pick<Store<Space>, "knownVectors">;
  /** Closes the new store and makes it the current one. The old one stays, to go back to. */
  readonly finish: () => Promise<void>;
  /** Must be called in any case. An unfinished store stays: a migration to the same model continues it. */
  readonly close: () => Promise<void>;
}

/**
 * Begins to rebuild the store at `path` for another embedder, or continues an earlier attempt. The current store can be
 * searched meanwhile, but not written to. A crash at any moment leaves the current store in use.
 *
 * @throws StoreError `missing` when there is no store, `locked` while another process writes to it.
 */
export async function beginMigration<const Space extends string>(
  path: string,
  embedder: Pick<Embedder<Space>, "space" | "dimension">,
  options: Omit<StoreOptions, "create"> = {},
): Promise<StoreMigration<Space>> {
  const folder = migratedFolder(path);
  const pointer = readPointer(folder);
  const { databasePath, lock } = takeCurrent(folder, pointer);
  let database: Database | undefined;
  try {
    database = openForReading(databasePath, 4_000_000);
    prepareSchema(database, databasePath);
    const reader = new StoreReader(database);
    const from = readMeta(database, "space");
    const building = unfinished(folder, pointer, embedder.space) ?? newGeneration(folder);
    // Named in the pointer before it exists, so that a crash leaves no store that nobody knows.
    writePointer(folder, { ...pointer, building });
    const target = await openEmbeddedStore(folder, embedder, options, { generation: building });
    await inherit(database, target);
    const infos = reader.documents();
    const release = () => {
      database?.close();
      lock.release();
    };
    return {
      from,
      documentCount: infos.length,
      documents: async function* () {
        for (const { uri } of infos) {
          const document = reader.document(uri);
          if (document) yield document;
        }
      },
      target,
      oldVectors: {
        knownVectors: async (keys) => {
          const known = new Map<string, Float32Array>();
          for (const key of from === embedder.space ? keys : []) {
            const vector = reader.vector(key);
            if (vector) known.set(key, vector);
          }
          return known;
        },
      },
      finish: async () => {
        await target.close();
        const switched = { current: building, previous: pointer.current };
        writePointer(folder, switched);
        release();
        removeOtherGenerations(folder, switched);
      },
      close: async () => {
        await target.close();
        release();
      },
    };
  } catch (error) {
    database?.close();
    lock.release();
    throw error;
  }
}

/** Copies the settings of the old store to a new one. What was learned about a service only holds for the same model. */
async function inherit(old: Database, target: Store): Promise<void> {
  if (Object.keys(target.settings ?? {}).length > 0) return;
  const { batchTexts, ...settings } = readSettings(old);
  const sameModel = readMeta(old, "space") === target.space;
  await target.write({
    settings: { ...settings, ...(sameModel && batchTexts !== undefined && { batchTexts }) },
    ...(sameModel && { tokenMargin: Number(readMeta(old, "token-margin") ?? 1) }),
  });
}

/** The store that an earlier attempt began, if it is of the same space; any other is deleted. */
function unfinished(folder: string, { building }: StorePointer, space: string): string | undefined {
  if (building === undefined) return undefined;
  const place = generationFolder(folder, building);
  const databasePath = databasePathIn(place);
  if (!existsSync(databasePath)) return building;
  const database = openForReading(databasePath, 1_000_000);
  let found: string | undefined;
  try {
    prepareSchema(database, databasePath);
    found = readMeta(database, "space");
  } finally {
    database.close();
  }
  if (found === undefined || found === space) return building;
  rmSync(place, { recursive: true, force: true });
  return undefined;
}
