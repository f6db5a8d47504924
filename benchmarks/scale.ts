/**
 * Compares the store in a folder, that on one PostgreSQL server, that on three, and LangChain.js's PGVectorStore: how fast
 * they are written, the time of queries beside the bare statement sent by `pg`, whether filtered searches come back short, and
 * the rate of 1, 2 and 4 workers. `store-quality.ts` compares how well they rank. Needs PostgreSQL 15 with pgvector here.
 *
 *     npm run build && npm run build:examples && node build/benchmarks/scale.js [chunks] [dimension] [documents for workers]
 *
 * Default: 20,000 chunks of 128 dimensions, 500 documents.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Metadata, type Store } from "citewell";
import { openPostgresStore } from "citewell/postgres";
import pg from "pg";
import { noPostgres, type PostgresServer, startPostgres } from "../test/support/postgres-server.js";
import { crowdDocuments } from "../test/support/worker-crowd.js";
import { openPgvectorPeer, type PgvectorPeer } from "./pgvector-peer.js";
import { runWorkers } from "./planning/run-workers.js";
import { type Asked, type Corpus, madeCorpus } from "./search-corpus.js";

const [chunks = 20_000, dimension = 128, workerDocuments = 500] = process.argv.slice(2).map(Number);
const count = 10;

if (noPostgres !== undefined) throw new Error(noPostgres);
console.log(`${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}, PostgreSQL 15`);
console.log(`${chunks} chunks of ${dimension} dimensions`);
const settings = ["shared_buffers=256MB", "maintenance_work_mem=256MB"];
const servers: PostgresServer[] = [];
for (let at = 0; at < 3; at++) servers.push(await startPostgres({ settings }));
const folder = await mkdtemp(join(tmpdir(), "citewell-scale-"));
try {
  await compareStores();
  for (const workers of [1, 2, 4]) {
    const url = await servers[0]!.createDatabase(`workers_${workers}`);
    const { chunksPerSecond, cpuSeconds } = await runWorkers({
      url,
      documents: crowdDocuments(workerDocuments),
      workers,
    });
    console.log(
      `${workers} workers: ${chunksPerSecond.toFixed(0)} chunks a second, ${cpuSeconds.toFixed(1)} CPU seconds`,
    );
  }
} finally {
  for (const server of servers) await server.remove();
  await rm(folder, { recursive: true, force: true });
}

async function compareStores(): Promise<void> {
  const corpus = madeCorpus(chunks, dimension, 200);
  const embedder = { space: "made", dimension };
  const [first, ...shards] = servers.map((server) => server.url());
  const stores: Readonly<Record<string, Store>> = {
    embedded: await openStore(join(folder, "store"), embedder),
    PostgreSQL: await openPostgresStore(first!, embedder, { schema: "one" }),
    "three servers": await openPostgresStore(first!, embedder, { schema: "three", shards }),
  };
  const peer = await openPgvectorPeer(await servers[0]!.createDatabase("peer"), dimension);
  for (const [name, store] of [...Object.entries(stores), ...(peer ? ([["PGVectorStore", peer]] as const) : [])]) {
    const started = performance.now();
    for (const write of corpus.writes(chunks)) await store.write(write);
    const seconds = (performance.now() - started) / 1000;
    console.log(`${name}: written in ${seconds.toFixed(1)} s, ${Math.round(chunks / seconds)} chunks a second`);
  }
  for (const server of servers) {
    for (const name of server === servers[0] && peer ? ["postgres", "peer"] : ["postgres"]) {
      const client = new pg.Client(server.url(name));
      await client.connect();
      await client.query("VACUUM ANALYZE");
      await client.end();
    }
  }
  await compareQueries(corpus, stores, peer);
  await compareFilters(corpus, stores, peer);
  for (const store of [...Object.values(stores), ...(peer ? [peer] : [])]) await store.close();
}

/** In turns, so that what else the machine does falls on all alike. */
async function compareQueries(
  { queries }: Corpus,
  stores: Readonly<Record<string, Store>>,
  peer: PgvectorPeer | undefined,
): Promise<void> {
  const client = new pg.Client(servers[0]!.url());
  await client.connect();
  await client.query("SET search_path = one, public");
  await client.query("SET hnsw.ef_search = 200");
  const bare = ({ vector }: Asked) =>
    client.query(
      `SELECT c.id, e.embedding <#> $1::vector AS distance FROM embeddings e JOIN chunks c USING (label)
       ORDER BY e.embedding <#> $1::vector LIMIT $2`,
      [`[${vector.join(",")}]`, count],
    );
  const runs: Record<string, (query: Asked) => Promise<unknown>> = { "bare SQL": bare };
  for (const [name, { dense, lexical }] of Object.entries(stores)) {
    runs[`${name}, dense`] = (query) => dense.retrieve(query, { count });
    runs[`${name}, lexical`] = (query) => lexical.retrieve(query, { count });
    runs[`${name}, both`] = (query) => Promise.all([dense, lexical].map((side) => side.retrieve(query, { count })));
  }
  // With its server's default, it looks at 40 candidates where the others look at 200.
  if (peer) runs["PGVectorStore, dense"] = ({ vector }) => peer.find(vector, count);
  const times = new Map<string, number[]>(Object.keys(runs).map((name) => [name, []]));
  for (const [at, query] of [...queries.slice(0, 20), ...queries].entries()) {
    for (const [name, run] of Object.entries(runs)) {
      const started = performance.now();
      await run(query);
      if (at >= 20) times.get(name)!.push(performance.now() - started);
    }
  }
  await client.end();
  const percentile = (name: string, share: number) => {
    const sorted = times.get(name)!.toSorted((one, other) => one - other);
    return sorted[Math.floor(share * (sorted.length - 1))]!;
  };
  for (const name of times.keys()) {
    const [p50, p99] = [percentile(name, 0.5), percentile(name, 0.99)];
    const ratio = p50 / percentile("bare SQL", 0.5);
    console.log(`${name}: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, ${ratio.toFixed(2)} x bare SQL`);
  }
}

async function compareFilters(
  { queries }: Corpus,
  stores: Readonly<Record<string, Store>>,
  peer: PgvectorPeer | undefined,
): Promise<void> {
  const shares: Readonly<Record<string, Metadata>> = {
    "50 %": { half: 1 },
    "1 %": { hundredth: 7 },
    "0.01 %": { tenThousandth: 7 },
  };
  for (const [share, metadata] of Object.entries(shares)) {
    const filter = { metadata: metadata as Readonly<Record<string, number>> };
    const finds: Record<string, (query: Asked) => Promise<number>> = {};
    for (const [name, { dense }] of Object.entries(stores)) {
      finds[name] = async (query) => (await dense.retrieve(query, { count, filter })).length;
    }
    if (peer) finds["PGVectorStore"] = ({ vector }) => peer.find(vector, count, metadata);
    const all = await stores["embedded"]!.dense.retrieve(queries[0]!, { count, filter });
    for (const [name, find] of Object.entries(finds)) {
      let short = 0;
      const started = performance.now();
      for (const query of queries) if ((await find(query)) < all.length) short++;
      const ms = (performance.now() - started) / queries.length;
      console.log(
        `filter of ${share}, ${name}: ${short} of ${queries.length} short of ${all.length}, ${ms.toFixed(2)} ms each`,
      );
    }
  }
}
