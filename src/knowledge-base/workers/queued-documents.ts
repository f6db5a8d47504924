import { createHash } from "node:crypto";
import type { Document } from "../../core/types.js";
import { columnText, originalText } from "../../postgres/column-text.js";
import type { Session } from "../../postgres/server.js";
import { addJob } from "./jobs.js";

/** A document on its way to a worker. */
export interface QueuedDocument {
  readonly document: Document;
  /** The reader's note about the file, which the store keeps once the document is stored; see `RunMemory`. */
  readonly note?: string | undefined;
}

/** A document in the hands of a worker. */
export interface ClaimedDocument extends QueuedDocument {
  /** Names this version in the queue. */
  readonly id: number;
}

/** The final outcome of a document. */
export interface DocumentEnd {
  readonly id: number;
  readonly state: "added" | "updated" | "unchanged" | "skipped" | "failed";
  readonly chunks?: number;
  readonly deletedChunks?: number;
  readonly error?: string;
}

/** How often a document may take its worker with it before it is left alone. */
export const maxLosses = 5;

/**
 * How many documents a job may hold that were lost with a worker so often. Most are innocent: so a poison document is looked
 * for among fewer each time, and not among all one by one. From two losses on, it has its worker to itself as well.
 */
const maxSuspects = [Infinity, 4, 1];
const lossesAlone = maxSuspects.length - 1;

/** How often the service may fail at a document before it fails. */
const maxAttempts = 20;

/** Each time a document has failed so often more, it is tried with fewer others, so that it does not hold them up. */
const attemptsTogether = 5;

/** The documents belong to another worker now: a newer version was queued, or the others took this worker for dead. */
export class ClaimLost extends Error {
  constructor() {
    super("The documents were taken over by another worker, or replaced by newer versions");
  }
}

/**
 * Queues documents as one job. A document that already waits in this version keeps its place, and so does one in
 * quarantine unless `retryQuarantined`.
 *
 * @returns how many were queued, waited already, and stay in quarantine.
 */
export async function queueDocuments(
  session: Session,
  { jobs, run, retryQuarantined }: { readonly jobs: string; readonly run: number; readonly retryQuarantined: boolean },
  batch: readonly QueuedDocument[],
): Promise<{ readonly queued: number; readonly quarantined: number }> {
  const given = batch.map((sent) => {
    const content = Buffer.from(JSON.stringify(sent));
    const digest = createHash("sha256").update(content).digest();
    return { uri: columnText(sent.document.uri), source: sent.document.source, content, digest };
  });
  const there = await session.query<{ uri: string; digest: Buffer | null; state: string }>(
    "SELECT uri, digest, state FROM ingest_documents WHERE uri = ANY($1) ORDER BY uri FOR UPDATE",
    [given.map(({ uri }) => uri)],
  );
  const stays = new Map(
    there
      .filter(({ state }) => state === "waiting" || (state === "quarantined" && !retryQuarantined))
      .map(({ uri, digest, state }) => [uri, { digest, state }]),
  );
  const isKept = ({ uri, digest }: (typeof given)[number]) => stays.get(uri)?.digest?.equals(digest) === true;
  const kept = given.filter(isKept);
  await session.query("UPDATE ingest_documents SET run = $1 WHERE uri = ANY($2)", [run, kept.map(({ uri }) => uri)]);
  const fresh = given.filter((prepared) => !isKept(prepared));
  const quarantined = kept.filter(({ uri }) => stays.get(uri)!.state === "quarantined").length;
  if (fresh.length === 0) return { queued: kept.length - quarantined, quarantined };
  await session.query("DELETE FROM ingest_documents WHERE uri = ANY($1)", [fresh.map(({ uri }) => uri)]);
  const number = await nextBatch(session);
  await session.query(
    `INSERT INTO ingest_documents (run, batch, state, uri, source, digest, content)
     SELECT $1, $2, 'waiting', * FROM unnest($3::text[], $4::text[], $5::bytea[], $6::bytea[])`,
    [
      run,
      number,
      fresh.map(({ uri }) => uri),
      fresh.map(({ source }) => (source === undefined ? null : columnText(source))),
      fresh.map(({ digest }) => digest),
      fresh.map(({ content }) => content),
    ],
  );
  await addJob(session, jobs, number);
  return { queued: batch.length - quarantined, quarantined };
}

/** Which of these documents are in the queue, to be written or deleted. */
export async function pendingOf(session: Session, uris: readonly string[]): Promise<Set<string>> {
  const rows = await session.query<{ uri: string }>(
    "SELECT uri FROM ingest_documents WHERE uri = ANY($1) AND state IN ('waiting', 'vanished')",
    [uris.map(columnText)],
  );
  return new Set(rows.map(({ uri }) => originalText(uri)));
}

/** Documents that may never have been stored, for a reader to find out which of them have vanished. */
export async function unstoredDocuments(
  session: Session,
): Promise<{ readonly uri: string; readonly source?: string }[]> {
  const rows = await session.query<{ uri: string; source: string | null }>(
    "SELECT uri, source FROM ingest_documents WHERE state IN ('waiting', 'failed', 'quarantined')",
  );
  return rows.map(({ uri, source }) => ({
    uri: originalText(uri),
    ...(source !== null && { source: originalText(source) }),
  }));
}

/** Tells a worker how to proceed with a batch. */
export type Claim =
  /** Its documents are this worker's. */
  | { readonly documents: readonly ClaimedDocument[]; readonly run: number }
  /** It must have its worker to itself, which has to ask again for it when it does nothing else. */
  | "alone"
  /** There is nothing to do: its documents have ended, or were queued again as jobs of their own. */
  | "nothing";

/**
 * Assigns the waiting documents of a batch to a worker. If too many for one job are suspected, they become smaller
 * jobs, so that a poison document takes fewer others with it each time, and none in the end.
 *
 * @param alone whether the worker does nothing else at the same time.
 */
export async function claim(
  session: Session,
  {
    jobs,
    batch,
    worker,
    alone,
  }: { readonly jobs: string; readonly batch: number; readonly worker: string; readonly alone: boolean },
): Promise<Claim> {
  const rows = await session.query<{ id: number; run: number; content: Buffer; losses: number; attempts: number }>(
    `SELECT id, run, content, losses, attempts FROM ingest_documents
     WHERE batch = $1 AND state = 'waiting' ORDER BY id FOR UPDATE`,
    [batch],
  );
  if (rows.length === 0) return "nothing";
  const losses = Math.max(...rows.map((row) => row.losses));
  const attempts = Math.max(...rows.map((row) => row.attempts));
  const maxTogether = maxSuspects[Math.max(losses, Math.floor(attempts / attemptsTogether))] ?? 1;
  if (rows.length > maxTogether) {
    for (let offset = 0; offset < rows.length; offset += maxTogether) {
      const ids = rows.slice(offset, offset + maxTogether).map(({ id }) => id);
      const own = await nextBatch(session);
      await session.query("UPDATE ingest_documents SET batch = $1, worker = NULL WHERE id = ANY($2)", [own, ids]);
      await addJob(session, jobs, own);
    }
    return "nothing";
  }
  if (losses >= lossesAlone && !alone) return "alone";
  await session.query("UPDATE ingest_documents SET worker = $1 WHERE id = ANY($2)", [worker, rows.map(({ id }) => id)]);
  return {
    documents: rows.map(({ id, content }) => ({ id, ...(JSON.parse(content.toString()) as QueuedDocument) })),
    run: rows[0]!.run,
  };
}

/**
 * Notes the outcomes of documents, in the transaction that writes them, so that each effect happens once.
 *
 * @throws ClaimLost unless the worker still has every one of them.
 */
export async function endDocuments(session: Session, worker: string, ends: readonly DocumentEnd[]): Promise<void> {
  const ended = await session.query(
    `UPDATE ingest_documents AS documents SET
       state = ends.state, chunks = ends.chunks, deleted_chunks = ends.deleted_chunks, error = ends.error,
       content = NULL, worker = NULL, ended_at = clock_timestamp()
     FROM unnest($2::bigint[], $3::text[], $4::integer[], $5::integer[], $6::text[])
       AS ends (id, state, chunks, deleted_chunks, error)
     WHERE documents.id = ends.id AND documents.worker = $1 AND documents.state = 'waiting'
     RETURNING documents.id`,
    [
      worker,
      ends.map(({ id }) => id),
      ends.map(({ state }) => state),
      ends.map(({ chunks = 0 }) => chunks),
      ends.map(({ deletedChunks = 0 }) => deletedChunks),
      ends.map(({ error }) => (error === undefined ? null : columnText(error))),
    ],
  );
  if (ended.length !== ends.length) throw new ClaimLost();
}

/** Why a worker gives documents back. */
export type GivenBack =
  /** The worker ends, or has lost some of them: no failure is counted. */
  | { readonly because: "ending" }
  /** The service or the database failed; it is tried again, later each time. */
  | { readonly because: "failure"; readonly error: string }
  /** It failed for an unknown reason: it counts as if the worker had died. */
  | { readonly because: "defect"; readonly error: string };

/** Milliseconds before a document is tried again that has failed `attempts` times: twice as long each time, 5 minutes at most. */
export function retryDelayMs(attempts: number): number {
  return Math.min(300_000, 1000 * 2 ** (attempts - 1));
}

/** Gives back a worker's unfinished documents of a batch, as a job for later. */
export async function giveBack(
  session: Session,
  { jobs, batch, worker }: { readonly jobs: string; readonly batch: number; readonly worker: string },
  why: GivenBack,
): Promise<void> {
  const [failures, losses] = [why.because === "failure" ? 1 : 0, why.because === "defect" ? 1 : 0];
  const rows = await session.query<{ attempts: number; state: string }>(
    `UPDATE ingest_documents AS documents SET
       worker = NULL,
       attempts = attempts + $3,
       losses = losses + $4,
       error = coalesce($5, error),
       state = CASE WHEN attempts + $3 >= $6 THEN 'failed' WHEN losses + $4 >= $7 THEN 'quarantined' ELSE state END,
       content = CASE WHEN attempts + $3 >= $6 OR losses + $4 >= $7 THEN NULL ELSE content END,
       ended_at = CASE WHEN attempts + $3 >= $6 OR losses + $4 >= $7 THEN clock_timestamp() END
     WHERE batch = $1 AND worker = $2 AND state = 'waiting'
     RETURNING attempts, state`,
    [batch, worker, failures, losses, "error" in why ? columnText(why.error) : null, maxAttempts, maxLosses],
  );
  const waiting = rows.filter(({ state }) => state === "waiting");
  if (waiting.length === 0) return;
  const attempts = Math.max(...waiting.map((job) => job.attempts));
  await addJob(session, jobs, batch, why.because === "failure" ? retryDelayMs(attempts) : 0);
}

/** Counts the loss of a dead worker against its documents, and frees them. */
export async function loseDocuments(session: Session, workers: readonly string[]): Promise<void> {
  await session.query(
    `UPDATE ingest_documents SET
       worker = NULL,
       losses = losses + 1,
       error = format('the worker ended while it had this document, %s times by now', losses + 1),
       state = CASE WHEN losses + 1 >= $2 THEN 'quarantined' ELSE state END,
       content = CASE WHEN losses + 1 >= $2 THEN NULL ELSE content END,
       ended_at = CASE WHEN losses + 1 >= $2 THEN clock_timestamp() END
     WHERE worker = ANY($1) AND state = 'waiting'`,
    [workers, maxLosses],
  );
}

async function nextBatch(session: Session): Promise<number> {
  const [row] = await session.query<{ number: number }>("SELECT nextval('ingest_batches') AS number");
  return row!.number;
}
