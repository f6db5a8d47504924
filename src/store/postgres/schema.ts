import { randomUUID } from "node:crypto";
import { StoreError } from "../../core/errors.js";
import { checksumOf } from "../database/checksums.js";
import { documentIdSql } from "./stored-document.js";
import type { Session } from "../../postgres/server.js";
import { distributeTable } from "./distribution.js";
import { conversationLists, conversationSchema } from "./postgres-conversations.js";
import { hasPolicies, keysCondition, secureTables } from "./row-level-security.js";

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

/**
 * Every key holds the id of a document, which follows from its uri, so that all that belongs to it can be on one node of a
 * cluster. A chunk's label is its number within its document. Embeddings have the ids of their chunks: a search by vector
 * reads no other table.
 */
const keysOfDocuments = `
  CREATE TABLE renamed AS SELECT id AS old, ${documentIdSql("uri")} AS new FROM documents;
  ALTER TABLE documents ALTER id DROP IDENTITY, DROP CONSTRAINT documents_uri_key;
  UPDATE documents SET id = new FROM renamed WHERE id = old;
  CREATE INDEX documents_by_uri ON documents (uri);
  UPDATE texts SET document = new FROM renamed WHERE document = old;
  UPDATE fields SET document = new FROM renamed WHERE document = old;
  ALTER TABLE notes DROP CONSTRAINT notes_pkey, ADD document bigint;
  UPDATE notes SET document = ${documentIdSql("uri")};
  ALTER TABLE notes ADD PRIMARY KEY (document);
  ALTER TABLE chunks ADD number integer;
  UPDATE chunks SET document = new, number = place
    FROM (SELECT label, new, row_number() OVER (PARTITION BY document ORDER BY label) - 1 AS place
          FROM chunks JOIN renamed ON document = old) AS places
    WHERE chunks.label = places.label;
  ALTER TABLE postings DROP CONSTRAINT postings_pkey, ADD document bigint;
  UPDATE postings SET document = chunks.document, chunk = number FROM chunks WHERE label = chunk;
  ALTER TABLE postings ALTER chunk TYPE integer;
  ALTER TABLE postings ADD PRIMARY KEY (word, document, chunk) INCLUDE (frequency, length);
  DO $$
  DECLARE graph text := (SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() AND indexname = 'embeddings_graph');
  BEGIN
    -- A session that other stores use, too, may find their table behind this schema.
    IF to_regclass(format('%I.embeddings', current_schema())) IS NULL THEN RETURN; END IF;
    DROP INDEX IF EXISTS embeddings_graph;
    DROP INDEX embeddings_by_document;
    ALTER TABLE embeddings DROP CONSTRAINT embeddings_pkey, ADD id text COLLATE "C";
    UPDATE embeddings SET document = chunks.document, label = number, id = chunks.id
      FROM chunks WHERE chunks.label = embeddings.label;
    ALTER TABLE embeddings ALTER label TYPE integer, ALTER id SET NOT NULL;
    ALTER TABLE embeddings ADD PRIMARY KEY (document, label);
    IF graph IS NOT NULL THEN EXECUTE graph; END IF;
  END $$;
  ALTER TABLE chunks DROP CONSTRAINT chunks_id_key, DROP CONSTRAINT chunks_pkey, DROP label;
  ALTER TABLE chunks RENAME number TO label;
  DROP INDEX chunks_document_idx;
  ALTER TABLE chunks ADD PRIMARY KEY (document, label), ALTER words TYPE text[] COLLATE "C";
  CREATE INDEX chunks_by_id ON chunks (id);
  DROP TABLE renamed;
`;

/** Rows of a secured store have the facts of their document by which policies show them. */
const factsOfDocuments = `
  ALTER TABLE documents ADD facts tsvector;
  ALTER TABLE texts ADD facts tsvector;
  ALTER TABLE fields ADD facts tsvector;
  ALTER TABLE chunks ADD facts tsvector;
  ALTER TABLE postings ADD facts tsvector;
  DO $$ BEGIN
    IF to_regclass(format('%I.embeddings', current_schema())) IS NULL THEN RETURN; END IF;
    ALTER TABLE embeddings ADD facts tsvector;
  END $$;
`;

/** Keys of callers, as JSON. They are nobody's documents, so that their policy holds in every store. */
const keysOfCallers = `
  CREATE TABLE caller_keys (id text COLLATE "C" PRIMARY KEY, record text NOT NULL);
  ALTER TABLE caller_keys ENABLE ROW LEVEL SECURITY;
  CREATE POLICY citewell_scope ON caller_keys FOR SELECT USING (${keysCondition});
`;

/** Each step upgrades a store by one version. Released steps are never edited, new ones are added. */
const upgrades: readonly string[] = [
  firstTables,
  conversationSchema,
  commitRecords,
  keysOfDocuments,
  factsOfDocuments,
  conversationLists,
  keysOfCallers,
];

export type MetaName =
  | "version"
  | "store"
  | "space"
  | "dimension"
  | "precision"
  | "token-margin"
  /** Column of `embeddings` that has the vectors; after a migration to another model another one. */
  | "column"
  | "settings"
  /** Number of shards of each table on a cluster; none on a single server. */
  | "distributed"
  /** Version of the tables of the workers' queue; none while there is no queue, or one without a version. */
  | "queue"
  /** Fields by which row-level security shows documents, as JSON, and the roles that it binds. */
  | "secured"
  | "roles"
  /** The servers of a store that an earlier version spread over several. */
  | "allotment";

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
  // An administrator may have made both beforehand for a user who may not: naming what is there asks for the right all the same.
  const [found] = await session.query<{ hasVector: boolean; hasSchema: boolean }>(
    `SELECT to_regtype('vector') IS NOT NULL AS "hasVector", to_regnamespace($1) IS NOT NULL AS "hasSchema"`,
    [schema],
  );
  if (!found!.hasVector) await session.query("CREATE EXTENSION IF NOT EXISTS vector");
  if (!found!.hasSchema) await session.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
  const meta = await readMeta(session, schema);
  const from = Number(meta?.get("version") ?? 0);
  for (const step of upgrades.slice(from)) await session.query(step);
  // New tables are secured like those that are there.
  if (await hasPolicies(session)) {
    const isKept = meta?.has("secured") ?? false;
    await secureTables(session, schema, isKept ? undefined : "all");
    if (!isKept) await writeMeta(session, "secured", JSON.stringify("all"));
  }
  await writeMeta(session, "version", String(upgrades.length));
  if (!meta?.has("store")) await writeMeta(session, "store", randomUUID());
}

/** Waits until no other session changes the tables of this store, and keeps the others out until the transaction ends. */
export async function lockSchema(session: Session, schema: string): Promise<void> {
  await session.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`citewell schema ${schema}`]);
}

/** Column of the vectors that searches compare, in a store that was not migrated to another model. */
export const firstColumn = "embedding";

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
       document bigint, label integer, id text COLLATE "C" NOT NULL, embedding ${precision}(${dimension}) NOT NULL,
       facts tsvector, PRIMARY KEY (document, label))`,
  );
  if ((await readMeta(session, schema))?.has("distributed")) await distributeTable(session, "embeddings");
  if (await hasPolicies(session)) await secureTables(session, schema);
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
  { m, efConstruction, column }: { readonly m: number; readonly efConstruction: number; readonly column: string },
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
     USING hnsw (${column} ${precision}_ip_ops) WITH (m = ${m}, ef_construction = ${efConstruction})`,
  );
}
