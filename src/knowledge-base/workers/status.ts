import { optionsOf, resolve } from "../../core/options.js";
import type { Store } from "../../core/ports.js";
import type { Session } from "../../postgres/server.js";
import { originalText } from "../../postgres/column-text.js";
import { usualIngestOptions } from "../ingest.js";
import { queueOf } from "./queue.js";
import { restoreJobs } from "./jobs.js";
import { queueVersion } from "./queue-tables.js";

/** Progress of the workers, and outcomes of the documents. */
export interface IngestStatus {
  /** Whether nothing waits and no source is being read. */
  readonly isDone: boolean;
  /** Documents of the runs that have not ended, or of the last one if all have; failures of earlier runs as well. */
  readonly documents: {
    /** Queued, and not ended. */
    readonly waiting: number;
    /** Waiting documents that a worker has now. */
    readonly working: number;
    /** Waiting documents that are tried again later, since the service failed. */
    readonly retrying: number;
    /** Stored for the first time. */
    readonly added: number;
    /** Stored in place of an earlier version. */
    readonly updated: number;
    /** Found unchanged in the store, by the reader or a worker. */
    readonly unchanged: number;
    /** Gone from their source, and deleted when the run ended. */
    readonly deleted: number;
    /** Gone from their source, and not deleted yet. */
    readonly vanished: number;
    /** Refused, or tried in vain for too long. */
    readonly failed: number;
    /** In quarantine, since one worker after the other died with them. */
    readonly quarantined: number;
  };
  /** Chunks that were embedded in these runs, with tokens and calls, as far as their jobs have ended. */
  readonly spent: {
    /** Number of chunks that were embedded. */
    readonly embedded: number;
    /** Tokens, as the service counted them. */
    readonly tokens: number;
    /** Number of embedding requests. */
    readonly requests: number;
  };
  /** Documents that ended in a second: over the last minute, or since workers began with the runs that go on. */
  readonly documentsPerSecond: number;
  /** Estimated from that; undefined until it is measured over a minute, or over half as many documents as are at work. */
  readonly secondsLeft: number | undefined;
  /** Processes that take part. */
  readonly members: readonly {
    /** `reader`: a process that reads a source into the queue. */
    readonly role: "worker" | "reader";
    /** Name of its machine. */
    readonly host: string;
    /** Number of its process there. */
    readonly pid: number;
    /** Documents that it has now. */
    readonly documents: number;
    /** Time since its last heartbeat. */
    readonly silentSeconds: number;
  }[];
  /** Documents that failed or are in quarantine, in the order of their uris: the first 1,000. */
  readonly failures: readonly {
    /** Address of the document. */
    readonly uri: string;
    /** State of the document. */
    readonly state: "failed" | "quarantined";
    /** Message of the last error. */
    readonly error: string;
  }[];
  /** Runs whose source was not read to its end, so that nothing of theirs is deleted: the source has to be read again. */
  readonly interruptedRuns: number;
}

const nothing = {
  waiting: 0,
  working: 0,
  retrying: 0,
  added: 0,
  updated: 0,
  unchanged: 0,
  deleted: 0,
  vanished: 0,
  failed: 0,
  quarantined: 0,
};

export interface StatusOptions {
  /** The store that the workers fill, as `openPostgresStore` returned it. */
  readonly store: Store;
}

const statusOptions = optionsOf<StatusOptions>()({ store: usualIngestOptions.shape.store });

/**
 * Tells how far the workers of a store are. Documents that wait without a job, should there be any, get one again.
 *
 * @example
 * ```ts
 * import type { Store } from "citewell";
 * import { status } from "citewell/postgres";
 * export async function waitingDocuments(store: Store) {
 *   const { documents } = await status({ store });
 *   return documents.waiting + documents.working + documents.retrying;
 * }
 * ```
 */
export async function status(options: StatusOptions): Promise<IngestStatus> {
  const { database, jobs, schema } = queueOf("status", resolve("status", statusOptions, options).store);
  if ((await database.read((session) => queueVersion(session, schema, database.location))) > 0) {
    await restoreJobs(database, jobs);
    return database.snapshot(readStatus);
  }
  return {
    isDone: true,
    documents: nothing,
    spent: { embedded: 0, tokens: 0, requests: 0 },
    documentsPerSecond: 0,
    secondsLeft: undefined,
    members: [],
    failures: [],
    interruptedRuns: 0,
  };
}

/** Whether nothing waits and no source is being read. @internal */
export async function isQueueDone(session: Session): Promise<boolean> {
  const [row] = await session.query<{ done: boolean }>(
    "SELECT NOT EXISTS (SELECT FROM ingest_runs WHERE ended_at IS NULL) AS done",
  );
  return row!.done;
}

interface Run {
  readonly state: string;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly reading: Readonly<Record<string, number>>;
  readonly deleted: number;
  readonly embedded: number;
  readonly tokens: number;
  readonly requests: number;
}

async function readStatus(session: Session): Promise<IngestStatus> {
  const runs = await session.query<Run>(
    `SELECT state, outcomes, reading, deleted, embedded, tokens, requests FROM ingest_runs
     WHERE ended_at IS NULL OR id = (SELECT max(id) FROM ingest_runs)`,
  );
  const states = await session.query<{ state: string; count: number }>(
    "SELECT state, count(*) FROM ingest_documents GROUP BY state",
  );
  const [now] = await session.query<{ working: number; retrying: number; recent: number; seconds: number }>(
    `WITH measured AS MATERIALIZED (
       SELECT greatest(
         clock_timestamp() - interval '1 minute',
         (SELECT min(begun_at) FROM ingest_runs WHERE ended_at IS NULL),
         (SELECT min(joined_at) FROM ingest_members WHERE role = 'worker')) AS since)
     SELECT count(*) FILTER (WHERE state = 'waiting' AND worker IS NOT NULL) AS working,
            count(*) FILTER (WHERE state = 'waiting' AND worker IS NULL AND attempts > 0) AS retrying,
            count(*) FILTER (WHERE ended_at > (SELECT since FROM measured)) AS recent,
            (SELECT extract(epoch FROM clock_timestamp() - since)::float8 FROM measured) AS seconds
     FROM ingest_documents`,
  );
  const members = await session.query<IngestStatus["members"][number]>(
    `SELECT role, host, pid,
       (SELECT count(*) FROM ingest_documents WHERE worker = members.id) AS documents,
       extract(epoch FROM clock_timestamp() - beat_at)::float8 AS "silentSeconds"
     FROM ingest_members AS members ORDER BY joined_at`,
  );
  const failures = await session.query<IngestStatus["failures"][number]>(
    `SELECT uri, state, coalesce(error, '') AS error FROM ingest_documents
     WHERE state IN ('failed', 'quarantined') ORDER BY uri LIMIT 1000`,
  );
  const documents: Record<keyof typeof nothing, number> = {
    ...nothing,
    working: now!.working,
    retrying: now!.retrying,
  };
  const add = (counts: Readonly<Record<string, number>>) => {
    for (const [name, count] of Object.entries(counts)) if (name in documents) documents[name as "added"] += count;
  };
  for (const { outcomes, reading, deleted } of runs) {
    add(outcomes);
    add({ unchanged: reading["unchanged"] ?? 0, failed: reading["failed"] ?? 0, deleted });
  }
  for (const { state, count } of states) add({ [state]: count });
  const sum = (name: "embedded" | "tokens" | "requests") => runs.reduce((total, run) => total + run[name], 0);
  // A run that began ten seconds ago is measured by these, not by a minute.
  const documentsPerSecond = now!.recent / Math.max(1, now!.seconds);
  // Workers begin many documents at once, and the first of them to end say nothing about the others yet.
  const isMeasured = now!.recent > 0 && (now!.recent >= now!.working / 2 || now!.seconds >= 59);
  return {
    isDone: await isQueueDone(session),
    documents,
    spent: { embedded: sum("embedded"), tokens: sum("tokens"), requests: sum("requests") },
    documentsPerSecond,
    secondsLeft: isMeasured ? documents.waiting / documentsPerSecond : undefined,
    members,
    failures: failures.map(({ uri, state, error }) => ({
      uri: originalText(uri),
      state,
      error: originalText(error),
    })),
    interruptedRuns: runs.filter(({ state }) => state === "interrupted").length,
  };
}
