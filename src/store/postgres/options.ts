import { z } from "zod";
import { listOption, observerOption, optionsOf } from "../../core/options.js";

export interface PostgresStoreOptions {
  /** Create the store if there is none. Default: true. */
  readonly create?: boolean;
  /**
   * Schema of the database that holds the tables: each schema is a store of its own. Small letters, digits and `_`, at most
   * 63. Default: `citewell`.
   */
  readonly schema?: string;
  /**
   * How vectors are kept for searching: `halfvec` has 16 bits a component, half the memory, and loses next to nothing.
   * Graphs take vectors of up to 2,000 (`vector`) or 4,000 (`halfvec`) dimensions; longer ones are all compared. Default: as
   * the store was created, `vector` for a new one.
   */
  readonly precision?: "vector" | "halfvec";
  /**
   * How vectors are searched: `flat` compares all, `hnsw` walks a graph, `auto` (default) is flat until `flatBelow` chunks
   * have been written.
   */
  readonly index?: "auto" | "hnsw" | "flat";
  /**
   * With `auto`: number of chunks from which the graph is made, 0 or more. A first load that goes on gets it when it pauses for a
   * second, when the store is closed, or at four times this number, with long
   * vectors earlier: with 1,024 dimensions at 8,192 chunks. Default: 5,000.
   */
  readonly flatBelow?: number;
  /** Links of a vector in a new graph, 2 to 100. Default: 16. */
  readonly m?: number;
  /** Candidates looked at when a vector is linked, 4 to 1,000, at least twice `m`. Default: 100. */
  readonly efConstruction?: number;
  /** Candidates looked at by a search before it looks for more, 1 to 1,000. Default: 200. */
  readonly ef?: number;
  /**
   * Spreads a new store over the nodes of the Citus cluster whose coordinator the address names. A store that has documents is
   * distributed by `distributeStore`. Left out, a store is opened as it is. Default: one server.
   */
  readonly distributed?: {
    /** Shards of each table, 1 to 1,024: at least as many as the cluster will have cores. Default: 32. */
    readonly shards?: number;
  };
  /**
   * True: opens one of the servers over which an earlier version spread a store, with its part of the documents, to copy them.
   * Default: such a server is refused.
   */
  readonly formerShard?: boolean;
  /**
   * Addresses of streaming replicas of the server: they are searched and read in place of it while they run and are not too far
   * behind; writes and what belongs to them go to the server. A process always finds what it wrote itself. A cluster has replicas
   * of its own (`citus.use_secondary_nodes`). Default: none.
   */
  readonly replicas?: readonly string[];
  /**
   * With `replicas`: one is read only if it has everything that was committed up to so many milliseconds ago. So long are searches
   * answered while the server itself is down, because nobody else knows how far it came. 100 to 86,400,000. Default: 10,000.
   */
  readonly maxLagMs?: number;
  /** Maximum number of connections to the server, 1 to 1,000. Default: 10. */
  readonly maxConnections?: number;
  /**
   * Maximum time of a read or write with all repetitions, in milliseconds: a server that is restarted or cannot be reached
   * is tried again until then. 1 to 86,400,000. Default: 30,000.
   */
  readonly deadlineMs?: number;
  /** The metadata of every document: others are refused, and filters know its fields. Default: nothing is refused. */
  readonly metadata?: z.ZodObject;
  /** True: searching and reading need `scoped(filter)`, so that no query can forget its scope. Default: false. */
  readonly requireScope?: boolean;
  /**
   * Not false: `requireScope`, and the server itself shows rows of documents only within the scope of a transaction, so that not even
   * SQL with a forgotten condition reads others; the workers' queue shows them nothing. It binds every user but the owner of the tables: open the store so as the
   * owner once, grant another user USAGE on the schema and SELECT on its tables (and INSERT, UPDATE and DELETE on those of
   * conversations: `conversations`, `exchanges`, `approvals`), and answer as that user. A scope then names a
   * value that a secured field must have (or several, with `in`), and words are weighed by the documents that it shows. Each row
   * of a document has a fact of 17 bytes for each value of a secured field: name the fields of the metadata by which scopes are made, such
   * as `["tenant"]`. True: the fields that are secured, for a new store those of all documents. Other names secure the store anew; open it
   * in all processes then. Default: false, which leaves tables secured that are.
   */
  readonly rowLevelSecurity?: boolean | readonly string[];
  /** Receives one line about anything that is slower or missing; no action is needed. Default: none. */
  readonly onWarning?: (message: string) => void;
}

/** @internal */
export const schemaName = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/, "must be small letters, digits and _");

/** @internal */
export const distributedOptions = z.strictObject({ shards: z.int().min(1).max(1024).default(32) });

/** @internal */
export const postgresStoreOptions = optionsOf<PostgresStoreOptions>()({
  create: z.boolean().default(true),
  schema: schemaName.default("citewell"),
  precision: z.enum(["vector", "halfvec"]).optional(),
  index: z.enum(["auto", "hnsw", "flat"]).default("auto"),
  flatBelow: z.int().min(0).default(5000),
  m: z.int().min(2).max(100).default(16),
  efConstruction: z.int().min(4).max(1000).default(100),
  ef: z.int().min(1).max(1000).default(200),
  distributed: distributedOptions.optional(),
  formerShard: z.boolean().default(false),
  replicas: listOption(z.array(z.string())).default([]),
  maxLagMs: z.number().min(100).max(86_400_000).default(10_000),
  maxConnections: z.int().min(1).max(1000).default(10),
  deadlineMs: z.number().min(1).max(86_400_000).default(30_000),
  metadata: z.instanceof(z.ZodObject).optional(),
  requireScope: z.boolean().default(false),
  rowLevelSecurity: z.union([z.boolean(), listOption(z.array(z.string().min(1)).min(1))]).default(false),
  onWarning: observerOption<(message: string) => void>("onWarning").optional(),
});

/** The options with their defaults. @internal */
export type ResolvedPostgresOptions = z.output<typeof postgresStoreOptions>;
