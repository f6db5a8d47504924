import { existsSync } from "node:fs";
import { resolve as resolvePath } from "node:path";
import { StoreError } from "../errors.js";
import { resolve } from "../options.js";
import type { Embedder } from "../ports.js";
import { AllowedChunks } from "./allowed-chunks.js";
import { asStoreError, openDatabase } from "../sqlite/database.js";
import { EmbeddedStore } from "./embedded-store.js";
import { checkSpace, prepareSchema, readMeta } from "./schema.js";
import { databasePathIn, prepareFolder, removeUnused } from "./store-folder.js";
import { StoreOptions } from "./store-options.js";
import { generationFolder, readPointer } from "./store-pointer.js";

/** What only tests and migrations set. */
export interface StoreInternals {
  /** Module to load in place of the native graph library. */
  readonly graphModule?: string;
  /** Program of the writer's thread, in place of the usual one. */
  readonly writerModule?: URL;
  /** Store in the folder to open instead of the one that serves. */
  readonly generation?: string;
}

export async function openEmbeddedStore<const Space extends string>(
  path: string,
  { space, dimension }: Pick<Embedder<Space>, "space" | "dimension">,
  options: StoreOptions = {},
  { graphModule, writerModule, ...internals }: StoreInternals = {},
): Promise<EmbeddedStore<Space>> {
  const resolved = resolve("openStore", StoreOptions, options);
  const { create, index, flatBelow, m, efConstruction, ef, k1, b, contextWeight, onWarning = () => {} } = resolved;
  const { metadata, requireScope } = resolved;
  const absolute = resolvePath(path);
  const generation = internals.generation ?? readPointer(absolute).current;
  const place = generationFolder(absolute, generation);
  if (!create && !existsSync(databasePathIn(place))) {
    throw new StoreError("missing", `There is no store at ${absolute}. Run \`citewell index <folder>\` first`, {
      path: absolute,
    });
  }
  const folder = prepareFolder(place);
  const { databasePath } = folder;
  const database = openDatabase(databasePath, 1_000_000);
  try {
    prepareSchema(database, databasePath);
    checkSpace(readMeta(database, "space"), space, absolute);
    checkDimension(readMeta(database, "dimension"), dimension, absolute);
    const store = readMeta(database, "store")!;
    // From here on the writer's thread alone changes anything.
    database.pragma("query_only = ON");
    const allowed = new AllowedChunks(database);
    return new EmbeddedStore({
      location: absolute,
      generation,
      folder,
      database,
      allowed,
      ...(metadata && { metadataSchema: metadata }),
      requireScope,
      space,
      dimension,
      dense: {
        index,
        flatBelow,
        databasePath,
        folder: place,
        store,
        onWarning,
        ...(m !== undefined && { m }),
        ...(efConstruction !== undefined && { efConstruction }),
        ...(ef !== undefined && { ef }),
        ...(graphModule !== undefined && { graphModule }),
      },
      lexical: { folder: place, store, k1, b, contextWeight, allowed, onWarning },
      ...(writerModule && { writerModule }),
      onWarning,
    });
  } catch (error) {
    database.close();
    if (folder.isNew) {
      try {
        removeUnused(folder);
      } catch {
        // What it could not be opened for says more.
      }
    }
    throw asStoreError(databasePath, error);
  }
}

function checkDimension(stored: string | undefined, wanted: number | undefined, path: string): void {
  if (stored === undefined || wanted === undefined || Number(stored) === wanted) return;
  throw new StoreError(
    "dimension",
    `The store at ${path} holds vectors of ${stored} dimensions, the embedder makes ${wanted}. Use the embedder that the store was made with, or make the store anew with citewell migrate`,
    { path },
  );
}
