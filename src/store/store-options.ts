import { z } from "zod";
import { observerOption, optionsOf } from "../core/options.js";

export interface StoreOptions {
  /** Create the store if there is none. Default: true. */
  readonly create?: boolean;
  /**
   * How vectors are searched: `flat` compares all, `hnsw` walks a graph (recall of about 0.95 or more, hundreds of times
   * faster on a million), `auto` (default) is flat while there are few.
   */
  readonly index?: "auto" | "hnsw" | "flat";
  /** With `auto`: number of chunks from which the graph is used, 0 or more. Default: 20,000. */
  readonly flatBelow?: number;
  /**
   * How the graph keeps vectors in memory: `int4` (default) as numbers of 4 bits, an eighth of the memory, and `int8` as numbers of 8
   * bits, a quarter; both are built by all cores, and the best candidates are compared again by the vectors on disk. `none` keeps them as
   * they are, by the optional package hnswlib-node. A change builds the graph again, without embedding anything; from `int8` to
   * `int4` its links stay.
   */
  readonly quantization?: "none" | "int8" | "int4";
  /** Links of a vector in the graph, 2 to 128. Default: as the graph was built, 16 for a new one. */
  readonly m?: number;
  /** Candidates looked at when a vector is linked, 8 to 4,096. Default: as the graph was built, 64 for a new one. */
  readonly efConstruction?: number;
  /**
   * Candidates looked at by a search, 1 to 10,000: more candidates find more and take longer. Default: 200 below 10,000
   * chunks. From there on the fewest that find 98.5 % of the exact ten nearest of a sample, and 97 % of a harder one, measured
   * whenever the graph has doubled and saved with it.
   */
  readonly ef?: number;
  /** BM25: how soon repetitions of a word stop counting, 0 to 10. Default: 1.2. */
  readonly k1?: number;
  /** BM25: how much the length of a text lowers its score, 0 to 1. Default: 0.75. */
  readonly b?: number;
  /**
   * BM25: how many times a word of title and headings counts, 0 to 10. Default: 2, a usual weight of titles; on the training
   * questions of SciFact 2 to 4 rank alike, and better than 1.
   */
  readonly contextWeight?: number;
  /**
   * Whether to keep a model of the store's own texts (latent semantic analysis, 128 directions) as a third side of hybrid
   * search, beside the indexes: trained in a second or two once there are 20 chunks, and again when the store closes with half
   * as many more; new chunks are found by it at once. `auto`: from 512 chunks on, and only where it answers questions made of their texts well enough to help.
   * Default: false.
   */
  readonly latent?: boolean | "auto";
  /** The metadata of every document: others are refused, and filters know its fields. Default: nothing is refused. */
  readonly metadata?: z.ZodObject;
  /** True: searching and reading need `scoped(filter)`, so that no query can forget its scope. Default: false. */
  readonly requireScope?: boolean;
  /** Receives one line about anything that is slower or was built again; no action is needed. Default: none. */
  readonly onWarning?: (message: string) => void;
}

/** @internal */
export const storeOptions = optionsOf<StoreOptions>()({
  create: z.boolean().default(true),
  index: z.enum(["auto", "hnsw", "flat"]).default("auto"),
  flatBelow: z.int().min(0).default(20_000),
  quantization: z.enum(["none", "int8", "int4"]).default("int4"),
  m: z.int().min(2).max(128).optional(),
  efConstruction: z.int().min(8).max(4096).optional(),
  ef: z.int().min(1).max(10_000).optional(),
  k1: z.number().min(0).max(10).default(1.2),
  b: z.number().min(0).max(1).default(0.75),
  contextWeight: z.int().min(0).max(10).default(2),
  latent: z.union([z.boolean(), z.literal("auto")]).default(false),
  metadata: z.instanceof(z.ZodObject).optional(),
  requireScope: z.boolean().default(false),
  onWarning: observerOption<(message: string) => void>("onWarning").optional(),
});

/** The options with their defaults. @internal */
export type ResolvedStoreOptions = z.output<typeof storeOptions>;
