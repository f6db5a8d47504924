// In test:all alone: it stops and kills the servers of a cluster, for 120 s.
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import type { PostgresStoreOptions } from "../../../src/store/postgres/options.js";
import { type CitusCluster, query, startCitus } from "../../support/citus-cluster.js";
import { noCitus, signalServer } from "../../support/postgres-server.js";

const dimension = 16;
const documents = Array.from({ length: 60 }, (_, at) =>
  madeDocument(`file:///${at}.md`, [`The owl number ${at}`, `An owl sleeps, ${at} times`], {
    metadata: { number: at },
  }),
);
const asked = { text: "owl sleeps", vector: madeVector("owl sleeps", dimension) };
const deadlineMs = 6000;

describe.skipIf(noCitus)("a cluster with a fault", () => {
  let cluster: CitusCluster;
  let url: string;
  beforeAll(async () => {
    cluster = await startCitus({ also: ["max_connections=40"] });
    url = await cluster.createDatabase("docs");
  }, 120_000);
  afterAll(() => cluster?.remove());

  async function opened(schema: string, options: PostgresStoreOptions = {}) {
    const store = await openPostgresStore(
      url,
      { space: "made" },
      { schema, index: "flat", deadlineMs, distributed: { shards: 6 }, ...options },
    );
    onTestFinished(() => store.close());
    return store;
  }

  type Opened = Awaited<ReturnType<typeof opened>>;

  const faulty = {
    dense: (store: Opened) => store.dense.retrieve(asked, { count: 200 }),
    lexical: (store: Opened) => store.lexical.retrieve(asked, { count: 200 }),
    write: (store: Opened) => store.write(withVectors(documents.slice(30), dimension)),
  };

  /** The errors of every act, and whether they came within the deadline. */
  async function failures(store: Opened) {
    const ends = [];
    for (const [name, act] of Object.entries(faulty)) {
      const startedAt = performance.now();
      const error = await act(store).then(
        () => undefined,
        (thrown: unknown) => thrown as Error,
      );
      ends.push({ name, error, isInTime: performance.now() - startedAt < 1.5 * deadlineMs });
    }
    return ends;
  }

  /** Every act fails in time, by an error that names the node. */
  const named = (node: string) =>
    Object.keys(faulty).map((name) => ({
      name,
      error: expect.objectContaining({
        code: "unavailable",
        message: expect.stringContaining(node) as string,
      }) as Error,
      isInTime: true,
    }));

  /** Every acknowledged document is there as a whole, the others as a whole or not at all; then everything can be written. */
  async function recovers(store: Opened): Promise<void> {
    await expect.poll(() => faulty.dense(store), { timeout: 60_000, interval: 500 }).toHaveLength(60);
    expect(await store.verify()).toMatchObject({ ok: true, problems: [] });
    expect((await store.counts()).documents).toBe(30);
    await faulty.write(store);
    expect(await store.counts()).toMatchObject({ documents: 60, chunks: 120 });
    expect(await store.verify()).toMatchObject({ ok: true, problems: [] });
  }

  test("of a node that was killed answers within the deadline by an error that names it, and lacks nothing when that is back", async () => {
    const store = await opened("killed");
    await store.write(withVectors(documents.slice(0, 30), dimension));
    const worker = cluster.workers[1]!;
    await worker.stop("immediate");
    try {
      expect(await failures(store)).toEqual(named(`127.0.0.1:${worker.port}`));
    } finally {
      await worker.start();
    }
    await recovers(store);
  }, 240_000);

  test("of a node that stopped without a word does so, too", async () => {
    const store = await opened("stopped");
    await store.write(withVectors(documents.slice(0, 30), dimension));
    const worker = cluster.workers[1]!;
    signalServer(worker, "SIGSTOP");
    try {
      expect(await failures(store)).toEqual(named(`127.0.0.1:${worker.port}`));
    } finally {
      signalServer(worker, "SIGCONT");
    }
    await recovers(store);
  }, 240_000);

  test("of a coordinator that crashes and starts again keeps every write, and writes none twice", async () => {
    const store = await opened("restarted", { deadlineMs: 120_000 });
    const crash = (async () => {
      for (let round = 0; round < 2; round++) {
        await new Promise((resolve) => setTimeout(resolve, 700));
        await cluster.coordinator.stop("immediate");
        await cluster.coordinator.start();
      }
    })();
    for (let at = 0; at < 60; at += 6) {
      await store.write(withVectors(documents.slice(at, at + 6), dimension));
      expect((await faulty.dense(store)).length).toBe(2 * (at + 6));
    }
    await crash;
    expect(await store.counts()).toMatchObject({ documents: 60, chunks: 120 });
    expect(await store.verify()).toMatchObject({ ok: true, problems: [] });
  }, 240_000);

  test("of a node without a free connection says so, and goes on when there is one", async () => {
    const store = await opened("crowded");
    await store.write(withVectors(documents.slice(0, 30), dimension));
    const worker = cluster.workers[2]!;
    // The connections that the coordinator keeps open are closed first.
    await query(
      worker.url("docs"),
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'citus%'",
    );
    const crowd: pg.Client[] = [];
    try {
      for (let isFull = false; !isFull;) {
        const client = new pg.Client(worker.url("docs"));
        client.on("error", () => {});
        isFull = await client.connect().then(
          () => !crowd.push(client),
          () => true,
        );
      }
      expect(await failures(store)).toEqual(named(`127.0.0.1:${worker.port}`));
    } finally {
      await Promise.all(crowd.map((client) => client.end()));
    }
    await recovers(store);
  }, 240_000);
});
