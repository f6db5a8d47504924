import pg from "pg";
import { crowdDocuments } from "../test/support/worker-crowd.js";
import { query as queryServer, startCitus } from "../test/support/citus-cluster.js";
import { noCitus, noPostgres, startPostgres } from "../test/support/postgres-server.js";
import { aimsOf } from "./aims.js";
import { runWorkers, type WorkersFigures } from "./planning/run-workers.js";
import { simulateIngest } from "./planning/simulate-ingest.js";
import type { Benchmark, Contender, Measures, RunContext, Size } from "./runner/benchmark.js";
import type { OpenScaled } from "./scale/scaled-store.js";
import { scaledStores } from "./scale/stores.js";
import { type Asked, madeCorpus } from "./shared/made-corpus.js";
import { percentile } from "./shared/percentile.js";

const count = 10;
const warmUps = 20;
/** Setting of the workers: concurrent jobs of each, concurrent requests of a job, and the latency of a request. */
const [concurrency, requestsOfJob, latencyMs] = [2, 2, 1000];
const filters = { "50 %": { half: 1 }, "1 %": { hundredth: 7 }, "0.01 %": { tenThousandth: 7 } } as const;

/** A store that is written and asked, or as many worker processes that ingest from a queue. */
type Scaled = OpenScaled | { readonly workers: number };

interface Given {
  /** Address of the single server. */
  readonly url: string;
  /** Address of the coordinator; empty without Citus. */
  readonly cluster: string;
  /** Figures of one worker when the service answers at once. */
  readonly atOnce?: WorkersFigures;
}

export const benchmark: Benchmark<Scaled, Given> = {
  name: "scale",
  question: "What does a store on PostgreSQL add to the statements that it needs?",
  method:
    "One PostgreSQL server with pgvector, and a Citus cluster of a coordinator and three workers with 12 shards, all on this machine, made chunks written a hundred at a time into tables that have their graph from the start, " +
    "ours from the end of a first load of 5,000 to 20,000 chunks (m 16, 100 candidates while building); closing our stores, which makes it, and " +
    "opening them again is part of the time to write. Then `VACUUM ANALYZE`, and queries one after another, ten nearest. Bare SQL keeps " +
    "id, metadata, vector and a tsvector: no texts, no check of anything. It finds words by `ts_rank`, and both by the statement of pgvector's " +
    "documentation that fuses ranks. Bare SQL, BM25 asks the tables that ours wrote: the nearest, BM25 of all chunks with a word, or both in one " +
    "statement, on the single server and on the cluster, whose nodes have our settings of searches. Searches of both are prepared statements, as ours are. Ours remembers how many chunks have a word while nobody writes. PGVectorStore keeps no words, and has a graph " +
    "only where it is asked for one; with its server's default it looks at 40 candidates where the others look at 200. Short are filtered queries " +
    "with fewer than ten results although there are as many. CPU is that of the client. Workers are whole `citewell work` processes that take " +
    "`documents` short documents from a queue on the first server, each with four requests at once to a service that answers after a second; their " +
    "rate counts from their start. Beside it stands what the simulation foretells that plans are made with: it knows only how long one worker took to " +
    "start, and for a request of a service that answers at once, and its workers share no cores, as these and their database do.",
  contenders: [...scaledStores, ...[1, 2, 4].map(byWorkers)],
  beside: "bare SQL",
  measures: {
    written: { unit: "chunks/s", better: "higher" },
    "ingested by workers": { unit: "chunks/s", better: "higher" },
    simulated: { unit: "chunks/s", better: "higher" },
    "without waiting": { unit: "chunks/s", better: "higher" },
    "dense p50": { unit: "ms", better: "lower" },
    "dense p99": { unit: "ms", better: "lower" },
    "words p50": { unit: "ms", better: "lower" },
    "words p99": { unit: "ms", better: "lower" },
    "both p50": { unit: "ms", better: "lower" },
    "both p99": { unit: "ms", better: "lower" },
    ...Object.fromEntries(
      Object.keys(filters).flatMap((share) => [
        [`filter of ${share} p50`, { unit: "ms", better: "lower" } as const],
        [`filter of ${share}, short`, { unit: "queries", better: "lower" } as const],
      ]),
    ),
  },
  sizes: {
    smoke: { chunks: 200, dimension: 16, queries: 10, documents: 10 },
    usual: { chunks: 6000, dimension: 384, queries: 200, documents: 1000 },
  },
  rounds: 3,
  aims: aimsOf("scale"),
  unavailable: () => noPostgres,
  prepare: prepareServers,
  measure: measureStore,
};

function byWorkers(processes: number): Contender<Scaled> {
  return {
    name: `citewell, ${processes} ${processes === 1 ? "worker" : "workers"}`,
    kind: "citewell",
    load: async () => ({ workers: processes }),
  };
}

async function measureStore(scaled: Scaled, context: RunContext<Given>) {
  const { size, given, timed } = context;
  if (typeof scaled === "object") return measureWorkers(scaled.workers, context);
  const open = scaled;
  const { chunks = 0, dimension = 0, queries = 0 } = size;
  const corpus = madeCorpus(chunks, dimension, queries);
  const name = `r${process.pid}`;
  const { url, cluster } = given;
  const store = await open({ url, cluster, dimension, name });
  try {
    const writes = [...corpus.writes(chunks)];
    const { wallSeconds } = await timed(async () => {
      for (const write of writes) await store.write(write);
      await store.finishLoad?.();
    });
    for (const address of [url, cluster]) if (address !== "") await vacuum(address);
    const measures: Record<string, number> = { written: chunks / wallSeconds };
    const durations = async (ask: (query: Asked) => Promise<unknown>) => {
      const taken: number[] = [];
      for (const query of corpus.queries.slice(0, warmUps)) await ask(query);
      await timed(async () => {
        for (const query of corpus.queries) {
          const startedAt = performance.now();
          await ask(query);
          taken.push(performance.now() - startedAt);
        }
      });
      return taken;
    };
    const dense = await durations(async (query) => {
      const found = await store.dense(query, count);
      if (found !== count) throw new Error(`${found} of ${count} nearest were found`);
    });
    measures["dense p50"] = percentile(dense, 0.5);
    measures["dense p99"] = percentile(dense, 0.99);
    for (const kind of ["words", "both"] as const) {
      const search = store[kind];
      if (!search) continue;
      const taken = await durations((query) => search(query, count));
      measures[`${kind} p50`] = percentile(taken, 0.5);
      measures[`${kind} p99`] = percentile(taken, 0.99);
    }
    for (const [share, metadata] of Object.entries(filters)) {
      const admitted = writes.flatMap(({ documents }) =>
        documents.filter(({ document }) =>
          Object.entries(metadata).every(([key, value]) => document.metadata?.[key] === value),
        ),
      );
      const most = Math.min(count, admitted.flatMap((each) => each.chunks).length);
      const results: number[] = [];
      const taken = await durations(async (query) => results.push(await store.dense(query, count, metadata)));
      measures[`filter of ${share} p50`] = percentile(taken, 0.5);
      measures[`filter of ${share}, short`] = results
        .slice(-corpus.queries.length)
        .filter((found) => found < most).length;
    }
    return measures;
  } finally {
    await store.close();
  }
}

async function measureWorkers(workers: number, { size, given }: RunContext<Given>): Promise<Measures> {
  const { url, atOnce } = given;
  const real = await ingestByWorkers(url, size, { workers, latencyMs });
  if (atOnce === undefined) return { "ingested by workers": real.chunksPerSecond };
  const { chunks, seconds, startSeconds, requests: batches } = atOnce;
  const workMs = (1000 * (seconds - startSeconds)) / batches;
  const slots = { workers, concurrency: concurrency * requestsOfJob, batches, workMs };
  const simulated = simulateIngest({ ...slots, latencyMs, requestsPerMinute: 1e9, failureShare: 0, seed: 1 });
  return {
    "ingested by workers": real.chunksPerSecond,
    simulated: chunks / (startSeconds + simulated.seconds),
    ...(workers === 1 && { "without waiting": chunks / (seconds - startSeconds) }),
  };
}

/** Ingests documents in a database of its own. */
async function ingestByWorkers(
  server: string,
  size: Size,
  limits: { readonly workers: number; readonly latencyMs: number },
): Promise<WorkersFigures> {
  const name = `workers_${process.pid}_${limits.latencyMs}`;
  const client = new pg.Client(server);
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const url = new URL(server);
  url.pathname = `/${name}`;
  return runWorkers({ url: url.href, documents: crowdDocuments(size["documents"]!), concurrency, ...limits });
}

async function vacuum(url: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query("VACUUM ANALYZE");
  await client.end();
}

async function prepareServers(size: Size) {
  const settings = ["shared_buffers=256MB", "maintenance_work_mem=256MB"];
  const server = await startPostgres({ settings });
  const cluster = noCitus === undefined ? await startCitus({ also: settings }) : undefined;
  const url = server.url();
  const clusterUrl = (await cluster?.createDatabase("docs")) ?? "";
  // The guide advises this: searches then need no transaction, and bare SQL looks at as many candidates.
  for (const setting of [
    "ef_search = 200",
    "iterative_scan = 'strict_order'",
    "max_scan_tuples = 2147483647",
    "scan_mem_multiplier = 16",
  ])
    if (cluster) await queryServer(clusterUrl, `ALTER ROLE postgres IN DATABASE docs SET hnsw.${setting}`);
  const given: Given = {
    url,
    cluster: clusterUrl,
    atOnce: await ingestByWorkers(url, size, { workers: 1, latencyMs: 0 }),
  };
  return {
    given,
    close: async () => {
      await server.remove();
      await cluster?.remove();
    },
  };
}
