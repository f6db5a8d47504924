import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { StoreError } from "../../core/errors.js";
import { observerOption, optionsOf, resolve } from "../../core/options.js";
import { ownSignal } from "../../core/call-options.js";
import { runOptions } from "../../core/pipeline.js";
import type { Embedder, Store } from "../../core/ports.js";
import { usualIngestOptions } from "../ingest.js";
import { doJob, type JobSetting, type WorkedDocument } from "./job.js";
import { runJobs } from "./jobs.js";
import { join, keepAlive, leave } from "./members.js";
import { openQueue, type Queue } from "./queue.js";
import { RateBudget, type RateLimits, withinBudget } from "./rate-budget.js";
import { endRuns } from "./runs.js";
import { isQueueDone } from "./status.js";
import { Turns } from "./turns.js";

export interface WorkOptions<Space extends string = string> extends RateLimits {
  /** The store to fill, as `openPostgresStore` returned it. Its database holds the queue. */
  readonly store: Store<Space>;
  /** Computes the vectors; it needs the space of the store. */
  readonly embedder: Embedder<Space>;
  /** Jobs at once, 1 to 64. Each has up to 16 documents and two embedding requests in flight. Default: 4. */
  readonly concurrency?: number;
  /** Time without a heartbeat after which the other workers take this one for dead, in milliseconds, 1,000 or more. Default: 30,000. */
  readonly deadAfterMs?: number;
  /** How long jobs may go on after the signal, in milliseconds; unfinished jobs are given back. Default: 20,000. */
  readonly drainMs?: number;
  /** End when nothing waits and no source is being read. Default: false, wait for more. */
  readonly untilDone?: boolean;
  /** Ends the worker: it takes no more jobs, finishes those it has or gives them back, and `work` returns. */
  readonly signal?: AbortSignal;
  /** Called with the outcome of each document. */
  readonly onDocument?: (end: WorkedDocument) => void;
}

/** Report of one worker. */
export interface WorkReport {
  /** Number of documents that it finished, by outcome. */
  readonly documents: Readonly<Record<WorkedDocument["outcome"], number>>;
  /** Time from beginning to end. */
  readonly seconds: number;
}

const limit = z.number().min(1).optional();
const workOptions = optionsOf<WorkOptions>()({
  store: usualIngestOptions.shape.store,
  embedder: usualIngestOptions.shape.embedder,
  concurrency: z.int().min(1).max(64).default(4),
  deadAfterMs: z.number().min(1000).default(30_000),
  drainMs: z.number().min(0).default(20_000),
  untilDone: z.boolean().default(false),
  requestsPerMinute: limit,
  tokensPerMinute: limit,
  signal: runOptions.shape.signal,
  onDocument: observerOption<NonNullable<WorkOptions["onDocument"]>>("onDocument").optional(),
});

/** Time before a worker looks for a database again that it could not reach, in milliseconds. */
const reconnectMs = 2000;

/**
 * Takes jobs from the queue of the store's database, one after the other, until `signal` ends it. Any number of workers
 * do so at the same time, on any machines. A worker that is killed loses only its work in flight: the others take its
 * jobs after its heartbeats have stopped. An unreachable database or service is waited for.
 *
 * @throws OptionsError for bad options, `missing-package` without `graphile-worker`; TransportError that is not `retryable`,
 * such as for a refused key, after its jobs were given back.
 * @example
 * ```ts
 * import type { Embedder } from "citewell";
 * import { openPostgresStore, work } from "citewell/postgres";
 * export async function runWorker(embedder: Embedder) {
 *   const stopping = new AbortController();
 *   process.once("SIGTERM", () => stopping.abort());
 *   const store = await openPostgresStore("postgres://localhost/manuals", embedder);
 *   await work({ store, embedder, signal: stopping.signal });
 *   await store.close();
 * }
 * ```
 */
export async function work<Space extends string>(options: WorkOptions<Space>): Promise<WorkReport> {
  const startedAt = performance.now();
  const given = resolve("work", workOptions, options as unknown as WorkOptions);
  const { embedder, signal, requestsPerMinute, tokensPerMinute, onDocument } = given;
  const queue = await openQueue("work", given.store);
  const budget = new RateBudget(queue.database, embedder.space);
  await budget.limit({ requestsPerMinute, tokensPerMinute });
  const documents = { added: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 };
  const setting = {
    ...queue,
    embedder: withinBudget(embedder, budget),
    turns: new Turns(),
    onEnd: (end: WorkedDocument) => {
      documents[end.outcome]++;
      onDocument?.(end);
    },
  };
  const own = ownSignal(signal);
  try {
    while (!own.signal.aborted) {
      await workAsMember(setting, given, own).catch(async (error: unknown) => {
        if (!(error instanceof StoreError && error.code === "unavailable")) throw error;
        await sleep(reconnectMs, undefined, { signal: own.signal }).catch(() => {});
      });
    }
  } finally {
    own.end();
  }
  return { documents, seconds: (performance.now() - startedAt) / 1000 };
}

type Setting = Omit<JobSetting, "worker"> & Queue;

/** Works under one name, until it ends, is taken for dead, or loses the database for good. */
async function workAsMember(
  setting: Setting,
  { concurrency, deadAfterMs, drainMs, untilDone }: z.output<typeof workOptions>,
  worker: { readonly signal: AbortSignal; readonly end: (reason?: unknown) => void },
): Promise<void> {
  const { database, jobs, url, store } = setting;
  const lost = new AbortController();
  let member: { readonly id: string; readonly heart: { readonly stop: () => void } } | undefined;
  let failure: { readonly thrown: unknown } | undefined;
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  const endWhatIsDone = async () => {
    await endRuns(database, store);
    if (untilDone && (await database.read(isQueueDone))) worker.end(new Error("The queue is empty"));
  };
  const onBeat = async (alive: boolean) => {
    if (!alive) {
      lost.abort(new Error("The other workers took this one for dead"));
      stop();
      return;
    }
    await endWhatIsDone();
  };
  const stopped = once(AbortSignal.any([worker.signal, stopping.signal]), "abort");
  const runner = await runJobs({
    url,
    schema: jobs,
    isPooled: await database.isPooled(),
    concurrency,
    drainMs,
    onStart: async (id) => {
      const own = { id, role: "worker" as const, deadAfterMs };
      await database.transaction((session) => join(session, own));
      member = { id, heart: keepAlive(database, jobs, own, onBeat) };
    },
    run: async (batch, ending) => {
      const signal = AbortSignal.any([ending, lost.signal]);
      await doJob(batch, { ...setting, worker: member!.id }, signal).catch((thrown: unknown) => {
        failure ??= { thrown };
        stop();
        // A job that returned would be taken for done, and its documents would wait without one.
        throw thrown;
      });
      await endWhatIsDone();
    },
  });
  await Promise.race([stopped, runner.ended]);
  await runner.stop();
  await runner.ended;
  member?.heart.stop();
  if (member) await database.transaction((session) => leave(session, jobs, member!.id)).catch(() => {});
  if (failure) throw failure.thrown;
}
