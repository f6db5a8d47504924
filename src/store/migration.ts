import { existsSync, rmSync } from "node:fs";
import { resolve as resolvePath } from "node:path";
import { StoreError } from "../errors.js";
import type { Embedder, Store, StoreSettings } from "../ports.js";
import type { Document } from "../types.js";
import { type Database, openDatabase } from "../sqlite/database.js";
import { openEmbeddedStore } from "./open-embedded-store.js";
import { prepareSchema, readMeta, readSettings } from "./schema.js";
import { databasePathIn } from "./store-folder.js";
import type { StoreOptions } from "./store-options.js";
import {
  generationFolder,
  newGeneration,
  readPointer,
  removeOtherGenerations,
  type StorePointer,
  writePointer,
} from "./store-pointer.js";
import { StoreReader } from "./store-reader.js";
import { WriteLock } from "./write-lock.js";

/** A store that is made anew beside the one that serves, out of the documents of that one. */
export interface StoreMigration<Space extends string> {
  /** Vector space of the store that serves; undefined when it has none yet. */
  readonly from: string | undefined;
  /** Settings of the store that serves. */
  readonly settings: StoreSettings;
  /** Documents of the store that serves, and how many they are. */
  readonly documents: () => AsyncIterable<Document>;
  readonly documentCount: number;
  /** The new store. */
  readonly target: Store<Space>;
  /** What needs no embedding: of the new store, and of the old one where both are of one space. */
  readonly known: Pick<Store<Space>, "space" | "documentInfo" | "knownVectors">;
  /** Closes the new store and puts it in the place of the old one, which stays to go back to. */
  readonly finish: () => Promise<void>;
  /** Leaves the new store as it is: beginning again with the same model goes on with it. To be called in any case. */
  readonly close: () => Promise<void>;
}

/**
 * Begins to make the store at `path` anew for another embedder, or goes on where an earlier attempt ended. The old one
 * serves meanwhile; nobody may write to it.
 *
 * @throws StoreError `missing` when there is no store, `locked` while another process writes to it.
 */
export async function beginMigration<const Space extends string>(
  path: string,
  embedder: Pick<Embedder<Space>, "space" | "dimension">,
  options: Omit<StoreOptions, "create"> = {},
): Promise<StoreMigration<Space>> {
  const folder = resolvePath(path);
  const pointer = readPointer(folder);
  const { databasePath, lock } = takeCurrent(folder, pointer);
  let database: Database | undefined;
  try {
    database = openDatabase(databasePath, 4_000_000);
    prepareSchema(database, databasePath);
    const reader = new StoreReader(database);
    const from = readMeta(database, "space");
    const settings = readSettings(database);
    const building = begun(folder, pointer, embedder.space) ?? newGeneration(folder);
    // Named before it is there, so that whatever is left of it is known for what it is.
    writePointer(folder, { ...pointer, building });
    const target = await openEmbeddedStore(folder, embedder, options, { generation: building });
    const infos = reader.documents();
    const release = () => {
      database?.close();
      lock.release();
    };
    return {
      from,
      settings,
      documentCount: infos.length,
      documents: async function* () {
        for (const { uri } of infos) {
          const document = reader.document(uri);
          if (document) yield document;
        }
      },
      target,
      known: {
        space: target.space,
        documentInfo: (uri) => target.documentInfo(uri),
        knownVectors: async (keys) => {
          const known = new Map(await target.knownVectors(keys));
          if (from !== embedder.space) return known;
          for (const key of keys) {
            const vector = known.has(key) ? undefined : reader.vector(key);
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

/**
 * Puts the store that served before the last migration back in its place. Once more, and the newer one serves again.
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

/** The store that serves, with the right to write to it. */
function takeCurrent(folder: string, { current }: StorePointer): { databasePath: string; lock: WriteLock } {
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

/** The store that an earlier attempt began, if it can be gone on with; else it is deleted. */
function begun(folder: string, { building }: StorePointer, space: string): string | undefined {
  if (building === undefined) return undefined;
  const place = generationFolder(folder, building);
  const databasePath = databasePathIn(place);
  if (!existsSync(databasePath)) return building;
  const database = openDatabase(databasePath, 1_000_000);
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
