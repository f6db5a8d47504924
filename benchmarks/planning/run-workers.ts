import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import type { Document } from "../../src/core/types.js";
import { enqueue } from "../../src/knowledge-base/workers/enqueue.js";
import { status } from "../../src/knowledge-base/workers/status.js";
import { openPostgresStore } from "../../src/store/postgres/open-postgres-store.js";
import { crowdEmbedder } from "../../test/support/worker-crowd.js";
import { startWorkerProcess } from "../../test/support/worker-process.js";
import { startFixedLatencyUpstream } from "../shared/fixed-latency-upstream.js";

export interface WorkersOptions {
  /** Address of an empty database. */
  readonly url: string;
  readonly documents: readonly Document[];
  readonly workers: number;
  /** Jobs at once of each worker. Default: 2. */
  readonly concurrency?: number;
  /** Time in which the service answers a request. Default: 1,000. */
  readonly latencyMs?: number;
  /** Length of the vectors. Default: 1,024. */
  readonly dimension?: number;
  /** Limit of all workers together. Default: none. */
  readonly requestsPerMinute?: number;
  /** Share of requests that fail with 500, 0 to below 1. Default: 0. */
  readonly failureShare?: number;
}

export interface WorkersFigures {
  /** Wall time from the start of the processes to the end of the last document. */
  readonly seconds: number;
  /** The part of it until the first worker took a document. */
  readonly startSeconds: number;
  /** CPU time of the worker processes, all threads, without that of the database and the service. */
  readonly cpuSeconds: number;
  readonly chunks: number;
  readonly chunksPerSecond: number;
  /** Requests to the service, those that failed included. */
  readonly requests: number;
}

const command = fileURLToPath(new URL("../../../dist/bin/citewell.js", import.meta.url));
const sayCpu = "data:text/javascript,process.on('exit',()=>console.error('CPU',JSON.stringify(process.cpuUsage())))";

/**
 * Ingests documents by that many whole `citewell work` processes, from a queue that was filled before, against a service in
 * a process of its own that answers after a fixed time. Give every call an empty database of its own.
 *
 * @throws Error when a document did not end as added.
 */
export async function runWorkers(options: WorkersOptions): Promise<WorkersFigures> {
  const { url, documents, workers, concurrency = 2, latencyMs = 1000, dimension = 1024 } = options;
  const { requestsPerMinute, failureShare = 0 } = options;
  const upstream = await startFixedLatencyUpstream(latencyMs, dimension, failureShare);
  const { embedder, close } = crowdEmbedder(upstream);
  const store = await openPostgresStore(url, embedder);
  try {
    await enqueue(documents, { store, embedder });
    const limit = requestsPerMinute === undefined ? [] : ["--requests-per-minute", String(requestsPerMinute)];
    const flags = ["--until-done", "--concurrency", String(concurrency), ...limit];
    const environment = { NODE_OPTIONS: `--import=${sayCpu}` };
    let said = "";
    const startedAt = performance.now();
    const ended = Array.from({ length: workers }, () => {
      const given = { command, url, baseUrl: upstream.baseUrl, flags, environment };
      const child = startWorkerProcess(given, (text) => (said += text));
      return new Promise((resolve) => child.on("close", resolve));
    });
    const since = () => (performance.now() - startedAt) / 1000;
    let startSeconds: number | undefined;
    let now = await status({ store });
    while (!now.isDone) {
      await sleep(50);
      now = await status({ store });
      if (now.documents.waiting < documents.length || now.documents.working > 0) startSeconds ??= since();
    }
    const seconds = since();
    await Promise.all(ended);
    if (now.documents.added !== documents.length) throw new Error(`${JSON.stringify(now.documents)} ${said}`);
    const { chunks } = await store.counts();
    const { requests } = await upstream.counts();
    const used = [...said.matchAll(/^CPU (.*)$/gm)].map(([, json]) => JSON.parse(json!) as NodeJS.CpuUsage);
    const cpuSeconds = used.reduce((sum, { user, system }) => sum + user + system, 0) / 1e6;
    return {
      seconds,
      startSeconds: startSeconds ?? seconds,
      cpuSeconds,
      chunks,
      chunksPerSecond: chunks / seconds,
      requests,
    };
  } finally {
    await store.close();
    await close();
    upstream.close();
  }
}
