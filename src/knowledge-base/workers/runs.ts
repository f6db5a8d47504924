import type { Store } from "../../core/ports.js";
import { columnText, originalText } from "../../postgres/column-text.js";
import type { ChunkSettings } from "../ingest/settings.js";
import type { Server, Session } from "../../postgres/server.js";

/** Counts of a run's reader, besides the documents that it queued. */
export interface ReadingReport {
  readonly queued: number;
  readonly unchanged: number;
  /** Files and documents that could not be read. */
  readonly failed: number;
}

/** Begins the run of a reader. Its number names it. */
export async function beginRun(session: Session, reader: string, chunk: ChunkSettings): Promise<number> {
  const [run] = await session.query<{ id: number }>(
    "INSERT INTO ingest_runs (reader, chunk) VALUES ($1, $2) RETURNING id",
    [reader, JSON.stringify(chunk)],
  );
  return run!.id;
}

/** How documents of a run are cut. */
export async function chunkSettingsOf(session: Session, run: number): Promise<ChunkSettings> {
  const [row] = await session.query<{ chunk: ChunkSettings }>("SELECT chunk FROM ingest_runs WHERE id = $1", [run]);
  return row!.chunk;
}

/**
 * Ends the reading of a whole source: documents that vanished from it are deleted when all jobs of the run have ended.
 */
export async function endReading(
  session: Session,
  run: number,
  reading: ReadingReport,
  vanished: readonly string[],
): Promise<void> {
  const uris = vanished.map(columnText);
  // A version that waits is not wanted any more.
  await session.query("DELETE FROM ingest_documents WHERE uri = ANY($1)", [uris]);
  await session.query(
    "INSERT INTO ingest_documents (run, uri, state) SELECT $1, uri, 'vanished' FROM unnest($2::text[]) AS uri",
    [run, uris],
  );
  await session.query("UPDATE ingest_runs SET state = 'working', reader = NULL, reading = $2 WHERE id = $1", [
    run,
    JSON.stringify(reading),
  ]);
}

/** Gives up the reading of a source: queued documents are still processed, and nothing is deleted. */
export async function interruptRun(session: Session, run: number): Promise<void> {
  await session.query("UPDATE ingest_runs SET state = 'interrupted' WHERE id = $1 AND state = 'reading'", [run]);
}

/** Resources that workers spent on a run. */
export interface Spent {
  readonly embedded: number;
  readonly tokens: number;
  readonly requests: number;
}

export async function addSpending(session: Session, run: number, { embedded, tokens, requests }: Spent): Promise<void> {
  await session.query(
    `UPDATE ingest_runs SET embedded = embedded + $2, tokens = tokens + $3, requests = requests + $4 WHERE id = $1`,
    [run, embedded, tokens, requests],
  );
}

const finalStates = ["added", "updated", "unchanged", "skipped"];

/**
 * Ends every run whose jobs have ended: deletes documents that vanished from its source, and sums up the outcomes of
 * the others.
 */
export async function endRuns(database: Server, store: Pick<Store, "deleteDocuments">): Promise<void> {
  const due = await database.read((session) =>
    session.query<{ id: number }>(
      `SELECT id FROM ingest_runs AS runs WHERE ended_at IS NULL AND state <> 'reading'
       AND NOT EXISTS (SELECT FROM ingest_documents WHERE run = runs.id AND state = 'waiting')`,
    ),
  );
  for (const { id } of due) await database.transaction((session) => endRun(session, id, store));
}

async function endRun(session: Session, run: number, store: Pick<Store, "deleteDocuments">): Promise<void> {
  const found = await session.query(
    "SELECT FROM ingest_runs WHERE id = $1 AND ended_at IS NULL FOR UPDATE SKIP LOCKED",
    [run],
  );
  if (found.length === 0) return;
  // Locked until these are deleted: who queues one of them again waits, and it is written after that.
  const vanished = await session.query<{ uri: string }>(
    "SELECT uri FROM ingest_documents WHERE run = $1 AND state = 'vanished' ORDER BY uri FOR UPDATE",
    [run],
  );
  const deleted = await store.deleteDocuments(vanished.map(({ uri }) => originalText(uri)));
  await session.query("DELETE FROM ingest_documents WHERE run = $1 AND state = 'vanished'", [run]);
  // Documents that failed stay, for `status` to name them until a later run brings them again.
  await session.query(
    `WITH gone AS (
       DELETE FROM ingest_documents WHERE run = $1 AND state = ANY($2) RETURNING state, chunks, deleted_chunks)
     UPDATE ingest_runs SET
       ended_at = clock_timestamp(),
       state = CASE state WHEN 'working' THEN 'ended' ELSE state END,
       deleted = $3,
       chunks = (SELECT coalesce(sum(chunks), 0) FROM gone),
       deleted_chunks = $4 + (SELECT coalesce(sum(deleted_chunks), 0) FROM gone),
       outcomes = (
         SELECT coalesce(jsonb_object_agg(state, documents), '{}')
         FROM (SELECT state, count(*) AS documents FROM gone GROUP BY state) AS sums)
     WHERE id = $1`,
    [run, finalStates, deleted.documents, deleted.chunks],
  );
}
