/**
 * Compares the store in a folder, that on one PostgreSQL server and that on three: nDCG@10 of SciFact with real vectors, the
 * time of queries beside the bare statement sent by `pg`, and whether filtered searches come back short.
 *
 *     npm run build && npm run build:examples && node build/benchmarks/scale.js [chunks]
 *
 * SciFact is read from ../shared/data/scifact; where it is not, its part is left out. Default: 20,000 chunks.
 */
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  chunk,
  collect,
  type Document,
  type DocumentWrite,
  type Embedder,
  embedQuestion,
  type Filter,
  openStore,
  Pipeline,
  type Question,
  search,
  type Store,
  type StoreWrite,
} from "citewell";
import { evaluate, openCollection, rankDocuments } from "citewell/evaluate";
import { openPostgresStore } from "citewell/postgres";
import pg from "pg";
import type { vectorKey as VectorKey } from "../src/text/chunking/chunk-identity.js";
import { noPostgres, type PostgresServer, startPostgres } from "../test/support/postgres-server.js";
import { madeCorpus } from "./search-corpus.js";

// Measures the build, as it is shipped.
const built = new URL("../../dist/text/chunking/chunk-identity.js", import.meta.url).href;
const { vectorKey } = (await import(built)) as { vectorKey: typeof VectorKey };

const chunks = Number(process.argv[2] ?? 20_000);
const dimension = 128;
const count = 10;
const scifact = "../shared/data/scifact";

type Stores = Readonly<Record<"embedded" | "PostgreSQL" | "three servers", Store>>;

if (noPostgres !== undefined) throw new Error(noPostgres);
console.log(`Node ${process.version}, PostgreSQL 15, ${chunks} chunks of ${dimension} dimensions`);
const settings = ["shared_buffers=256MB", "maintenance_work_mem=256MB"];
const servers: PostgresServer[] = [];
for (let at = 0; at < 3; at++) servers.push(await startPostgres({ settings }));
const folder = await mkdtemp(join(tmpdir(), "citewell-scale-"));
try {
  if (existsSync(join(scifact, "vectors/corpus.f32"))) await compareQuality();
  else console.log("SciFact is not there: its part is left out");
  await compareSpeed();
} finally {
  for (const server of servers) await server.remove();
  await rm(folder, { recursive: true, force: true });
}

async function openStores(name: string): Promise<Stores> {
  const embedder = { space: "made", dimension };
  const [first, ...shards] = servers.map((server) => server.url());
  return {
    embedded: await openStore(join(folder, name), embedder),
    PostgreSQL: await openPostgresStore(first!, embedder, { schema: `${name}_one` }),
    "three servers": await openPostgresStore(first!, embedder, { schema: `${name}_three`, shards }),
  };
}

async function close(stores: Stores): Promise<void> {
  await Promise.all(Object.values(stores).map((each) => each.close()));
}

async function compareQuality(): Promise<void> {
  const collection = await openCollection(scifact);
  const known = new Map<string, Float32Array>();
  const rows = async (file: string) => {
    const bytes = await readFile(join(scifact, "vectors", file));
    const numbers = new Float32Array(new Uint8Array(bytes).buffer);
    return (row: number) => numbers.subarray(row * dimension, (row + 1) * dimension);
  };
  const [ofCorpus, ofQueries] = [await rows("corpus.f32"), await rows("queries.f32")];
  let row = 0;
  for await (const { text } of collection.documents()) known.set(text, ofCorpus(row++));
  for (const [index, { text }] of collection.queries.entries()) known.set(text, ofQueries(index));
  const embedder: Embedder<"made"> = {
    space: "made",
    dimension,
    maxInputTokens: 8192,
    maxBatchTexts: 512,
    tokens: { name: "characters", count: (text) => Math.ceil(text.length / 4) },
    // The vectors are of the abstracts without their titles.
    embed: async (texts) => ({
      vectors: texts.map((text) => known.get(text) ?? known.get(text.slice(text.indexOf("\n\n") + 2))!),
    }),
  };
  const cut = Pipeline.from<Document>().pipe(chunk({ for: embedder, maxTokens: 8192, parentTokens: 0 }));
  const writes: StoreWrite[] = [];
  let [documents, vectors]: [DocumentWrite[], Map<string, Float32Array>] = [[], new Map()];
  for (const { document, ...one } of await collect(cut.stream(collection.documents()))) {
    documents.push({ document, chunks: [one] });
    vectors.set(vectorKey(one), known.get(document.text)!);
    if (documents.length < 250) continue;
    writes.push({ documents, vectors });
    [documents, vectors] = [[], new Map()];
  }
  writes.push({ documents, vectors });
  const stores = await openStores("scifact");
  for (const [name, store] of Object.entries(stores)) {
    for (const write of writes) await store.write(write);
    const figures: string[] = [];
    for (const mode of ["dense", "lexical", "hybrid"] as const) {
      const ask = (limit: number) =>
        Pipeline.from<Question>()
          .pipe(embedQuestion(embedder))
          .pipe(search(store as Store<"made">, { mode, count: limit }));
      const { metrics } = await evaluate(collection.queries, async ({ text }) => {
        const found = async (limit: number) => (await collect(ask(limit).stream([{ question: text }])))[0]!.hits;
        return (await rankDocuments(found, 100)).map(collection.documentId);
      });
      figures.push(`${mode} ${metrics["ndcg@10"].toFixed(4)}`);
    }
    console.log(`SciFact nDCG@10, ${name}: ${figures.join(", ")}`);
  }
  await close(stores);
}

async function compareSpeed(): Promise<void> {
  const corpus = madeCorpus(chunks, dimension, 200);
  const stores = await openStores("made");
  for (const [name, store] of Object.entries(stores)) {
    const started = performance.now();
    for (const write of corpus.writes(chunks)) await store.write(write);
    const seconds = (performance.now() - started) / 1000;
    console.log(
      `${name}: ${chunks} chunks written in ${seconds.toFixed(1)} s, ${Math.round(chunks / seconds)} a second`,
    );
  }
  const client = new pg.Client(servers[0]!.url());
  await client.connect();
  await client.query("SET search_path = made_one, public");
  await client.query("SET hnsw.ef_search = 200");
  for (const server of servers) {
    const other = new pg.Client(server.url());
    await other.connect();
    await other.query("VACUUM ANALYZE");
    await other.end();
  }
  const bare = (vector: Float32Array) =>
    client.query(
      `SELECT c.id, e.embedding <#> $1::vector AS distance FROM embeddings e JOIN chunks c USING (label)
       ORDER BY e.embedding <#> $1::vector LIMIT $2`,
      [`[${vector.join(",")}]`, count],
    );
  // In turns, so that what else the machine does falls on all alike.
  const runs: Record<string, (at: number) => Promise<unknown>> = {
    "bare SQL": (at) => bare(corpus.queries[at]!.vector),
  };
  for (const [name, store] of Object.entries(stores)) {
    runs[`${name}, dense`] = (at) => store.dense.retrieve(corpus.queries[at]!, { count });
    runs[`${name}, lexical`] = (at) => store.lexical.retrieve(corpus.queries[at]!, { count });
  }
  const times = new Map<string, number[]>(Object.keys(runs).map((name) => [name, []]));
  for (let at = -20; at < corpus.queries.length; at++) {
    for (const [name, run] of Object.entries(runs)) {
      const started = performance.now();
      await run(Math.max(0, at));
      if (at >= 0) times.get(name)!.push(performance.now() - started);
    }
  }
  const percentile = (name: string, share: number) =>
    times.get(name)!.toSorted((one, other) => one - other)[Math.floor(share * (times.get(name)!.length - 1))]!;
  for (const name of times.keys()) {
    const [p50, p99] = [percentile(name, 0.5), percentile(name, 0.99)];
    const ratio = p50 / percentile("bare SQL", 0.5);
    console.log(`${name}: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, ${ratio.toFixed(2)} x bare SQL`);
  }
  const filters: Readonly<Record<string, Filter>> = {
    "50 %": { metadata: { half: 1 } },
    "1 %": { metadata: { hundredth: 7 } },
    "0.01 %": { metadata: { tenThousandth: 7 } },
  };
  for (const [share, filter] of Object.entries(filters)) {
    for (const [name, store] of Object.entries(stores)) {
      const expected = Math.min(
        count,
        (await store.dense.retrieve(corpus.queries[0]!, { count: 1000, filter })).length,
      );
      let short = 0;
      const started = performance.now();
      for (const query of corpus.queries) {
        if ((await store.dense.retrieve(query, { count, filter })).length < expected) short++;
      }
      const ms = (performance.now() - started) / corpus.queries.length;
      console.log(
        `filter of ${share}, ${name}: ${short} of ${corpus.queries.length} short of ${expected}, ${ms.toFixed(2)} ms each`,
      );
    }
  }
  await client.end();
  await close(stores);
}
