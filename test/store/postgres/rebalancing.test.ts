// In test:all alone: it adds a node to a cluster and removes another while workers ingest, for 120 s.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { madeVector } from "../../../src/conformance/made-documents.js";
import { CitewellError } from "../../../src/core/errors.js";
import { ingest } from "../../../src/knowledge-base/ingest.js";
import { enqueue } from "../../../src/knowledge-base/workers/enqueue.js";
import { status } from "../../../src/knowledge-base/workers/status.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { query, startCitus } from "../../support/citus-cluster.js";
import { commandFile } from "../../support/citewell.js";
import { startFaultyEmbeddings } from "../../support/faulty-embeddings.js";
import { postgresContent } from "../../support/postgres-content.js";
import { noCitus } from "../../support/postgres-server.js";
import { crowdDocuments, crowdEmbedder } from "../../support/worker-crowd.js";
import { startWorkerProcess } from "../../support/worker-process.js";

const deadlineMs = 30_000;
const documents = crowdDocuments(160);
const batchSize = 20;
/** Documents that are there before anything moves: what is asked about them has one right answer all along. */
const first = documents.slice(0, batchSize);
const filter = { metadata: { index: { lt: batchSize } } };

test.skipIf(noCitus)(
  "a node is added and another drained and removed while four workers ingest: questions are answered, and the store is that of a quiet run",
  async () => {
    const cluster = await startCitus({ workers: 2 });
    onTestFinished(() => cluster.remove());
    const [quiet, moved] = [await cluster.coordinator.createDatabase("quiet"), await cluster.createDatabase("moved")];
    const [calm, upstream] = await Promise.all([startFaultyEmbeddings(0, 1), startFaultyEmbeddings(0, 1, 20)]);
    onTestFinished(async () => void (await Promise.all([calm.close(), upstream.close()])));
    const [calmModel, model] = [crowdEmbedder(calm), crowdEmbedder(upstream)];
    onTestFinished(async () => void (await Promise.all([calmModel.close(), model.close()])));
    const still = await openPostgresStore(quiet, calmModel.embedder, { index: "flat" });
    onTestFinished(() => still.close());
    await ingest(documents, { store: still, embedder: calmModel.embedder });
    const options = { index: "flat", deadlineMs, distributed: { shards: 6 } } as const;
    const store = await openPostgresStore(moved, model.embedder, options);
    onTestFinished(() => store.close());
    const dimension = still.dimension!;

    let messages = "";
    const workers: ChildProcess[] = Array.from({ length: 4 }, () =>
      startWorkerProcess(
        {
          command: commandFile,
          url: moved,
          baseUrl: upstream.baseUrl,
          flags: ["--concurrency", "1", "--dead-after", "30"],
        },
        (text) => (messages += text),
      ),
    );
    const endWorkers = async () => {
      const running = workers.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
      await Promise.all(running.map((child) => (child.kill("SIGTERM"), once(child, "exit"))));
    };
    onTestFinished(endWorkers);
    // The queue counts the documents of one call of enqueue until the next.
    let stored = 0;
    const fill = async (batch: typeof documents) => {
      await enqueue(batch, { store, embedder: model.embedder });
      await expect.poll(async () => (await status({ store })).isDone, { timeout: 120_000, interval: 300 }).toBe(true);
      const ended = (await status({ store })).documents;
      expect(ended).toMatchObject({ waiting: 0, failed: 0, quarantined: 0 });
      stored += ended.added;
    };

    const ask = async (asked: typeof store) => {
      const vector = madeVector("keys", dimension);
      const [near, relevant] = await Promise.all([
        asked.dense.retrieve({ text: "", vector }, { count: 1000, filter }),
        asked.lexical.retrieve({ text: "keys about" }, { count: 1000, filter }),
      ]);
      return {
        near: near.map(({ chunkId }) => chunkId),
        relevant: relevant.map(({ chunkId }) => chunkId).toSorted(),
      };
    };
    await fill(first);
    const right = await ask(still);
    expect(right.near.length).toBeGreaterThan(batchSize);
    expect(await ask(store)).toEqual(right);

    const isMoved = new AbortController();
    const portsOf = async () => {
      const rows = await query<{ port: number }>(moved, "SELECT DISTINCT nodeport AS port FROM citus_shards");
      return new Set(rows.map(({ port }) => port));
    };
    const rebalance = async () => {
      await query(moved, "SELECT citus_rebalance_start()");
      await query(moved, "SELECT citus_rebalance_wait()");
    };
    const move = async () => {
      const drained = cluster.workers[0]!;
      const added = await cluster.addWorker("moved");
      await rebalance();
      expect(await portsOf()).toEqual(new Set(cluster.workers.map(({ port }) => port)));
      await query(moved, "SELECT citus_set_node_property('127.0.0.1', $1, 'shouldhaveshards', false)", [drained.port]);
      await rebalance();
      expect((await portsOf()).has(drained.port)).toBe(false);
      await query(moved, "SELECT citus_remove_node('127.0.0.1', $1)", [drained.port]);
      // A question that still needed this node would fail from now on.
      await drained.stop("immediate");
      expect(await portsOf()).toEqual(new Set([cluster.workers[1]!.port, added.port]));
    };
    const outcomes = { right: 0, failed: [] as string[], slowestMs: 0 };
    const askAllAlong = async () => {
      while (!isMoved.signal.aborted) {
        const startedAt = performance.now();
        try {
          expect(await ask(store)).toEqual(right);
          outcomes.right++;
        } catch (error) {
          if (!(error instanceof CitewellError)) throw error;
          outcomes.failed.push(error.message);
        }
        outcomes.slowestMs = Math.max(outcomes.slowestMs, performance.now() - startedAt);
        await sleep(200);
      }
    };
    const feed = async () => {
      for (let at = batchSize; at < documents.length; at += batchSize) {
        await fill(documents.slice(at, at + batchSize));
        // The last batch comes when the drained node is gone.
        if (at + 2 * batchSize >= documents.length) await moving;
      }
    };
    const moving = move().finally(() => isMoved.abort());
    await Promise.all([moving, askAllAlong(), feed()]);
    await endWorkers();

    expect(messages).toBe("");
    expect(outcomes.failed).toEqual([]);
    expect(outcomes.right).toBeGreaterThan(10);
    expect(outcomes.slowestMs).toBeLessThan(1.5 * deadlineMs);
    expect(stored).toBe(documents.length);
    expect((await status({ store })).isDone).toBe(true);
    expect(await ask(store)).toEqual(right);
    expect(await postgresContent(moved)).toEqual(await postgresContent(quiet));
    expect(await store.verify()).toMatchObject({ ok: true, problems: [] });
    // No worker was killed, so that nothing was in flight that had to be asked for again.
    expect(upstream.answered).toEqual(calm.answered);
  },
  300_000,
);
