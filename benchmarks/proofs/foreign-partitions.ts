/**
 * Compares the two ways to search a collection spread over three PostgreSQL servers: each asked over a connection of its own,
 * as the store does, and all asked by one of them through `postgres_fdw`. Prints what each form ships, its time, and how long
 * a query waits for a server that the network has cut off (left out where network namespaces are not allowed).
 *
 *     npm run bench foreign-partitions [chunks] [dimensions]
 *
 * Default: 15,000 chunks of 128 dimensions.
 */
import { openPostgresStore } from "citewell/postgres";
import pg from "pg";
import { makeNetwork } from "../../test/support/own-network.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../test/support/postgres-server.js";
import { madeCorpus } from "../shared/made-corpus.js";

const [chunks = 15_000, dimension = 128] = process.argv.slice(2).map(Number);
const count = 10;
const filter = { metadata: { half: 1 } };
const matches = "EXISTS (SELECT FROM fields_AT f WHERE f.document = e.document AND f.name = '.half' AND f.number = 1)";

if (noPostgres !== undefined) throw new Error(noPostgres);
console.log(`Node ${process.version}, PostgreSQL 15, three servers, ${chunks} chunks of ${dimension} dimensions`);
const network = makeNetwork();
const servers: PostgresServer[] = [];
try {
  for (let at = 0; at < 3; at++) {
    const isLast = at === 2;
    servers.push(
      await startPostgres({ settings: ["shared_buffers=256MB"], ...(isLast && network && { host: network }) }),
    );
  }
  const queries = await writeCorpus();
  const client = await connected(servers[0]!);
  await prepareForeignTables(client);
  const forms = statements();
  for (const [name, text] of Object.entries(forms)) {
    const { rows } = await client.query<{ "QUERY PLAN": string }>(`EXPLAIN (VERBOSE, COSTS OFF) ${text}`, [queries[0]]);
    const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
    const shipped = /Remote SQL: (.*)/.exec(plan)?.[1]?.replace(/'\[.*?\]'/g, "$1") ?? "nothing";
    console.log(`\n${name}: ${plan.match(/Async Foreign Scan/g)?.length ?? 0} scans side by side, ships ${shipped}`);
  }
  await compareSpeed(client, forms, queries);
  if (network) await cutOff(client, Object.values(forms)[1]!, queries[0]!);
} finally {
  for (const server of servers) await server.remove();
  network?.remove();
}

async function connected(server: PostgresServer): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: server.url(), options: "-c jit=off" });
  client.on("error", () => {});
  await client.connect();
  return client;
}

async function writeCorpus(): Promise<string[]> {
  const corpus = madeCorpus(chunks, dimension, 200);
  const [first, ...shards] = servers.map((server) => server.url());
  const store = await openPostgresStore(first!, { space: "made", dimension }, { shards, index: "hnsw" });
  for (const write of corpus.writes(chunks)) await store.write(write);
  await store.close();
  for (const server of servers) {
    const client = await connected(server);
    await client.query("VACUUM ANALYZE");
    await client.end();
  }
  return corpus.queries.map(({ vector }) => `[${vector.join(",")}]`);
}

/** Tables of each server, and all vectors as one table in partitions. */
async function prepareForeignTables(client: pg.Client): Promise<void> {
  await client.query("CREATE EXTENSION postgres_fdw");
  const columns = `label bigint, document bigint, embedding vector(${dimension})`;
  await client.query(`CREATE TABLE parts (${columns}) PARTITION BY HASH (label)`);
  for (const [at, { url }] of servers.entries()) {
    const { hostname, port } = new URL(url());
    await client.query(
      `CREATE SERVER s${at} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (
         host '${hostname}', port '${port}', dbname 'postgres', extensions 'vector', async_capable 'true',
         options '-c jit=off -c hnsw.ef_search=200 -c hnsw.iterative_scan=strict_order')`,
    );
    await client.query(`CREATE USER MAPPING FOR postgres SERVER s${at} OPTIONS (user 'postgres')`);
    const of = (table: string) => `SERVER s${at} OPTIONS (schema_name 'citewell', table_name '${table}')`;
    await client.query(
      `CREATE FOREIGN TABLE part_${at} PARTITION OF parts FOR VALUES WITH (MODULUS 3, REMAINDER ${at})
       ${of("embeddings")}`,
    );
    await client.query(
      `CREATE FOREIGN TABLE fields_${at} (document bigint, name text COLLATE "C", number double precision) ${of("fields")}`,
    );
  }
  await client.query("ANALYZE parts");
}

function statements(): Readonly<Record<string, string>> {
  const near = (from: string, where = "true") =>
    `(SELECT e.label, e.embedding <#> $1::vector AS distance FROM ${from} e WHERE ${where}
      ORDER BY e.embedding <#> $1::vector LIMIT ${count})`;
  const union = (where?: string) =>
    servers.map((_, at) => near(`part_${at}`, where?.replace("AT", String(at)))).join(" UNION ALL ");
  // Without OFFSET 0 the parts are merged as they come, which asks one server after another.
  const best = (from: string) => `SELECT * FROM (${from} OFFSET 0) AS near ORDER BY distance LIMIT ${count}`;
  return {
    "one partitioned table": near("parts"),
    "UNION ALL of the servers": best(union()),
    "UNION ALL with a filter of 50 %": best(union(matches)),
  };
}

async function compareSpeed(
  client: pg.Client,
  forms: Readonly<Record<string, string>>,
  queries: readonly string[],
): Promise<void> {
  const [first, ...shards] = servers.map((server) => server.url());
  const store = await openPostgresStore(first!, { space: "made", dimension }, { shards });
  const runs: Record<string, (vector: string) => Promise<unknown>> = {};
  const vectorOf = (text: string) => Float32Array.from(JSON.parse(text) as number[]);
  runs["the store"] = (text) => store.dense.retrieve({ text: "", vector: vectorOf(text) }, { count });
  runs["the store with a filter of 50 %"] = (text) =>
    store.dense.retrieve({ text: "", vector: vectorOf(text) }, { count, filter });
  for (const [name, text] of Object.entries(forms)) runs[name] = (vector) => client.query(text, [vector]);
  const times = new Map<string, number[]>(Object.keys(runs).map((name) => [name, []]));
  // In turns, so that what else the machine does falls on all alike.
  for (const [at, query] of [...queries.slice(0, 10), ...queries].entries()) {
    for (const [name, run] of Object.entries(runs)) {
      const started = performance.now();
      await run(query);
      if (at >= 10) times.get(name)!.push(performance.now() - started);
    }
  }
  console.log("");
  for (const [name, each] of times) {
    const sorted = each.toSorted((one, other) => one - other);
    const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]!.toFixed(2);
    console.log(`${name}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
  }
  await store.close();
}

/** How long a query with a limit of two seconds takes when the last server is cut off, with more and more options against that. */
async function cutOff(client: pg.Client, text: string, query: string): Promise<void> {
  const maxSeconds = 30;
  const limits = {
    "as it is": "",
    "tcp_user_timeout and connect_timeout of 2 s": "ADD tcp_user_timeout '2000', ADD connect_timeout '2'",
    "keepalives of 1 s as well": "ADD keepalives_idle '1', ADD keepalives_interval '1', ADD keepalives_count '2'",
  };
  console.log("");
  for (const [name, options] of Object.entries(limits)) {
    if (options !== "") await client.query(`ALTER SERVER s2 OPTIONS (${options})`);
    for (const isOpen of [true, false]) {
      const asking = await connected(servers[0]!);
      if (isOpen) await asking.query(text, [query]);
      await asking.query("SET statement_timeout = 2000");
      network!.set("down");
      const started = performance.now();
      const ended = asking.query(text, [query]).then(() => "answered", String);
      const limit = new Promise<string>((resolve) => setTimeout(resolve, maxSeconds * 1000, "no answer").unref());
      const outcome = await Promise.race([ended, limit]);
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      console.log(`cut off, ${name}, connection ${isOpen ? "open" : "to be made"}: ${seconds} s, ${outcome}`);
      network!.set("up");
      await ended;
      await asking.end();
    }
  }
}
