import { existsSync } from "node:fs";
import { resolve as resolvePath } from "node:path";
import { z } from "zod";
import { StoreError } from "../errors.js";
import { resolve } from "../options.js";
import type { Embedder, Store } from "../ports.js";
import { openDatabase } from "./database.js";
import { EmbeddedStore } from "./embedded-store.js";
import { checkSpace, prepareSchema, readMeta } from "./schema.js";
import { databasePathIn, prepareFolder, removeUnused } from "./store-folder.js";

export const StoreOptions = z.strictObject({
  /** Make the store where there is none. Default: true. */
  create: z.boolean().default(true),
  /**
   * How vectors are searched: `flat` compares all, `hnsw` walks a graph (recall about 0.95 and more, hundreds of times
   * faster on a million), `auto` (default) is flat while there are few.
   */
  index: z.enum(["auto", "hnsw", "flat"]).default("auto"),
  /** With `auto`: chunks from which the graph is used. Default: 20,000. */
  flatBelow: z.int().min(0).default(20_000),
  /** Links of a vector in the graph, 2 to 128. Default: what the graph was built with, 16 for a new one. */
  m: z.int().min(2).max(128).optional(),
  /** Candidates looked at when a vector is linked, 8 to 4,096. Default: what the graph was built with, 200 for a new one. */
  efConstruction: z.int().min(8).max(4096).optional(),
  /** Candidates looked at by a search, 1 to 10,000: more find more and take longer. Default: as saved, 200 for a new one. */
  ef: z.int().min(1).max(10_000).optional(),
  /** BM25: how soon repeating a word stops counting, 0 to 10. Default: 1.2. */
  k1: z.number().min(0).max(10).default(1.2),
  /** BM25: how much a long text has to pay for its length, 0 to 1. Default: 0.75. */
  b: z.number().min(0).max(1).default(0.75),
  /**
   * BM25: how many times over a word of title and headings counts, 0 to 10. Default: 2, which ranks SciFact, Cranfield and
   * CMRC better than 1 and about as well as 3.
   */
  contextWeight: z.int().min(0).max(10).default(2),
  /** Told in one line of what is slower or was made again; nothing of it needs an answer. Default: nobody is told. */
  onWarning: z
    .custom<(message: string) => void>((value) => typeof value === "function", "expected a function")
    .optional(),
});
export type StoreOptions = z.input<typeof StoreOptions>;

/**
 * Opens the store in the folder `path`, or makes it. It needs no server: SQLite holds documents, chunks and vectors, and
 * the indexes are derived from it. One process at a time writes (from its first write on until it closes), any number
 * read. A store that was made and never written to is gone after `close()`.
 *
 * @throws StoreError `missing` (with `create: false`), `space`, `dimension`, `version`, `damaged`.
 */
export function openStore<const Space extends string>(
  path: string,
  embedder: Pick<Embedder<Space>, "space" | "dimension">,
  options: StoreOptions = {},
): Promise<Store<Space>> {
  return openEmbeddedStore(path, embedder, options);
}

/** What only tests set. */
export interface StoreInternals {
  /** Module to load in place of the native graph library. */
  readonly graphModule?: string;
  /** Program of the writer's thread, in place of the usual one. */
  readonly writerModule?: URL;
}

export async function openEmbeddedStore<const Space extends string>(
  path: string,
  { space, dimension }: Pick<Embedder<Space>, "space" | "dimension">,
  options: StoreOptions = {},
  { graphModule, writerModule }: StoreInternals = {},
): Promise<EmbeddedStore<Space>> {
  const resolved = resolve("openStore", StoreOptions, options);
  const { create, index, flatBelow, m, efConstruction, ef, k1, b, contextWeight, onWarning = () => {} } = resolved;
  const absolute = resolvePath(path);
  if (!create && !existsSync(databasePathIn(absolute))) {
    throw new StoreError("missing", `There is no store at ${absolute}. Run \`citewell index <folder>\` first`, {
      path: absolute,
    });
  }
  const folder = prepareFolder(absolute);
  const { databasePath } = folder;
  const database = openDatabase(databasePath, 4_000_000);
  try {
    prepareSchema(database, databasePath);
    checkSpace(readMeta(database, "space"), space, absolute);
    checkDimension(readMeta(database, "dimension"), dimension, absolute);
    const store = readMeta(database, "store")!;
    // From here on the writer's thread alone changes anything.
    database.pragma("query_only = ON");
    return new EmbeddedStore({
      folder,
      database,
      space,
      dimension,
      dense: {
        index,
        flatBelow,
        databasePath,
        folder: absolute,
        store,
        onWarning,
        ...(m !== undefined && { m }),
        ...(efConstruction !== undefined && { efConstruction }),
        ...(ef !== undefined && { ef }),
        ...(graphModule !== undefined && { graphModule }),
      },
      lexical: { folder: absolute, store, k1, b, contextWeight, onWarning },
      ...(writerModule && { writerModule }),
      onWarning,
    });
  } catch (error) {
    database.close();
    if (folder.isNew) removeUnused(folder);
    throw error;
  }
}

function checkDimension(stored: string | undefined, wanted: number | undefined, path: string): void {
  if (stored === undefined || wanted === undefined || Number(stored) === wanted) return;
  throw new StoreError(
    "dimension",
    `The store at ${path} holds vectors of ${stored} dimensions, the embedder makes ${wanted}. Use the embedder that the store was made with, or index again into another folder`,
    { path },
  );
}
