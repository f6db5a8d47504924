import { existsSync } from "node:fs";
import { StoreError } from "../core/errors.js";
import { guarded, openForReading } from "../sqlite/database.js";
import { prepareSchema, readMeta } from "./database/schema.js";
import { databasePathIn } from "./database/store-folder.js";
import { savedQuantization } from "./dense/dense.js";
import { latentFigures, type LatentFigures } from "./latent/latent-index.js";
import { storeFolder } from "./store-address.js";
import { generationFolder, readPointer } from "./database/store-pointer.js";

/**
 * The vector space of the store in a folder, for work that needs no model. Undefined for a store that was never written to.
 *
 * @throws StoreError `missing` when there is no store.
 */
export function storedSpace(path: string): string | undefined {
  const folder = storeFolder(path);
  const databasePath = databasePathIn(generationFolder(folder, guarded(folder, () => readPointer(folder)).current));
  if (!existsSync(databasePath)) {
    throw new StoreError("missing", `There is no store at ${folder}`, { path: folder });
  }
  const database = openForReading(databasePath, 1_000_000);
  try {
    return guarded(databasePath, () => {
      prepareSchema(database, databasePath);
      return readMeta(database, "space");
    });
  } finally {
    database.close();
  }
}

/** The latent model that is saved with the store in a folder; undefined where none is. */
export function storedLatentModel(path: string): LatentFigures | undefined {
  const folder = storeFolder(path);
  return latentFigures(generationFolder(folder, guarded(folder, () => readPointer(folder)).current));
}

/** How the saved graph of the store in a folder keeps vectors; undefined where none is saved. */
export function storedQuantization(path: string): "none" | "int8" | "int4" | undefined {
  const folder = storeFolder(path);
  return savedQuantization(generationFolder(folder, guarded(folder, () => readPointer(folder)).current));
}
