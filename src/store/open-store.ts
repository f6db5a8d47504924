import type { z } from "zod";
import type { Embedder, Store } from "../ports.js";
import { openEmbeddedStore } from "./open-embedded-store.js";
import type { StoreOptions } from "./store-options.js";

/**
 * Opens the store in the folder `path`, or makes it. It needs no server: SQLite holds documents, chunks and vectors, and
 * the indexes are derived from it. One process at a time writes (from its first write on until it closes), any number
 * read. A store that was made and never written to is gone after `close()`.
 *
 * @throws StoreError `missing` (with `create: false`), `space`, `dimension`, `version`, `damaged`.
 */
export function openStore<const Space extends string, Schema extends z.ZodObject>(
  path: string,
  embedder: Pick<Embedder<Space>, "space" | "dimension">,
  options: Omit<StoreOptions, "metadata"> & { readonly metadata: Schema },
): Promise<Store<Space, z.output<Schema>>>;
export function openStore<const Space extends string>(
  path: string,
  embedder: Pick<Embedder<Space>, "space" | "dimension">,
  options?: StoreOptions,
): Promise<Store<Space>>;
export function openStore<const Space extends string>(
  path: string,
  embedder: Pick<Embedder<Space>, "space" | "dimension">,
  options: StoreOptions = {},
): Promise<Store<Space>> {
  return openEmbeddedStore(path, embedder, options);
}
