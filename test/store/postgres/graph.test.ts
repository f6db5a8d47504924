// In test:all alone: it builds graphs on a database server, for 11 s.
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { madeDocument, withVectors } from "../../../src/conformance/made-documents.js";
import type { PostgresStoreOptions } from "../../../src/store/postgres/options.js";
import { Server } from "../../../src/postgres/server.js";
import { createGraph } from "../../../src/store/postgres/schema.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres-server.js";

const dimension = 16;
const flatBelow = 20;

describe.skipIf(noPostgres)("the graph of a store on PostgreSQL", () => {
  let server: PostgresServer;
  let client: pg.Client;
  beforeAll(async () => {
    server = await startPostgres();
    client = new pg.Client(server.url());
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await server.remove();
  });

  // No load pauses because the machine is slow.
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  const open = (schema: string, options: PostgresStoreOptions = {}) =>
    openPostgresStore(server.url(), { space: "made" }, { schema, flatBelow, ...options });
  const load = (from: number, to: number) =>
    withVectors(
      Array.from({ length: to - from }, (_, at) => madeDocument(`d${from + at}`, [`text ${from + at}`])),
      dimension,
    );
  const isMade = async (schema: string) =>
    (
      await client.query<{ made: boolean }>("SELECT to_regclass($1) IS NOT NULL AS made", [
        `${schema}.embeddings_graph`,
      ])
    ).rows[0]!.made;

  test("is made once for all of a first load, when that pauses, and everything is found before", async () => {
    const store = await open("pausing");
    for (const at of [0, 15, 30, 45]) {
      const write = load(at, at + 15);
      await store.write(write);
      vi.advanceTimersByTime(900);
      expect(await isMade("pausing")).toBe(false);
      const last = [...write.vectors!.values()].at(-1)!;
      const found = await store.hits(await store.dense.retrieve({ text: "", vector: last }, { count: 1 }));
      expect(found.map(({ chunk }) => chunk.text)).toEqual([`text ${at + 14}`]);
    }
    vi.advanceTimersByTime(100);
    // A write waits for the graph that is being made.
    await store.write(load(60, 61));
    expect(await isMade("pausing")).toBe(true);
    expect(await store.verify({ sample: 61 })).toMatchObject({ ok: true, recall: 1 });
    await store.close();
  });

  test("is there when the store is closed", async () => {
    const store = await open("closed");
    await store.write(load(0, 30));
    await store.close();
    expect(await isMade("closed")).toBe(true);
  });

  test("is not waited for by a load of many times the size from which it is worth it", async () => {
    const store = await open("large");
    await store.write(load(0, 78));
    expect(await isMade("large")).toBe(false);
    await store.write(load(78, 80));
    expect(await isMade("large")).toBe(true);
    await store.close();
  });

  test("that cannot be made leaves a warning, and a store in which everything is found", async () => {
    const warnings: string[] = [];
    const store = await open("refused", { onWarning: (message) => warnings.push(message) });
    const write = load(0, 30);
    await store.write(write);
    await client.query("ALTER TABLE refused.embeddings RENAME TO elsewhere");
    await store.close();
    expect(warnings).toEqual([expect.stringContaining("All vectors are compared")]);
    await client.query("ALTER TABLE refused.elsewhere RENAME TO embeddings");
    const opened = await open("refused");
    const [vector] = write.vectors!.values();
    expect(await opened.dense.retrieve({ text: "", vector: vector! }, { count: 30 })).toHaveLength(30);
    await opened.close();
  });

  test("that cannot be made at a write leaves a warning, and the write is done", async () => {
    await (await open("refused_at_once", { index: "flat" })).write(load(0, 1));
    const warnings: string[] = [];
    const store = await open("refused_at_once", { index: "hnsw", onWarning: (message) => warnings.push(message) });
    await client.query(`CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''disk full''; END';
      CREATE EVENT TRIGGER refusing ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION refuse()`);
    try {
      expect(await store.write(load(1, 5))).toHaveLength(4);
    } finally {
      await client.query("DROP EVENT TRIGGER refusing");
    }
    expect(warnings).toEqual(["All vectors are compared, because no graph was made: disk full"]);
    await store.write(load(5, 6));
    expect(await isMade("refused_at_once")).toBe(true);
    await store.close();
  });

  test("is left to the next load when closing is told not to wait", async () => {
    const store = await open("hurried");
    await store.write(load(0, 30));
    await store.close({ signal: AbortSignal.abort() });
    expect(await isMade("hurried")).toBe(false);
    const next = await open("hurried");
    await next.write(load(30, 31));
    await next.close();
    expect(await isMade("hurried")).toBe(true);
  });

  test("is made in memory also where the server allows less for that, as long as it is no more than 1 GB", async () => {
    const store = await open("memory", { index: "flat" });
    await store.write(load(0, 1000));
    await store.close();
    const allowed = { maintenance_work_mem: "1MB" };
    const limits = { maxConnections: 1, deadlineMs: 60_000 };
    const small = await Server.open({ url: server.url(), schema: "memory", settings: allowed, ...limits });
    const memory = await small.transaction(async (session) => {
      await createGraph(session, "memory", "vector", dimension, { m: 16, efConstruction: 100, column: "embedding" });
      return session.query("SELECT current_setting('maintenance_work_mem') AS memory");
    });
    // 1,000 vectors of 64 bytes, each with 1,280 for its links.
    expect(memory).toEqual([{ memory: "1312kB" }]);
    await small.close();
  });
});
