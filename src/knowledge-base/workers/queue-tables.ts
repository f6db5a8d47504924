import { StoreError } from "../../core/errors.js";
import type { Server, Session } from "../../postgres/server.js";
import { hasPolicies, secureTables } from "../../store/postgres/row-level-security.js";
import { lockSchema, readMeta, writeMeta } from "../../store/postgres/schema.js";

// The tables stand in the store's schema, which is where the sessions look. A document is in the queue once, in its
// newest version: the row of an older version is deleted, and its worker finds nothing to end.
const firstTables = `
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

/** Each step upgrades a queue by one version. Released steps are never edited, new ones are added. */
const upgrades: readonly string[] = [firstTables];

/**
 * Version of the queue's tables, 0 where there are none.
 *
 * @throws StoreError `version` for those of a newer citewell.
 */
export async function queueVersion(session: Session, schema: string, location: string): Promise<number> {
  const [found] = await session.query<{ exists: boolean }>("SELECT to_regclass($1) IS NOT NULL AS exists", [
    `${schema}.ingest_rates`,
  ]);
  if (!found!.exists) return 0;
  // The first tables did not say which they are.
  const version = Number((await readMeta(session, schema))?.get("queue") ?? 1);
  if (version <= upgrades.length) return version;
  const message =
    `${location} has a queue of format ${version}, this version of citewell works on up to ${upgrades.length}. ` +
    "Update citewell here, or let its newer version end what is queued";
  throw new StoreError("version", message, { path: location });
}

/** Creates the tables of the queue or brings them up to date. Processes that start together wait for each other. */
export async function prepareQueueTables(database: Server, schema: string): Promise<void> {
  const { location } = database;
  const versionIn = (session: Session) => queueVersion(session, schema, location);
  if ((await database.read(versionIn)) === upgrades.length) return;
  await database.transaction(async (session) => {
    await lockSchema(session, schema);
    const steps = upgrades.slice(await versionIn(session));
    if (steps.length === 0) return;
    for (const step of steps) await session.query(step);
    await writeMeta(session, "queue", String(upgrades.length));
    // The queue holds whole texts of all tenants, so that a store with row-level security hides it from all but its owner.
    if (await hasPolicies(session)) await secureTables(session, schema);
  });
}
