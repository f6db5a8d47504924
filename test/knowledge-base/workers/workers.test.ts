// In test:all alone: it starts worker processes beside a database server, for 28 s.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { TransportError } from "../../../src/core/errors.js";
import type { Document } from "../../../src/core/types.js";
import { enqueue } from "../../../src/knowledge-base/workers/enqueue.js";
import { buryTheDead, join } from "../../../src/knowledge-base/workers/members.js";
import { strandedBatches } from "../../../src/knowledge-base/workers/jobs.js";
import { queueOf } from "../../../src/knowledge-base/workers/queue.js";
import { status } from "../../../src/knowledge-base/workers/status.js";
import { work } from "../../../src/knowledge-base/workers/work.js";
import { ingest } from "../../../src/knowledge-base/ingest.js";
import type { WatchedSource } from "../../../src/knowledge-base/ingest/run.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { postgresContent } from "../../support/postgres-content.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres-server.js";
import { wordEmbedder } from "../../support/word-embedder.js";

let server: PostgresServer;
beforeAll(async () => {
  if (!noPostgres) server = await startPostgres();
}, 60_000);
afterAll(() => server?.remove());

let databases = 0;

async function openStore(embedder = wordEmbedder()) {
  const url = await server.createDatabase(`d${++databases}`);
  const store = await openPostgresStore(url, embedder);
  onTestFinished(() => store.close());
  return { url, to: { store, embedder } };
}

/** A source that owns all documents whose uri begins with its name. */
function source(name: string, given: Iterable<Document> | AsyncIterable<Document>): WatchedSource {
  return {
    read: async function* () {
      yield* given;
    },
    vanished: (uri) => uri.startsWith(`${name}:`),
  };
}

function documents(name: string, count: number): Document[] {
  return Array.from({ length: count }, (_, index) => ({
    uri: `${name}:${String(index).padStart(4, "0")}`,
    text: `Document ${index} of ${name}. ${"It says something about rotation and keys. ".repeat(1 + (index % 7))}`,
    metadata: { number: index },
  }));
}

const soon = { untilDone: true, deadAfterMs: 1000 };

/** An embedder that waits in its first call until it is let go, or the call is aborted. */
function waitingEmbedder({ isDeaf = false } = {}) {
  const asked = resolvable();
  const going = resolvable();
  const embedder = wordEmbedder({
    before: async (_texts, { signal }, index) => {
      if (index > 0) return;
      asked.resolve();
      if (!isDeaf) signal?.addEventListener("abort", () => going.reject(signal.reason), { once: true });
      await going.promise;
    },
  });
  return { embedder, asked: asked.promise, letGo: () => going.resolve() };
}

describe.skipIf(noPostgres)("workers", () => {
  test("leave the store as one process would have left it, and embed every text once", async () => {
    const one = await openStore();
    const many = await openStore();
    const given = [
      ...documents("a", 60),
      { uri: "a:blank", text: " \n" },
      { uri: "a:\0odd", text: "NUL \0, half \ud800 a pair" },
    ];
    await ingest(source("a", given), one.to);
    const read = await enqueue(source("a", given), many.to);
    expect(read.documents).toEqual({ queued: 62, unchanged: 0, vanished: 0, failed: 0, quarantined: 0 });
    const reports = await Promise.all([1, 2, 3].map(() => work({ ...many.to, ...soon })));
    expect(reports.reduce((sum, { documents: { added } }) => sum + added, 0)).toBe(62);
    expect(await postgresContent(many.url)).toEqual(await postgresContent(one.url));
    expect(await status({ store: many.to.store })).toMatchObject({
      isDone: true,
      documents: { added: 62, waiting: 0 },
      members: [],
    });
    expect(new Set(many.to.embedder.calls.flat()).size).toBe(many.to.embedder.calls.flat().length);
  });

  test("end with the last document when that was asked for, however seldom they send heartbeats", async () => {
    const { to } = await openStore();
    await enqueue(source("i", documents("i", 5)), to);
    const rarely = { untilDone: true, deadAfterMs: 3_600_000 };
    expect((await work({ ...to, ...rarely })).documents.added).toBe(5);
  });

  test("get changed documents alone; what vanished is deleted when all jobs have ended", async () => {
    const { to } = await openStore();
    const [first, second, ...rest] = documents("b", 20);
    await enqueue(source("b", [first!, second!, ...rest]), to);
    await work({ ...to, ...soon });
    const changed = { ...first!, text: "Something else altogether." };
    const read = await enqueue(source("b", [changed, ...rest]), to);
    expect(read.documents).toEqual({ queued: 1, unchanged: 18, vanished: 1, failed: 0, quarantined: 0 });
    expect(await to.store.documentInfo(second!.uri)).toBeDefined();
    await work({ ...to, ...soon });
    expect(await to.store.documentInfo(second!.uri)).toBeUndefined();
    expect(await to.store.document(first!.uri)).toMatchObject({ text: changed.text });
    expect((await status({ store: to.store })).documents).toMatchObject({
      updated: 1,
      unchanged: 18,
      deleted: 1,
      vanished: 0,
    });
  });

  test("delete nothing after a source that was not read to its end", async () => {
    const { to } = await openStore();
    await enqueue(source("c", documents("c", 20)), to);
    await work({ ...to, ...soon });
    const broken = async function* () {
      yield* documents("c", 3);
      throw new Error("the disk is gone");
    };
    await expect(enqueue(source("c", broken()), to)).rejects.toThrow("the disk is gone");
    await work({ ...to, ...soon });
    expect((await to.store.counts()).documents).toBe(20);
    expect((await status({ store: to.store })).interruptedRuns).toBe(1);
  });

  test("store the newest version, also of a document that was queued anew while one of them had it", async () => {
    const { to } = await openStore();
    const { embedder, asked, letGo } = waitingEmbedder();
    const version = (text: string) => source("d", [{ uri: "d:1", text }]);
    await enqueue(version("never seen"), to);
    await enqueue(version("the old words"), to);
    const working = work({ store: to.store, embedder, ...soon });
    await asked;
    await enqueue(version("the new words"), to);
    letGo();
    await working;
    expect(await to.store.document("d:1")).toMatchObject({ text: "the new words" });
    expect(embedder.calls.flat()).toEqual(["the old words", "the new words"]);
  });

  test("cannot write what the others took over from one that seemed dead", async () => {
    const { to } = await openStore();
    await enqueue(source("e", documents("e", 10)), to);
    const { embedder, asked, letGo } = waitingEmbedder({ isDeaf: true });
    const stuck = work({ store: to.store, embedder, concurrency: 1, ...soon });
    await asked;
    const { database } = queueOf("test", to.store);
    await database.read((session) => session.query("UPDATE ingest_members SET dead_after = '-1 minute'"));
    const healthy = await work({ ...to, ...soon });
    expect(healthy.documents.added).toBe(10);
    letGo();
    expect((await stuck).documents.added).toBe(0);
    expect((await to.store.counts()).documents).toBe(10);
  });

  test("cannot end the job that the others took over, when they go on after they seemed dead", async () => {
    const { to } = await openStore();
    await enqueue(source("k", documents("k", 4)), to);
    const { database, jobs } = queueOf("test", to.store);
    const takeForDead = () =>
      database.transaction(async (session) => {
        await session.query("UPDATE ingest_members SET dead_after = '-1 minute'");
      });
    const paused = waitingEmbedder({ isDeaf: true });
    const resuming = new AbortController();
    const first = work({
      store: to.store,
      embedder: paused.embedder,
      ...soon,
      concurrency: 1,
      signal: resuming.signal,
    });
    await paused.asked;
    await takeForDead();
    const second = waitingEmbedder({ isDeaf: true });
    const ending = new AbortController();
    const taking = work({ store: to.store, embedder: second.embedder, ...soon, concurrency: 1, signal: ending.signal });
    await second.asked;
    paused.letGo();
    resuming.abort();
    await first;
    const kept = await database.read((session) => session.query(`SELECT FROM ${jobs}.jobs`));
    expect(kept).toHaveLength(1);
    await takeForDead();
    const third = await work({ ...to, ...soon });
    second.letGo();
    ending.abort();
    await taking;
    expect(third.documents.added).toBe(4);
    expect(await status({ store: to.store })).toMatchObject({ isDone: true, documents: { added: 4, waiting: 0 } });
  });

  test("keep a job whose documents they could not claim", async () => {
    const { to } = await openStore();
    await enqueue(source("l", documents("l", 5)), to);
    const { database, jobs } = queueOf("test", to.store);
    const run = (sql: string) => database.transaction(async (session) => void (await session.query(sql)));
    await run(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$`);
    await run(`CREATE TRIGGER refusing BEFORE UPDATE ON ingest_documents FOR EACH ROW EXECUTE FUNCTION refuse()`);
    await expect(work({ ...to, ...soon })).rejects.toThrow("not now");
    await run("DROP TRIGGER refusing ON ingest_documents");
    expect(await database.read((session) => strandedBatches(session, jobs))).toEqual([]);
    expect((await work({ ...to, ...soon })).documents.added).toBe(5);
  });

  test("get documents again whose job is gone", async () => {
    const { to } = await openStore();
    await enqueue(source("m", documents("m", 40)), to);
    const { database, jobs } = queueOf("test", to.store);
    await database.transaction(async (session) => void (await session.query(`DELETE FROM ${jobs}._private_jobs`)));
    expect((await database.read((session) => strandedBatches(session, jobs))).length).toBe(3);
    expect((await status({ store: to.store })).documents.waiting).toBe(40);
    expect(await database.read((session) => strandedBatches(session, jobs))).toEqual([]);
    expect((await work({ ...to, ...soon })).documents.added).toBe(40);
  });

  test("take up what a dead worker had in a few jobs, and not one by one", async () => {
    const { to } = await openStore();
    await enqueue(source("j", documents("j", 16)), to);
    const { database, jobs } = queueOf("test", to.store);
    await database.transaction(async (session) => {
      await join(session, { id: "dead", role: "worker", deadAfterMs: -60_000 });
      await session.query("UPDATE ingest_documents SET worker = 'dead'");
    });
    await buryTheDead(database, jobs, 30_000);
    await work({ ...to, ...soon });
    expect((await to.store.counts()).documents).toBe(16);
    expect(to.embedder.calls.length).toBe(4);
  });

  test("leave a document alone that ends the work again and again, and do all others", async () => {
    const poison = wordEmbedder({
      before: (texts) => {
        if (texts.some((text) => text.includes("poison"))) throw new Error("that was poison");
      },
    });
    const { to } = await openStore(poison);
    const given = [...documents("f", 20), { uri: "f:poison", text: "This is poison." }];
    await enqueue(source("f", given), to);
    await work({ ...to, ...soon });
    const { documents: counted, failures } = await status({ store: to.store });
    expect(counted).toMatchObject({ added: 20, quarantined: 1, waiting: 0 });
    expect(failures).toEqual([{ uri: "f:poison", state: "quarantined", error: "that was poison" }]);
    expect((await enqueue(source("f", given), to)).documents).toMatchObject({ queued: 0, quarantined: 1 });
    const retried = await enqueue(source("f", given), { ...to, retryFailed: true });
    expect(retried.documents).toMatchObject({ queued: 1, quarantined: 0 });
    const mended = await enqueue(source("f", [...documents("f", 20), { uri: "f:poison", text: "This is food." }]), to);
    expect(mended.documents).toMatchObject({ queued: 1, quarantined: 0 });
    await work({ ...to, ...soon });
    expect(await to.store.documentInfo("f:poison")).toBeDefined();
    expect((await status({ store: to.store })).failures).toEqual([]);
  });

  test("try again what the service failed at, and end when it refuses their key", async () => {
    const failing = (retryable: boolean, times: number) =>
      wordEmbedder({
        before: (_texts, _call, index) => {
          if (index < times) throw new TransportError("upstream", "out of order", { retryable });
        },
      });
    const { to } = await openStore();
    await enqueue(source("g", documents("g", 5)), to);
    const refused = work({ store: to.store, embedder: failing(false, 9), ...soon });
    await expect(refused).rejects.toThrow("out of order");
    expect((await status({ store: to.store })).documents).toMatchObject({ waiting: 5, working: 0 });
    const again = await work({ store: to.store, embedder: failing(true, 2), ...soon });
    expect(again.documents.added).toBe(5);
  });

  test.each([
    ["finish their jobs when they are asked to end", 60_000, { added: 5, waiting: 0 }],
    ["give back the jobs that take longer than that", 0, { added: 0, waiting: 5 }],
  ])("%s", async (_title, drainMs, expected) => {
    const { to } = await openStore();
    await enqueue(source("h", documents("h", 5)), to);
    const { embedder, asked, letGo } = waitingEmbedder();
    const ending = new AbortController();
    const working = work({ store: to.store, embedder, drainMs, signal: ending.signal });
    await asked;
    ending.abort();
    if (drainMs > 0) {
      await sleep(50);
      letGo();
    }
    await working;
    expect(await status({ store: to.store })).toMatchObject({
      members: [],
      documents: { ...expected, working: 0, quarantined: 0 },
    });
    const { database } = queueOf("test", to.store);
    const lost = await database.read((session) => session.query("SELECT FROM ingest_documents WHERE losses > 0"));
    expect(lost).toEqual([]);
  });
});

function resolvable(): { promise: Promise<void>; resolve: () => void; reject: (reason: unknown) => void } {
  let resolve!: () => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<void>((...both) => ([resolve, reject] = both));
  return { promise, resolve, reject };
}
