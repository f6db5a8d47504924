// In test:all alone: it starts replicas of a database server, for 22 s.
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import type { Store } from "../../../src/core/ports.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import type { PostgresStoreOptions } from "../../../src/store/postgres/options.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres-server.js";

const dimension = 16;
const made = (at: number) => withVectors([madeDocument(`d${at}`, [`A mole digs tunnel ${at}`])], dimension);
const query = { text: "mole", vector: madeVector("mole", dimension) };

describe.skipIf(noPostgres)("a store with a streaming replica", () => {
  let [primary, replica] = [{} as PostgresServer, {} as PostgresServer];
  beforeAll(async () => {
    primary = await startPostgres();
    replica = await startPostgres({ replicaOf: primary });
  });
  afterAll(async () => {
    await replica.remove();
    await primary.remove();
  });

  const open = async (options: PostgresStoreOptions) => {
    const store = await openPostgresStore(primary.url(), { space: "made" }, options);
    onTestFinished(() => store.close());
    return store;
  };
  const found = async (store: Store) => {
    const [near, relevant] = await Promise.all(
      [store.dense, store.lexical].map((retriever) => retriever.retrieve(query, { count: 100 })),
    );
    expect((await store.hits(near!)).length).toBe(near!.length);
    expect(relevant!.length).toBe(near!.length);
    return near!.length;
  };
  const onReplica = async <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> => {
    const client = new pg.Client(replica.url());
    await client.connect();
    try {
      return (await client.query<Row>(text, values)).rows;
    } finally {
      await client.end();
    }
  };
  /** Whether a search of the store is seen on the replica. */
  const readsReplica = async (store: Store) => {
    const [clock] = await onReplica<{ now: string }>("SELECT clock_timestamp()::text AS now");
    await store.dense.retrieve(query, { count: 1 });
    const [row] = await onReplica<{ count: number }>(
      `SELECT count(*)::int FROM pg_stat_activity
       WHERE application_name = 'citewell' AND query LIKE '%embeddings%' AND query_start >= $1`,
      [clock!.now],
    );
    return row!.count > 0;
  };

  test("is searched on it, finds what the same process wrote at once, and what others wrote within the maximum lag", async () => {
    const other = await open({ schema: "lag" });
    await other.write(made(0));
    const store = await open({ schema: "lag", replicas: [replica.url()], maxLagMs: 1000 });
    await expect.poll(() => readsReplica(store), { timeout: 30_000 }).toBe(true);
    await onReplica("SELECT pg_wal_replay_pause()");
    for (let at = 1; at <= 5; at++) {
      await store.write(made(at));
      expect(await found(store)).toBe(at + 1);
      expect(await store.document(`d${at}`)).toBeDefined();
    }
    await other.write(made(6));
    await expect.poll(() => found(store), { timeout: 30_000 }).toBe(7);
    await onReplica("SELECT pg_wal_replay_resume()");
    await expect.poll(() => readsReplica(store), { timeout: 30_000 }).toBe(true);
    expect(await found(store)).toBe(7);
    await store.deleteDocuments(["d6"]);
    expect(await found(store)).toBe(6);
  });

  test("is searched on its first server while the replica is down, and on the replica while the first server is", async () => {
    const writer = await open({ schema: "down" });
    for (let at = 0; at < 10; at++) await writer.write(made(at));
    const another = await open({ schema: "down", replicas: [replica.url()], maxLagMs: 1000 });
    await expect.poll(() => readsReplica(another), { timeout: 30_000 }).toBe(true);
    await replica.stop("immediate");
    for (let search = 0; search < 5; search++) expect(await found(another)).toBe(10);
    // One that is down when the store is opened is read as soon as it is there.
    const late = await open({ schema: "down", replicas: [replica.url()], maxLagMs: 1000 });
    expect(await found(late)).toBe(10);
    await replica.start();
    for (const each of [another, late]) {
      await expect.poll(() => readsReplica(each), { timeout: 30_000 }).toBe(true);
    }
    const long = await open({ schema: "down", replicas: [replica.url()], maxLagMs: 120_000, deadlineMs: 6000 });
    await expect.poll(() => readsReplica(long), { timeout: 60_000 }).toBe(true);
    await primary.stop("fast");
    expect(await found(long)).toBe(10);
    await expect(long.write(made(10))).rejects.toMatchObject({ code: "unavailable" });
    await primary.start();
    await long.write(made(10));
    expect(await found(long)).toBe(11);
  });

  test("written at the address of a standby is tried until the deadline, as while it is being promoted, and then refused", async () => {
    await (await open({ schema: "standby" })).write(made(0));
    const arrived = () => onReplica("SELECT FROM pg_namespace WHERE nspname = 'standby'");
    await expect.poll(arrived, { timeout: 30_000 }).toHaveLength(1);
    const options = { schema: "standby", create: false, deadlineMs: 2000 };
    const store = await openPostgresStore(replica.url(), { space: "made" }, options);
    onTestFinished(() => store.close());
    await expect(store.write(made(1))).rejects.toMatchObject({ code: "unavailable" });
  });

  test("refuses what is no replica of it with one line, and reads the first server", async () => {
    const stranger = await startPostgres();
    onTestFinished(() => stranger.remove());
    const elsewhere = await openPostgresStore(stranger.url(), { space: "made" });
    await elsewhere.close();
    const warnings: string[] = [];
    const onWarning = (message: string) => void warnings.push(message);
    const store = await open({ replicas: [stranger.url()], maxLagMs: 200, onWarning });
    await store.write(made(1));
    await expect.poll(() => warnings, { timeout: 30_000 }).toEqual([expect.stringContaining("is no replica")]);
    expect(await found(store)).toBe(1);
    expect(warnings).toHaveLength(1);
  });
});
