import type { Server } from "../../store/postgres/connection/server.js";

// They stand in the store's schema, which is where the sessions look. A document is in the queue once, in its newest version:
// the row of an older one is deleted, and who worked on that finds nothing to end.
const tables = `
  CREATE SEQUENCE ingest_batches;
  CREATE TABLE ingest_runs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state text NOT NULL DEFAULT 'reading',
    reader text,
    chunk jsonb NOT NULL,
    reading jsonb NOT NULL DEFAULT '{}',
    outcomes jsonb NOT NULL DEFAULT '{}',
    deleted bigint NOT NULL DEFAULT 0,
    chunks bigint NOT NULL DEFAULT 0,
    deleted_chunks bigint NOT NULL DEFAULT 0,
    embedded bigint NOT NULL DEFAULT 0,
    tokens bigint NOT NULL DEFAULT 0,
    requests bigint NOT NULL DEFAULT 0,
    begun_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at timestamptz
  );
  CREATE TABLE ingest_documents (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run bigint NOT NULL,
    batch bigint,
    uri text COLLATE "C" NOT NULL UNIQUE,
    source text,
    digest bytea,
    content bytea,
    state text NOT NULL,
    worker text,
    losses integer NOT NULL DEFAULT 0,
    attempts integer NOT NULL DEFAULT 0,
    chunks integer NOT NULL DEFAULT 0,
    deleted_chunks integer NOT NULL DEFAULT 0,
    error text,
    ended_at timestamptz
  );
  CREATE INDEX ON ingest_documents (batch) WHERE state = 'waiting';
  CREATE INDEX ON ingest_documents (worker) WHERE worker IS NOT NULL;
  CREATE INDEX ON ingest_documents (run, state);
  CREATE TABLE ingest_members (
    id text PRIMARY KEY,
    role text NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL,
    dead_after interval NOT NULL,
    joined_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    beat_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE TABLE ingest_rates (
    name text PRIMARY KEY,
    requests_per_minute double precision,
    tokens_per_minute double precision,
    requests double precision NOT NULL DEFAULT 0,
    tokens double precision NOT NULL DEFAULT 0,
    filled_at timestamptz NOT NULL DEFAULT to_timestamp(0)
  );
`;

/** Whether the store has a queue. */
export async function hasQueueTables(database: Server): Promise<boolean> {
  const [found] = await database.read((session) =>
    session.query<{ exists: boolean }>("SELECT to_regclass('ingest_rates') IS NOT NULL AS exists"),
  );
  return found!.exists;
}

/** Creates the tables of the queue, unless they are there. Processes that start together wait for each other. */
export async function createQueueTables(database: Server): Promise<void> {
  if (await hasQueueTables(database)) return;
  await database.transaction(async (session) => {
    await session.query("SELECT pg_advisory_xact_lock(hashtextextended('citewell queue ' || current_schema(), 0))");
    const [found] = await session.query<{ exists: boolean }>(
      "SELECT to_regclass('ingest_rates') IS NOT NULL AS exists",
    );
    if (!found!.exists) await session.query(tables);
  });
}
