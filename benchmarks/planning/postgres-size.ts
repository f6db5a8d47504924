/**
 * Prints what a chunk takes in a store on PostgreSQL, in bytes of tables and of the graph, how fast chunks are written and
 * how long the graph takes, for both precisions. `planning/sizing.ts` has its constants from here. Needs PostgreSQL 15 with
 * pgvector on this machine.
 *
 *     npm run bench postgres-size [chunks] [dimensions]
 */
import { cpus } from "node:os";
import { openPostgresStore } from "citewell/postgres";
import pg from "pg";
import { startPostgres } from "../../test/support/postgres-server.js";
import { madeCorpus } from "../shared/made-corpus.js";

const [chunks = 10_000, dimension = 1024] = process.argv.slice(2).map(Number);

console.log(`npm run bench postgres-size ${process.argv.slice(2).join(" ")}`);
console.log(`${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}`);
const server = await startPostgres({ settings: ["shared_buffers=256MB", "maintenance_work_mem=1GB"] });
const client = new pg.Client(server.url());
try {
  await client.connect();
  const embedder = { space: "made", dimension };
  const last = { uri: "made:last", text: "" };
  for (const precision of ["vector", "halfvec"] as const) {
    const open = (index: "flat" | "hnsw") =>
      openPostgresStore(server.url(), embedder, { schema: precision, precision, index, deadlineMs: 600_000 });
    const flat = await open("flat");
    const writeSeconds = await secondsOf(async () => {
      for (const write of madeCorpus(chunks, dimension, 1).writes(chunks)) await flat.write(write);
    });
    await flat.close();
    const tables = await bytesIn(precision);
    // The first write into a store that is to have a graph makes it.
    const graphed = await open("hnsw");
    const graphSeconds = await secondsOf(() => graphed.write({ documents: [{ document: last, chunks: [] }] }));
    await graphed.close();
    console.log({
      precision,
      bytesAChunk: Math.round(tables / chunks),
      graphBytesAChunk: Math.round(((await bytesIn(precision)) - tables) / chunks),
      chunksWrittenASecond: Math.round(chunks / writeSeconds),
      graphSeconds,
    });
  }
} finally {
  await client.end();
  await server.remove();
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

/** Bytes of all tables of a schema with their indexes. */
async function bytesIn(schema: string): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>(
    `SELECT sum(pg_total_relation_size(c.oid)) AS bytes FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
     WHERE nspname = $1 AND relkind = 'r'`,
    [schema],
  );
  return Number(rows[0]!.bytes);
}
