import { randomUUID } from "node:crypto";
import { StoreError } from "../../core/errors.js";
import { checksumOf } from "../database/checksums.js";
import type { Session } from "./connection/server.js";
import { conversationSchema } from "./postgres-conversations.js";
import { isSecured, secureTables } from "./row-level-security.js";

// Texts sort by their bytes, as in the embedded store, whatever the locale of the database. A chunk has its words, so that
// its postings are found without an index on their chunks. Totals are counted by the rows that writes append, so that no two
// writers wait for each other. No foreign keys: each would cost as much as the row, and `verify` finds what is lost.
const firstTables = `
  CREATE TABLE meta (name text PRIMARY KEY, value text NOT NULL, checksum bigint NOT NULL);
  CREATE TABLE documents (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    uri text COLLATE "C" NOT NULL UNIQUE,
    title text,
    media_type text,
    source text COLLATE "C",
    fingerprint text NOT NULL,
    chunk_count integer NOT NULL,
    metadata text,
    anchors text,
    revision text,
    checksum bigint NOT NULL
  );
  CREATE INDEX ON documents (source, uri);
  CREATE TABLE texts (document bigint, piece integer, text text NOT NULL, PRIMARY KEY (document, piece));
  CREATE TABLE vectors (key text COLLATE "C" PRIMARY KEY, data bytea NOT NULL, checksum bigint NOT NULL);
  CREATE TABLE chunks (
    label bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    document bigint NOT NULL,
    vector text COLLATE "C" NOT NULL,
    start integer NOT NULL,
    "end" integer NOT NULL,
    tokens integer NOT NULL,
    parent_start integer,
    parent_end integer,
    line integer,
    page integer,
    anchors text,
    context text NOT NULL,
    words text[] NOT NULL
  );
  CREATE INDEX ON chunks (document);
  CREATE TABLE postings (
    word text COLLATE "C",
    chunk bigint,
    frequency integer NOT NULL,
    length integer NOT NULL,
    PRIMARY KEY (word, chunk) INCLUDE (frequency, length)
  );
  CREATE TABLE totals (chunks bigint NOT NULL, words bigint NOT NULL);
  CREATE TABLE fields (
    document bigint NOT NULL,
    name text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    text text COLLATE "C",
    number double precision
  );
  CREATE INDEX ON fields (document, name);
  CREATE INDEX ON fields (name, left(text, 256)) WHERE text IS NOT NULL;
  CREATE INDEX ON fields (name, number) WHERE number IS NOT NULL;
  CREATE TABLE notes (uri text COLLATE "C" PRIMARY KEY, note text NOT NULL, checksum bigint NOT NULL);
`;

/** Each transaction leaves a row, from which its end is known where the connection is lost during the commit. */
const commitRecords = `
  CREATE TABLE commits (id uuid PRIMARY KEY, made date NOT NULL DEFAULT current_date);
  GRANT SELECT, INSERT, UPDATE, DELETE ON commits TO PUBLIC;
`;

/** Each step upgrades a store by one version. Released steps are never edited, new ones are added. */
const upgrades: readonly string[] = [firstTables, conversationSchema, commitRecords];

export type MetaName =
  | "version"
  | "store"
  | "space"
  | "dimension"
  | "precision"
  | "token-margin"
  | "settings"
  | "allotment"
  | "rebalancing";

/** Facts of a store by name. `undefined` where there are no tables. */
export async function readMeta(session: Session, schema: string): Promise<Map<MetaName, string> | undefined> {
  const [found] = await session.query<{ exists: boolean }>("SELECT to_regclass($1) IS NOT NULL AS exists", [
    `${schema}.meta`,
  ]);
  if (!found!.exists) return undefined;
  const rows = await session.query<{ name: MetaName; value: string }>("SELECT name, value FROM meta");
  return new Map(rows.map(({ name, value }) => [name, value]));
}

export async function writeMeta(session: Session, name: MetaName, value: string): Promise<void> {
  await session.query(
    `INSERT INTO meta VALUES ($1, $2, $3)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value, checksum = excluded.checksum`,
    [name, value, checksumOf([name, value])],
  );
}

export function isCurrent(meta: ReadonlyMap<MetaName, string>, location: string): boolean {
  const found = Number(meta.get("version"));
  if (found <= upgrades.length) return found === upgrades.length;
  throw new StoreError(
    "version",
    `${location} has format ${found}, this version of citewell reads up to ${upgrades.length}. Update citewell, or use another schema`,
    { path: location },
  );
}

/** Creates the tables of a new store and upgrades those of an older one, in the session's transaction. */
export async function upgrade(session: Session, schema: string): Promise<void> {
  await lockSchema(session, schema);
  // Extensions belong to the whole database, so that two stores may create this one at the same time.
  await session.query("SELECT pg_advisory_xact_lock(hashtextextended('citewell extension', 0))");
  await session.query("CREATE EXTENSION IF NOT EXISTS vector");
  await session.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
  const meta = await readMeta(session, schema);
  const from = Number(meta?.get("version") ?? 0);
  for (const step of upgrades.slice(from)) await session.query(step);
  // New tables are secured like those that are there.
  if (await isSecured(session)) await secureTables(session, schema);
  await writeMeta(session, "version", String(upgrades.length));
  if (!meta?.has("store")) await writeMeta(session, "store", randomUUID());
}

/** Waits until no other session changes the tables of this store, and keeps the others out until the transaction ends. */
async function lockSchema(session: Session, schema: string): Promise<void> {
  await session.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`citewell schema ${schema}`]);
}

/** Longest vectors that an HNSW index of pgvector takes: https://github.com/pgvector/pgvector#hnsw */
export const maxIndexedDimension = { vector: 2000, halfvec: 4000 } as const;
export type Precision = keyof typeof maxIndexedDimension;
const bytesPerComponent = { vector: 4, halfvec: 2 } as const;

/** Makes the table of the searched vectors, whose length is known with the first of them. */
export async function createEmbeddings(
  session: Session,
  schema: string,
  dimension: number,
  precision: Precision,
): Promise<void> {
  await lockSchema(session, schema);
  await session.query(
    `CREATE TABLE IF NOT EXISTS embeddings (
       label bigint PRIMARY KEY, document bigint NOT NULL, embedding ${precision}(${dimension}) NOT NULL)`,
  );
  await session.query("CREATE INDEX IF NOT EXISTS embeddings_by_document ON embeddings (document)");
  if (await isSecured(session)) await secureTables(session, schema);
  await writeMeta(session, "dimension", String(dimension));
  await writeMeta(session, "precision", precision);
}

/** Whether the table of the searched vectors was made. */
export async function hasEmbeddings(session: Session): Promise<boolean> {
  const [found] = await session.query<{ exists: boolean }>("SELECT to_regclass('embeddings') IS NOT NULL AS exists");
  return found!.exists;
}

/** Makes the graph that searches walk, unless it is there. */
export async function createGraph(
  session: Session,
  schema: string,
  precision: Precision,
  dimension: number,
  { m, efConstruction }: { readonly m: number; readonly efConstruction: number },
): Promise<void> {
  await lockSchema(session, schema);
  // Where it does not fit into memory, vectors are linked one by one. Parallel workers would need the memory to be shared, of
  // which containers often have next to none.
  const vectorBytes = dimension * bytesPerComponent[precision] + 64 * m + 256;
  await session.query(
    `SELECT set_config('maintenance_work_mem', bytes / 1024 || 'kB', true),
       set_config('max_parallel_maintenance_workers', '0', true)
     FROM (SELECT (sum(chunks) * ${vectorBytes})::bigint AS bytes FROM totals) AS needed
     WHERE bytes BETWEEN pg_size_bytes(current_setting('maintenance_work_mem')) AND ${2 ** 30}`,
  );
  await session.query(
    `CREATE INDEX IF NOT EXISTS embeddings_graph ON embeddings
     USING hnsw (embedding ${precision}_ip_ops) WITH (m = ${m}, ef_construction = ${efConstruction})`,
  );
}
