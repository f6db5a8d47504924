import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { StoreError, OptionsError } from "../core/errors.js";
import { resolve } from "../core/options.js";
import type { Embedder, Store } from "../core/ports.js";
import { asStoreError, type Database, guarded, lookupCacheBytes, openForReading } from "../sqlite/database.js";
import { checkSpace, isEmpty, prepareSchema, readMeta } from "./database/schema.js";
import { fileIdentity } from "./database/file-identity.js";
import { databasePathIn, prepareFolder, removeIfUnused } from "./database/store-folder.js";
import { generationFolder, readPointer } from "./database/store-pointer.js";
import { lastSavedLabel } from "./derived/saved-index.js";
import { EmbeddedStore } from "./embedded-store.js";
import { storeFolder } from "./store-address.js";
import { storeOptions, type StoreOptions } from "./store-options.js";

/** Settings that only tests and migrations use. */
export interface StoreInternals {
  /** Module to load in place of the native graph library. */
  readonly graphModule?: string;
  /** Program of the writer's thread, in place of the usual one. */
  readonly writerModule?: URL;
  /** The generation to open instead of the current one. */
  readonly generation?: string;
}

export async function openEmbeddedStore<const Space extends string>(
  path: string,
  { space, dimension }: Pick<Embedder<Space>, "space" | "dimension">,
  options: StoreOptions = {},
  { graphModule, writerModule, ...internals }: StoreInternals = {},
): Promise<Store<Space>> {
  const resolved = resolve("openStore", storeOptions, options);
  const location = storeFolder(path);
  refuseFiles(location);
  const generation = internals.generation ?? guarded(location, () => readPointer(location)).current;
  const place = generationFolder(location, generation);
  if (!resolved.create && !existsSync(databasePathIn(place))) {
    throw new StoreError("missing", `There is no store at ${location}. Run \`citewell index <folder>\` first`, {
      path: location,
    });
  }
  const folder = prepareFolder(place);
  const { databasePath } = folder;
  const database = openForReading(databasePath, lookupCacheBytes(databasePath));
  try {
    refuseLostDatabase(database, folder.path, databasePath);
    prepareSchema(database, databasePath);
    checkSpace(readMeta(database, "space"), space, location);
    checkDimension(readMeta(database, "dimension"), dimension, location);
    // From here on only the writer's thread changes anything.
    database.pragma("query_only = ON");
    return new EmbeddedStore({
      location,
      generation,
      folder,
      database,
      identity: fileIdentity(databasePath),
      id: readMeta(database, "store")!,
      space,
      dimension,
      settings: resolved,
      graphModule,
      writerModule,
    });
  } catch (error) {
    database.close();
    if (folder.isNew) {
      try {
        removeIfUnused(folder);
      } catch {
        // The first error is more informative.
      }
    }
    throw asStoreError(databasePath, error);
  }
}

/** An empty database beside the indexes of a full one has lost its content: opened as a new store, it would find nothing. */
function refuseLostDatabase(database: Database, folder: string, path: string): void {
  const label = isEmpty(database) ? lastSavedLabel(folder) : undefined;
  if (label === undefined) return;
  throw new StoreError(
    "damaged",
    `${path} is empty, but the indexes beside it are of a store of up to ${label.toLocaleString("en-US")} chunks. ` +
      `Restore the file from a backup, or delete the folder ${folder} and index again`,
    { path },
  );
}

function checkDimension(stored: string | undefined, wanted: number | undefined, path: string): void {
  if (stored === undefined || wanted === undefined || Number(stored) === wanted) return;
  throw new StoreError(
    "dimension",
    `The store at ${path} holds vectors of ${stored} dimensions, the embedder makes ${wanted}. Use the embedder that the store was created with, or rebuild the store with \`citewell migrate\``,
    { path },
  );
}

/** @throws OptionsError when the path, or a folder that it leads through, is a file. */
function refuseFiles(location: string): void {
  for (let index = location; index !== dirname(index); index = dirname(index)) {
    if (!existsSync(index) || !statSync(index).isFile()) continue;
    const what = index === location ? `${index} is a file` : `There can be no store at ${location}: ${index} is a file`;
    throw new OptionsError("options", `${what}. A store is a folder: name another path`, { call: "openStore" });
  }
}
