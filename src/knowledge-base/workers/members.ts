import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Server, Session } from "../../postgres/server.js";
import { reissueJobs, restoreJobs } from "./jobs.js";
import { loseDocuments } from "./queued-documents.js";

/** A process that works on the queue. */
export interface Member {
  /** Also the name under which it holds jobs. */
  readonly id: string;
  readonly role: "worker" | "reader";
  /** Time without a heartbeat after which the others take it for dead, in milliseconds. */
  readonly deadAfterMs: number;
}

export async function join(session: Session, { id, role, deadAfterMs }: Member): Promise<void> {
  await session.query(
    `INSERT INTO ingest_members (id, role, host, pid, dead_after) VALUES ($1, $2, $3, $4, $5 * interval '1 millisecond')`,
    [id, role, hostname(), process.pid, deadAfterMs],
  );
}

/** Gives back the documents that the member still has, without counting a loss. */
export async function leave(session: Session, jobs: string, id: string): Promise<void> {
  await session.query("UPDATE ingest_documents SET worker = NULL WHERE worker = $1", [id]);
  await reissueJobs(session, jobs, [id]);
  await session.query("DELETE FROM ingest_members WHERE id = $1", [id]);
}

/** Records a heartbeat. Returns false if the others took the member for dead and took over its jobs. */
export async function beat(session: Session, id: string): Promise<boolean> {
  const alive = await session.query(
    `UPDATE ingest_members SET beat_at = clock_timestamp() WHERE id = $1 RETURNING id`,
    [id],
  );
  return alive.length > 0;
}

/**
 * Takes the jobs of dead members away from them, so that others do them. A document that a dead worker held is
 * suspected from then on: it is worked on alone, and quarantined once `maxLosses` workers have died with it.
 *
 * @param jobs the schema of graphile-worker.
 */
export async function buryTheDead(database: Server, jobs: string, deadAfterMs: number): Promise<void> {
  await database.transaction(async (session) => {
    // While the database was unreachable, no member could send a heartbeat.
    const dead = await session.query<{ id: string }>(
      `DELETE FROM ingest_members WHERE id IN (
         SELECT id FROM ingest_members
         WHERE greatest(beat_at, pg_postmaster_start_time()) + dead_after < clock_timestamp()
         FOR UPDATE SKIP LOCKED)
       RETURNING id`,
    );
    // A worker that ended before it joined may have had a job already.
    const strangers = await session.query<{ id: string }>(
      `SELECT DISTINCT locked_by AS id FROM ${jobs}.jobs
       WHERE locked_at + $1 * interval '1 millisecond' < clock_timestamp()
       AND locked_by NOT IN (SELECT id FROM ingest_members)`,
      [deadAfterMs],
    );
    const ids = [...dead, ...strangers].map(({ id }) => id);
    if (ids.length === 0) return;
    await loseDocuments(session, ids);
    await session.query("UPDATE ingest_runs SET state = 'interrupted' WHERE reader = ANY($1) AND state = 'reading'", [
      ids,
    ]);
    await reissueJobs(session, jobs, ids);
  });
}

/** Documents that wait are compared with the jobs at the first heartbeat of a member, and then at every tenth. */
const beatsPerReconciliation = 10;

/** Sends heartbeats until it is stopped, and takes the jobs of members that send none. */
export function keepAlive(
  database: Server,
  jobs: string,
  { id, deadAfterMs }: Member,
  /** Is called after each heartbeat; `alive` is false once the others took this member for dead. */
  onBeat: (alive: boolean) => Promise<void> = async () => {},
): { readonly stop: () => void } {
  const stopping = new AbortController();
  const beatForEver = async () => {
    for (let beats = 0; !stopping.signal.aborted; beats++) {
      // An unreachable database does not end a member: the heartbeat is tried again.
      await beatOnce(beats % beatsPerReconciliation === 0).catch(() => {});
      await sleep(deadAfterMs / 5, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    }
  };
  const beatOnce = async (reconciles: boolean) => {
    const alive = await database.read((session) => beat(session, id));
    await buryTheDead(database, jobs, deadAfterMs);
    if (reconciles) await restoreJobs(database, jobs);
    await onBeat(alive);
  };
  void beatForEver();
  return { stop: () => stopping.abort() };
}
