// In test:all alone: it kills worker processes beside a database server, for 80 s.
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { ingest } from "../../../src/knowledge-base/ingest.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { startCitus } from "../../support/citus-cluster.js";
import { commandFile } from "../../support/citewell.js";
import { startFaultyEmbeddings } from "../../support/faulty-embeddings.js";
import { postgresContent } from "../../support/postgres-content.js";
import { noCitus, noPostgres, type PostgresServer, startPostgres } from "../../support/postgres-server.js";
import { crowdDocuments, crowdEmbedder, runCrowd } from "../../support/worker-crowd.js";

let server: PostgresServer;
beforeAll(async () => {
  if (!noPostgres) server = await startPostgres();
}, 60_000);
afterAll(() => server?.remove());

test.skipIf(noPostgres)(
  "killed and stopped workers, a crash of the database and a failing service leave the store of a quiet run, and little is embedded twice",
  async () => {
    const [quiet, wild] = await Promise.all([server.createDatabase("quiet"), server.createDatabase("wild")]);
    const [calm, faulty] = await Promise.all([startFaultyEmbeddings(0, 1), startFaultyEmbeddings(0.2, 1, 20)]);
    onTestFinished(async () => void (await Promise.all([calm.close(), faulty.close()])));
    const documents = crowdDocuments(300);
    const { embedder, close } = crowdEmbedder(calm);
    const store = await openPostgresStore(quiet, embedder);
    await ingest(documents, { store, embedder });
    await store.close();
    await close();
    const workers = 3;
    const outcome = await runCrowd({
      server,
      url: wild,
      upstream: faulty,
      documents,
      command: commandFile,
      workers,
      concurrency: 1,
      killAt: [0.1, 0.3, 0.5],
      pauseAt: [0.05, 0.2],
      restartAt: 0.4,
      maxSeconds: 200,
    });
    expect(outcome.messages).toBe("");
    expect(outcome.status.documents).toMatchObject({ waiting: 0, added: 300, failed: 0, quarantined: 0 });
    expect(outcome.kills).toBe(3);
    expect(outcome.pauses).toBe(2);
    expect(faulty.faults()).toBeGreaterThan(0);
    expect(await postgresContent(wild)).toEqual(await postgresContent(quiet));
    // Each worker has one job at a time. What had not been written when it or the database ended is embedded again.
    const interruptions = outcome.kills + outcome.pauses + workers;
    expect(outcome.repeatedTexts).toBeLessThanOrEqual(interruptions * faulty.maxTexts());
    expect([...faulty.answered.keys()].toSorted()).toEqual([...calm.answered.keys()].toSorted());
  },
  240_000,
);

test.skipIf(noCitus)(
  "workers that are killed twenty times leave the store of a quiet run on a cluster, too",
  async () => {
    const cluster = await startCitus();
    onTestFinished(() => cluster.remove());
    const [quiet, wild] = [await cluster.createDatabase("quiet"), await cluster.createDatabase("wild")];
    const [calm, busy] = await Promise.all([startFaultyEmbeddings(0, 1), startFaultyEmbeddings(0, 1, 20)]);
    onTestFinished(async () => void (await Promise.all([calm.close(), busy.close()])));
    const documents = crowdDocuments(400);
    const { embedder, close } = crowdEmbedder(calm);
    for (const url of [quiet, wild]) {
      const store = await openPostgresStore(url, embedder, { distributed: { shards: 6 } });
      if (url === quiet) await ingest(documents, { store, embedder });
      await store.close();
    }
    await close();
    const outcome = await runCrowd({
      server: cluster.coordinator,
      url: wild,
      upstream: busy,
      documents,
      command: commandFile,
      workers: 3,
      concurrency: 1,
      killAt: Array.from({ length: 20 }, (_, kill) => 0.02 + 0.045 * kill),
      maxSeconds: 200,
    });
    expect(outcome.messages).toBe("");
    expect(outcome.kills).toBe(20);
    expect(outcome.status.documents).toMatchObject({ waiting: 0, added: 400, failed: 0, quarantined: 0 });
    expect(await postgresContent(wild)).toEqual(await postgresContent(quiet));
    expect(outcome.repeatedTexts).toBeLessThanOrEqual(outcome.kills * busy.maxTexts());
    expect([...busy.answered.keys()].toSorted()).toEqual([...calm.answered.keys()].toSorted());
  },
  300_000,
);
