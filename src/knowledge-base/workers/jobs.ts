import { EventEmitter } from "node:events";
import type { Logger, Runner, WorkerEvents } from "graphile-worker";
import { missingPeer } from "../../core/errors.js";
import { asStoreError } from "../../store/postgres/connection/failures.js";
import { type Session, withoutPassword } from "../../store/postgres/connection/server.js";

const task = "citewell_ingest";

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
 * Adds a job for a batch of documents in the session's transaction, in place of one that waits for the same batch. One that
 * is at work on it goes on and is not repeated.
 */
export async function addJob(session: Session, schema: string, batch: number, delayMs = 0): Promise<void> {
  // Whoever gives up on a document is the queue, which knows why it failed. A job is given up only with its batch.
  await session.query(
    `SELECT FROM ${schema}.add_job($1, json_build_object('batch', $2::bigint), job_key := 'batch-' || $2,
       run_at := clock_timestamp() + $3 * interval '1 millisecond', max_attempts := 32767)`,
    [task, batch, delayMs],
  );
}

/** Frees the jobs that these workers had taken. */
export async function unlockJobs(session: Session, schema: string, workers: readonly string[]): Promise<void> {
  await session.query(`SELECT ${schema}.force_unlock_workers($1)`, [workers]);
}

export interface JobRunnerOptions {
  readonly url: string;
  /** Schema of graphile-worker, quoted where needed. */
  readonly schema: string;
  /** Jobs at once. */
  readonly concurrency: number;
  /** How long `stop` waits for jobs before it aborts them, in milliseconds. */
  readonly drainMs: number;
  /** Does the job of a batch. Throws only where the database could not be told what became of it. */
  readonly run: (batch: number, signal: AbortSignal) => Promise<void>;
  /** Is called with the name under which this runner holds its jobs, before it takes the first. */
  readonly onStart: (id: string) => Promise<void>;
}

export interface JobRunner {
  /** Takes no more jobs, and ends when those at work have ended. */
  readonly stop: () => Promise<void>;
  /** Is fulfilled when the runner has ended, whoever ended it. */
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
