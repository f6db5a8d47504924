import { EventEmitter } from "node:events";
import type { Logger, Runner, WorkerEvents } from "graphile-worker";
import { missingPeer } from "../../core/errors.js";
import { asStoreError } from "../../postgres/failures.js";
import { type Server, type Session, withoutPassword } from "../../postgres/server.js";

const task = "citewell_ingest";
/** A job's key is this and the number of its batch, so that a batch has one job. */
const keyPrefix = "batch-";

/** Jobs are taken up by a notification; those that come due are looked for so often, in milliseconds. */
const pollIntervalMs = 1000;

/**
 * Creates or upgrades the tables of graphile-worker in `schema`.
 *
 * @throws StoreError as the store does, `unavailable` when the database is away.
 */
export async function createJobTables(url: string, schema: string): Promise<void> {
  const { runMigrations } = await loadGraphileWorker();
  await runMigrations({ connectionString: url, schema, logger: await silentLogger() }).catch(failure(url));
}

/**
 * Makes graphile-worker's list of its migrations where an administrator made its schema. It would otherwise ask for the right to
 * create schemas: https://worker.graphile.org/docs/schema
 */
export async function prepareJobSchema(session: Session, schema: string): Promise<void> {
  const [found] = await session.query<{ isEmpty: boolean }>(
    `SELECT to_regnamespace($1) IS NOT NULL AND to_regclass($1 || '.migrations') IS NULL AS "isEmpty"`,
    [schema],
  );
  if (!found!.isEmpty) return;
  await session.query(
    `CREATE TABLE IF NOT EXISTS ${schema}.migrations (
       id int PRIMARY KEY, ts timestamptz NOT NULL DEFAULT now(), breaking boolean NOT NULL DEFAULT false)`,
  );
}

/**
 * Adds a job for a batch of documents in the session's transaction, in place of a waiting job for the same batch. A
 * running job for it continues and is not repeated.
 */
export async function addJob(session: Session, schema: string, batch: number, delayMs = 0): Promise<void> {
  // The queue gives up on documents, since it knows why they failed. A job is given up only with its batch.
  await session.query(
    `SELECT FROM ${schema}.add_job($1, json_build_object('batch', $2::bigint), job_key := $4 || $2,
       run_at := clock_timestamp() + $3 * interval '1 millisecond', max_attempts := 32767)`,
    [task, batch, delayMs, keyPrefix],
  );
}

/**
 * Frees the jobs that these workers had taken, each as a new job. graphile-worker ends a job by its id, regardless of
 * its holder: a worker that was only paused would otherwise end a job that another has taken over, and its documents
 * would wait for ever.
 */
export async function reissueJobs(session: Session, schema: string, workers: readonly string[]): Promise<void> {
  const taken = await session.query<{ key: string | null }>(
    `SELECT key FROM ${schema}.jobs WHERE locked_by = ANY($1) AND task_identifier = $2`,
    [workers, task],
  );
  await session.query(`SELECT ${schema}.force_unlock_workers($1)`, [workers]);
  // A job without a key was replaced by another one for the same batch while it was at work.
  for (const { key } of taken) {
    if (key === null) continue;
    await session.query(`SELECT ${schema}.remove_job($1)`, [key]);
    await addJob(session, schema, Number(key.slice(keyPrefix.length)));
  }
}

/** Batches with documents that wait, and without a job, so that no worker would ever take them. */
export async function strandedBatches(session: Session, schema: string): Promise<number[]> {
  const rows = await session.query<{ batch: number }>(
    `SELECT DISTINCT batch FROM ingest_documents WHERE state = 'waiting'
     AND NOT EXISTS (SELECT FROM ${schema}.jobs WHERE key = $1 || batch)`,
    [keyPrefix],
  );
  return rows.map(({ batch }) => batch);
}

/** Gives every stranded batch a job again. Its documents are freed: their former worker has no job to end them with. */
export async function restoreJobs(database: Server, schema: string): Promise<void> {
  if ((await database.read((session) => strandedBatches(session, schema))).length === 0) return;
  await database.transaction(async (session) => {
    // Processes that notice the same at the same time restore one after the other.
    await session.query("SELECT pg_advisory_xact_lock(hashtextextended('citewell jobs ' || current_schema(), 0))");
    for (const batch of await strandedBatches(session, schema)) {
      await session.query("UPDATE ingest_documents SET worker = NULL WHERE batch = $1 AND state = 'waiting'", [batch]);
      await addJob(session, schema, batch);
    }
  });
}

export interface JobRunnerOptions {
  readonly url: string;
  /** Schema of graphile-worker, quoted where needed. */
  readonly schema: string;
  /** Whether a pooler is between, where statements that are kept in a session would be met by others, or not again. */
  readonly isPooled: boolean;
  /** Maximum number of jobs under way at the same time. */
  readonly concurrency: number;
  /** How long `stop` waits for jobs before it aborts them, in milliseconds. */
  readonly drainMs: number;
  /** Does the job of a batch. Throws if its outcome could not be written to the database: the job then comes back. */
  readonly run: (batch: number, signal: AbortSignal) => Promise<void>;
  /** Is called with the name under which this runner holds its jobs, before it takes the first. */
  readonly onStart: (id: string) => Promise<void>;
}

export interface JobRunner {
  /** Takes no more jobs, and ends when those at work have ended. */
  readonly stop: () => Promise<void>;
  /** Resolves when the runner has ended, for whatever reason. */
  readonly ended: Promise<void>;
}

/**
 * Takes jobs until it is stopped, or until graphile-worker gives up on the database.
 *
 * @throws StoreError as the store does, `unavailable` when the database is away at the start.
 */
export async function runJobs({
  url,
  schema,
  isPooled,
  concurrency,
  drainMs,
  run,
  onStart,
}: JobRunnerOptions): Promise<JobRunner> {
  const { run: start } = await loadGraphileWorker();
  const events = new EventEmitter() as WorkerEvents;
  let started: Promise<void> | undefined;
  events.once("pool:create", ({ workerPool }) => {
    started = onStart(workerPool.id);
    started.catch(() => {});
  });
  const runner: Runner = await start({
    connectionString: url,
    maxPoolSize: concurrency + 2,
    schema,
    pollInterval: pollIntervalMs,
    noHandleSignals: true,
    logger: await silentLogger(),
    events,
    // Ends of jobs that the database could not be told are told it again.
    preset: {
      worker: {
        concurrentJobs: concurrency,
        preparedStatements: !isPooled,
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
        gracefulShutdownAbortTimeout: drainMs,
      },
    },
    taskList: {
      [task]: async (payload, { abortSignal }) => {
        await started;
        await run((payload as { batch: number }).batch, abortSignal);
      },
    },
  }).catch(failure(url));
  const ended = runner.promise.catch(() => {});
  return { stop: () => runner.stop().catch(() => ended), ended };
}

/** Throws what graphile-worker threw as an error of the store, which tells a database that comes back from other failures. */
function failure(url: string): (thrown: unknown) => never {
  return (thrown) => {
    throw asStoreError(withoutPassword(url), thrown);
  };
}

async function silentLogger(): Promise<Logger> {
  const { Logger } = await loadGraphileWorker();
  return new Logger(() => () => {});
}

/** @throws OptionsError `missing-package` when it is not installed. */
function loadGraphileWorker(): Promise<typeof import("graphile-worker")> {
  return import("graphile-worker").catch(missingPeer("Ingesting by workers", "graphile-worker", "0.17"));
}
