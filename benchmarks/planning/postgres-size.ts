import type { Store } from "citewell";
import { openPostgresStore, type PostgresStoreOptions } from "citewell/postgres";
import { query } from "../../test/support/citus-cluster.js";
import { noPostgres, startPostgres } from "../../test/support/postgres-server.js";
import type { Benchmark, Measures, RunContext, Size } from "../runner/benchmark.js";
import { madeCorpus } from "../shared/made-corpus.js";

interface Sized {
  readonly precision: "vector" | "halfvec";
  readonly open: (
    url: string,
    embedder: { readonly space: string; readonly dimension: number },
    options: PostgresStoreOptions,
  ) => Promise<Store>;
}

export const benchmark: Benchmark<Sized, string> = {
  name: "postgres-size",
  question: "What does a chunk take on PostgreSQL?",
  method:
    "Chunks of 150 made words, written into a store on a server of its own that has its vectors as `vector` or as `halfvec`, without a graph; " +
    "then the graph is made at once, where it fits into `maintenance_work_mem`. Bytes are those of all tables with their indexes, words included. " +
    "Postings are part of them: a row and an entry of the index for each word of a chunk, by which BM25 is summed. Beside them stands a `tsvector` " +
    "of the same texts with its GIN index, which says where words are but not, without reading each row, how often or in how long a chunk. " +
    "Plans are made from these figures.",
  contenders: (["vector", "halfvec"] as const).map((precision) => ({
    name: precision,
    kind: "citewell",
    load: async () => ({ precision, open: openPostgresStore }),
  })),
  beside: "vector",
  measures: {
    tables: { unit: "bytes a chunk", better: "lower" },
    graph: { unit: "bytes a chunk", better: "lower" },
    postings: { unit: "bytes a chunk", better: "lower" },
    tsvector: { unit: "bytes a chunk", better: "lower" },
    written: { unit: "chunks/s", better: "higher" },
    "graph made": { unit: "s", better: "lower" },
  },
  sizes: { smoke: { chunks: 200, dimension: 16 }, usual: { chunks: 10_000, dimension: 1024 } },
  rounds: 1,
  unavailable: () => noPostgres,
  prepare: async () => {
    const server = await startPostgres({ settings: ["shared_buffers=256MB", "maintenance_work_mem=1GB"] });
    return { given: server.url(), close: () => server.remove() };
  },
  measure: measureSize,
};

async function measureSize(
  { precision, open: openStore }: Sized,
  { size, given, timed }: RunContext<string>,
): Promise<Measures> {
  const { chunks = 0, dimension = 0 } = size;
  const open = (index: "flat" | "hnsw") =>
    openStore(given, { space: "made", dimension }, { schema: precision, precision, index, deadlineMs: 600_000 });
  const flat = await open("flat");
  const { wallSeconds: writeSeconds } = await timed(async () => {
    for (const write of madeCorpus(chunks, dimension, 1).writes(chunks)) await flat.write(write);
  });
  await flat.close();
  const tableBytes = await bytesIn(given, precision);
  const postingBytes = await sizeOf(given, `${precision}.postings`);
  const textBytes = await tsvectorBytes(given, precision, size);
  // The first write into a store that is to have a graph makes it.
  const graphed = await open("hnsw");
  const last = { document: { uri: "made:last", text: "" }, chunks: [] };
  const { wallSeconds: graphSeconds } = await timed(() => graphed.write({ documents: [last] }));
  await graphed.close();
  const graphBytes = (await bytesIn(given, precision)) - tableBytes;
  if (graphBytes < chunks * dimension) throw new Error(`the graph has ${graphBytes} bytes`);
  return {
    tables: tableBytes / chunks,
    graph: graphBytes / chunks,
    postings: postingBytes / chunks,
    tsvector: textBytes / chunks,
    written: chunks / writeSeconds,
    "graph made": graphSeconds,
  };
}

/** Bytes of all tables of a schema with their indexes. */
async function bytesIn(url: string, schema: string): Promise<number> {
  const [row] = await query<{ bytes: string }>(
    url,
    `SELECT sum(pg_total_relation_size(c.oid)) AS bytes FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
     WHERE nspname = $1 AND relkind = 'r'`,
    [schema],
  );
  return Number(row!.bytes);
}

async function sizeOf(url: string, table: string): Promise<number> {
  const [row] = await query<{ bytes: string }>(url, "SELECT pg_total_relation_size($1::regclass) AS bytes", [table]);
  return Number(row!.bytes);
}

/** Bytes of the words of the same chunks as PostgreSQL's own full-text search keeps them. */
async function tsvectorBytes(url: string, name: string, { chunks = 0, dimension = 0 }: Size): Promise<number> {
  const table = `words_${name}`;
  await query(url, `CREATE TABLE ${table} (words tsvector)`);
  await query(url, `CREATE INDEX ON ${table} USING gin (words)`);
  for (const { documents } of madeCorpus(chunks, dimension, 1).writes(chunks)) {
    const texts = documents.flatMap((each) => each.chunks.map(({ text }) => text));
    await query(
      url,
      `INSERT INTO ${table} SELECT to_tsvector('simple', text) FROM unnest($1::text[]) AS given (text)`,
      [texts],
    );
  }
  await query(url, `VACUUM ${table}`);
  return sizeOf(url, table);
}
