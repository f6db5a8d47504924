import type { z } from "zod";
import { asError, closeSomeFiles, isOutOfFiles, StoreError } from "../core/errors.js";
import { checkVectorSpace } from "../core/check-port.js";
import type { Embedder, Store } from "../core/ports.js";
import type { StoreOptions } from "./store-options.js";

/**
 * Opens the store in the folder `path`, or creates it. It needs no server: SQLite holds documents, chunks and vectors, and
 * the indexes are derived from it. One process at a time writes (from its first write until it closes), any number read. A
 * new store that was never written to is deleted by `close()`.
 *
 * @throws OptionsError without an embedder; StoreError `missing` (with `create: false`), `space`, `dimension`, `version`, `damaged`.
 * @example
 * ```ts
 * import { openStore, type Embedder } from "citewell";
 * export async function countDocuments(embedder: Embedder) {
 *   const store = await openStore("./.citewell", embedder, { create: false });
 *   try {
 *     return (await store.documents()).length;
 *   } finally {
 *     await store.close();
 *   }
 * }
 * ```
 */
export function openStore<const Space extends string, Schema extends z.ZodObject>(
  path: string,
  embedder: Pick<Embedder<Space>, "space" | "dimension">,
  options: Omit<StoreOptions, "metadata"> & {
    /** Schema of every document's metadata. */
    readonly metadata: Schema;
  },
): Promise<Store<Space, z.output<Schema>>>;
export function openStore<const Space extends string>(
  path: string,
  embedder: Pick<Embedder<Space>, "space" | "dimension">,
  options?: StoreOptions,
): Promise<Store<Space>>;
export async function openStore<const Space extends string>(
  path: string,
  embedder: Pick<Embedder<Space>, "space" | "dimension">,
  options: StoreOptions = {},
): Promise<Store<Space>> {
  checkVectorSpace("openStore", embedder);
  const { openEmbeddedStore } = await import("./open-embedded-store.js").catch((thrown: unknown) => {
    throw isOutOfFiles(thrown) ? outOfFiles(path, asError(thrown)) : thrown;
  });
  return openEmbeddedStore(path, embedder, options);
}

/** The store's own modules are files too. */
function outOfFiles(path: string, cause: Error): StoreError {
  return new StoreError("disk", `The store at ${path} cannot be opened: ${cause.message}. ${closeSomeFiles}`, {
    path,
    cause,
  });
}
