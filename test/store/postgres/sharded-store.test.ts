import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import type { Filter } from "../../../src/core/filter.js";
import type { Store } from "../../../src/core/ports.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import type { PostgresStoreOptions } from "../../../src/store/postgres/options.js";
import { type RebalanceProgress, rebalanceShards } from "../../../src/store/postgres/rebalance-shards.js";
import { searchSql } from "../../../src/store/postgres/searching/statement.js";
import { countRoundTrips } from "../../support/counting-proxy.js";
import { citewell, citewellJson, commandFile } from "../../support/citewell.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres-server.js";
import { conformance } from "../conformance.js";

const dimension = 16;
const animals = ["cat", "dog", "owl", "fox", "ant", "bee", "eel"];
const documents = Array.from({ length: 60 }, (_, at) =>
  madeDocument(
    `file:///${at}.md`,
    [`The ${animals[at % 7]} number ${at}`, `A ${animals[at % 3]} sleeps, ${at % 5} times`],
    {
      metadata: { number: at },
    },
  ),
);
const query = { text: "cat sleeps number", vector: madeVector("cat sleeps", dimension) };

describe.skipIf(noPostgres)("a store on three servers", () => {
  const servers: PostgresServer[] = [];
  beforeAll(async () => {
    for (let count = 0; count < 3; count++) servers.push(await startPostgres());
  });
  afterAll(async () => {
    for (const server of servers) await server.remove();
  });

  const open = async (schema: string, options: PostgresStoreOptions = {}, count = 3) => {
    const [first, ...shards] = servers.slice(0, count).map((server) => server.url());
    const store = await openPostgresStore(first!, { space: "made" }, { schema, shards, ...options });
    onTestFinished(() => store.close());
    return store;
  };

  const onEach = async <Row extends object>(schema: string, text: string, values: unknown[] = []): Promise<Row[][]> =>
    Promise.all(
      servers.map(async (server) => {
        const client = new pg.Client(server.url());
        await client.connect();
        await client.query(`SET search_path = ${schema}, public`);
        const { rows } = await client.query<Row>(text, values);
        await client.end();
        return rows;
      }),
    );

  const spread = (name: string, requireScope = false) => {
    const [first, ...shards] = servers.map((server) => server.url());
    const schema = `s${createHash("sha256").update(name).digest("hex").slice(0, 16)}`;
    return openPostgresStore(first!, { space: "conformance" }, { schema, shards, requireScope });
  };
  conformance("it", { open: spread, openRequiringScope: (name) => spread(name, true) });

  test("has a part of the documents on each, and ranks as one server does", async () => {
    const [one, three] = [await open("one", {}, 1), await open("three")];
    for (const store of [one, three]) await store.write(withVectors(documents, dimension));
    const parts = await onEach<{ count: string }>("three", "SELECT count(*) FROM documents");
    for (const [row] of parts) expect(Number(row!.count)).toBeGreaterThan(10);
    for (const filter of [undefined, { metadata: { number: { lt: 30 } } }]) {
      const found = (store: Store) =>
        Promise.all(
          [store.dense, store.lexical].map((retriever) =>
            retriever.retrieve(query, { count: 20, ...(filter && { filter }) }),
          ),
        );
      expect(await found(three)).toEqual(await found(one));
    }
    expect(await three.documents({ limit: 7, after: "file:///2.md" })).toEqual(
      await one.documents({ limit: 7, after: "file:///2.md" }),
    );
    expect(await three.verify()).toMatchObject({ ok: true, problems: [], recall: 1 });
  });

  test("is asked for words in one round trip each while nobody writes, and ranks as one server does afterwards", async () => {
    const [one, writer] = [await open("one_counted", {}, 1), await open("counted")];
    const proxies = await Promise.all(servers.map((server) => countRoundTrips(server.url())));
    onTestFinished(async () => void (await Promise.all(proxies.map((proxy) => proxy.close()))));
    const [first, ...shards] = proxies.map(({ url }) => url);
    const store = await openPostgresStore(first!, { space: "made" }, { schema: "counted", shards });
    onTestFinished(() => store.close());
    const found = (from: Store, text: string) => from.lexical.retrieve({ text }, { count: 20 });
    /** Round trips to each server for a search whose result is that of one server. */
    const trips = async (text: string) => {
      const expected = await found(one, text);
      const before = proxies.map((proxy) => proxy.roundTrips());
      expect(await found(store, text)).toEqual(expected);
      return proxies.map((proxy, at) => proxy.roundTrips() - before[at]!);
    };
    for (const each of [one, writer]) await each.write(withVectors(documents, dimension));
    await found(store, "a search that connects");
    expect(await trips("cat sleeps")).toEqual([2, 2, 2]);
    expect(await trips("cat sleeps")).toEqual([1, 1, 1]);
    expect(await trips("sleeps")).toEqual([1, 1, 1]);
    expect(await trips("cat number")).toEqual([2, 2, 2]);
    const more = Array.from({ length: 9 }, (_, at) => madeDocument(`cat${at}.md`, [`A cat that is ${at}`]));
    for (const each of [one, writer]) await each.write(withVectors(more, dimension));
    expect(await trips("cat sleeps")).toEqual([3, 3, 3]);
    expect(await trips("cat sleeps")).toEqual([1, 1, 1]);
  });

  test("has each look for its nearest by the graph, and no more than are wanted", async () => {
    const store = await open("planned", { index: "hnsw" });
    await store.write(withVectors(documents, dimension));
    const plans = async (filter: Filter | undefined) => {
      const [text, values] = searchSql({ dense: { vector: query.vector, count: 5, precision: "vector" }, filter });
      const rows = await onEach<{ "QUERY PLAN": string }>("planned", `EXPLAIN (COSTS OFF) ${text}`, values);
      return rows.map((lines) => lines.map((line) => line["QUERY PLAN"]).join("\n"));
    };
    // Twenty documents are read faster without a graph, so that the plan of many is asked for.
    await onEach("planned", "ALTER DATABASE postgres SET enable_seqscan = off");
    const byGraph = /Limit\s+->\s+Index Scan using embeddings_graph on embeddings e\S*\s+Order By: \(embedding <#> /;
    for (const plan of await plans(undefined)) expect(plan).toMatch(byGraph);
    // Where few documents match, their vectors are compared; where many do, they are met on the way through the graph.
    for (const plan of await plans({ metadata: { number: { lt: 30 } } })) {
      expect(plan).toMatch(/Index Scan using embeddings_by_document/);
      expect(plan).toMatch(/One-Time Filter: \(NOT \$\d+\)\s+->\s+Index Scan using embeddings_graph/);
      // All are compared only where the graph has reached too few.
      const otherwise = plan.replace(
        /One-Time Filter: \(\(NOT \$\d+\) AND \(\$\d+ < 5\)\)\s+->\s+Seq Scan on embeddings/,
        "",
      );
      expect(otherwise).not.toBe(plan);
      expect(otherwise).not.toMatch(/Seq Scan on (embeddings|documents)/);
    }
    await onEach("planned", "ALTER DATABASE postgres RESET enable_seqscan");
  });

  test("asks all of them at the same time", async () => {
    const store = await open("together");
    await store.write(withVectors(documents, dimension));
    const locks = servers.map((server) => new pg.Client(server.url()));
    for (const lock of locks) {
      await lock.connect();
      await lock.query("BEGIN; LOCK TABLE together.embeddings IN ACCESS EXCLUSIVE MODE");
    }
    const searching = store.dense.retrieve(query, { count: 5 });
    const waits = "SELECT count(*)::int FROM pg_locks WHERE relation = 'together.embeddings'::regclass AND NOT granted";
    // Each server is locked, so that a search of one after another would wait on the first alone.
    await expect
      .poll(
        async () => Promise.all(locks.map(async (lock) => (await lock.query<{ count: number }>(waits)).rows[0]!.count)),
        {
          timeout: 20_000,
        },
      )
      .toEqual([1, 1, 1]);
    for (const lock of locks) await lock.end();
    expect(await searching).toHaveLength(5);
  });

  test("fails within its deadline while one is stopped, or answers without it and says so; then it is there again", async () => {
    const warnings: string[] = [];
    const strict = await open("stopped", { deadlineMs: 3000 });
    await strict.write(withVectors(documents, dimension));
    const lenient = await open("stopped", { missingAfterMs: 1500, onWarning: (message) => warnings.push(message) });
    const whole = await strict.dense.retrieve(query, { count: 120 });
    expect(whole).toHaveLength(120);
    await servers[2]!.stop("immediate");
    await expect(strict.dense.retrieve(query, { count: 120 })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining(`:${servers[2]!.port}/`) as string,
    });
    for (const side of [lenient.dense, lenient.lexical]) {
      const part = await side.retrieve(query, { count: 120 });
      expect(part.length).toBeGreaterThan(20);
      expect(part.length).toBeLessThan(120);
    }
    expect(warnings[0]).toContain(`:${servers[2]!.port}/`);
    await servers[2]!.start();
    expect(await strict.dense.retrieve(query, { count: 120 })).toEqual(whole);
    expect(await lenient.dense.retrieve(query, { count: 120 })).toEqual(whole);
  });

  test("gets servers added: documents move to them while searches find all, and none is embedded again", async () => {
    const before = await open("growing", {}, 1);
    await before.write({ ...withVectors(documents, dimension), notes: new Map([["a file", "seen"]]) });
    const store = await open("growing");
    // Everything, by every way to find it, each once.
    const found = async (from: Store) => {
      const [near, relevant] = await Promise.all(
        [from.dense, from.lexical].map((retriever) => retriever.retrieve({ ...query, text: "sleeps" }, { count: 200 })),
      );
      const hits = await from.hits(near!);
      return {
        near: near!.map(({ chunkId }) => chunkId).toSorted(),
        relevant: relevant!.map(({ chunkId }) => chunkId).toSorted(),
        hits: hits.map(({ chunk }) => chunk.id).toSorted(),
        documents: (await from.documents()).map(({ uri }) => uri),
      };
    };
    const expected = await found(before);
    expect(expected.near).toHaveLength(120);
    expect(expected.relevant).toHaveLength(60);
    const seen: RebalanceProgress[] = [];
    const moving = rebalanceShards(servers[0]!.url(), {
      schema: "growing",
      shards: servers.slice(1).map((server) => server.url()),
      deadlineMs: 3000,
      onProgress: (progress) => seen.push(progress),
    });
    const done = new AbortController();
    let searches = 0;
    const searching = (async () => {
      for (; !done.signal.aborted; searches++) expect(await found(store)).toEqual(expected);
    })();
    const { documents: moved } = await moving;
    done.abort();
    await searching;
    expect(moved).toBeGreaterThan(20);
    expect(searches).toBeGreaterThan(5);
    // Of 256 parts, each of the two new servers gets 85.
    expect(seen.at(-1)).toEqual({ documents: moved, parts: 170, partsToMove: 170 });
    const parts = await onEach<{ count: string }>("growing", "SELECT count(*) FROM documents");
    expect(parts.reduce((sum, [row]) => sum + Number(row!.count), 0)).toBe(60);
    for (const [row] of parts) expect(Number(row!.count)).toBeGreaterThan(10);
    expect(await found(store)).toEqual(expected);
    expect(await store.notes!(["a file"])).toEqual(new Map([["a file", "seen"]]));
    expect(await store.verify()).toMatchObject({ ok: true, problems: [] });
    await store.write({ documents });
    expect((await store.counts()).documents).toBe(60);
    const fewer = openPostgresStore(servers[0]!.url(), { space: "made" }, { schema: "growing" });
    await expect(fewer).rejects.toThrow("Name all of them in shards");
  });

  test("finds a document that changes or goes while others move in its new form alone, though the move was interrupted", async () => {
    const first = await open("interrupted", {}, 1);
    await first.write(withVectors(documents, dimension));
    const [url, second] = servers.map((server) => server.url());
    const stop = new AbortController();
    const move = { schema: "interrupted", shards: [second!] };
    const stopped = rebalanceShards(url!, {
      ...move,
      signal: stop.signal,
      onProgress: ({ parts }) => void (parts === 60 && stop.abort()),
    });
    await expect(stopped).rejects.toMatchObject({ name: "AbortError" });
    const both = await open("interrupted", {}, 2);
    const changed = documents
      .slice(0, 50)
      .map(({ document }) => madeDocument(document.uri, [`A mole digs ${document.uri}`]));
    await both.write({ ...withVectors(changed, dimension), notes: new Map([[changed[0]!.document.uri, "new"]]) });
    await both.deleteDocuments(documents.slice(50).map(({ document }) => document.uri));
    const all = async () => {
      const near = await both.dense.retrieve(query, { count: 200 });
      const relevant = await both.lexical.retrieve({ text: "cat sleeps number digs" }, { count: 200 });
      const hits = await both.hits(near);
      return [hits.map(({ chunk }) => chunk.text).toSorted(), relevant.length];
    };
    const texts = changed.map(({ document }) => document.text).toSorted();
    expect(await all()).toEqual([texts, 50]);
    expect(await both.notes!([changed[0]!.document.uri])).toEqual(new Map([[changed[0]!.document.uri, "new"]]));
    await rebalanceShards(url!, { ...move, deadlineMs: 1 });
    expect(await all()).toEqual([texts, 50]);
    expect(await both.counts()).toMatchObject({ documents: 50, chunks: 50 });
    expect(await both.verify()).toMatchObject({ ok: true, problems: [] });
  });

  test("is spread over an added server by a command, which Ctrl-C stops and which goes on when it is run again", async () => {
    const [one, two] = [await servers[0]!.createDatabase("one"), await servers[1]!.createDatabase("two")];
    const before = await openPostgresStore(one, { space: "made" });
    await before.write(withVectors(documents, dimension));
    await before.close();
    const command = ["rebalance", "--store", `${one},${two}`];
    const child = spawn(process.execPath, [commandFile, ...command], { stdio: ["ignore", "ignore", "pipe"] });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const client = new pg.Client(two);
    const moved = async () =>
      (await client.query<{ count: number }>("SELECT count(*)::int FROM citewell.documents")).rows[0]!.count;
    await client.connect();
    onTestFinished(() => client.end());
    await expect.poll(() => moved().catch(() => 0), { timeout: 60_000 }).toBeGreaterThan(5);
    child.kill("SIGINT");
    expect(await once(child, "close")).toEqual([130, null]);
    expect(stderr).toContain("what was moved stays moved. Run the same command again to go on.");
    await rebalanceShards(one, { shards: [two], deadlineMs: 1 });
    expect(await citewellJson(command)).toEqual({ documents: 0 });
    expect(await moved()).toBeGreaterThan(20);
    expect(await citewell(["rebalance", "--store", one])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("Name all servers of the store") as string,
    });
  });
});
