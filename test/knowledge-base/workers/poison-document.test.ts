import type { ChildProcess } from "node:child_process";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { enqueue } from "../../../src/knowledge-base/workers/enqueue.js";
import { queueOf } from "../../../src/knowledge-base/workers/queue.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { citewell, commandFile } from "../../support/citewell.js";
import { embeddingReply, textsOf } from "../../support/embedding-service.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres-server.js";
import { scriptedUpstream } from "../../support/scripted-upstream.js";
import { crowdDocuments, crowdEmbedder } from "../../support/worker-crowd.js";
import { startWorkerProcess } from "../../support/worker-process.js";

let server: PostgresServer;
beforeAll(async () => {
  if (!noPostgres) server = await startPostgres();
}, 60_000);
afterAll(() => server?.remove());

test.skipIf(noPostgres)(
  "a document that kills its worker is given up after five of them, is named, and costs no other document",
  async () => {
    const url = await server.createDatabase("poisoned");
    let worker: ChildProcess | undefined;
    // Jobs that the worker held each time that it was killed.
    const held: number[] = [];
    const upstream = await scriptedUpstream((request) => {
      if (!textsOf(request).some((text) => text.includes("poison"))) return embeddingReply(request);
      void killWorker();
      return { hang: true };
    });
    const { embedder, close } = crowdEmbedder(upstream);
    const store = await openPostgresStore(url, embedder);
    onTestFinished(async () => {
      await store.close();
      await close();
    });
    const { database } = queueOf("test", store);
    const killWorker = async () => {
      const rows = await database.read((session) =>
        session.query("SELECT FROM ingest_documents WHERE worker IS NOT NULL"),
      );
      held.push(rows.length);
      worker!.kill("SIGKILL");
    };
    const given = [...crowdDocuments(60), { uri: "crowd:00007b", text: "This is poison." }].toSorted((one, other) =>
      one.uri < other.uri ? -1 : 1,
    );
    await enqueue(given, { store, embedder });
    const flags = ["--until-done", "--concurrency", "2", "--dead-after", "600"];
    let messages = "";
    const run = () =>
      new Promise<number | null>((resolve) => {
        const { baseUrl } = upstream;
        worker = startWorkerProcess({ command: commandFile, url, baseUrl, flags }, (text) => (messages += text));
        worker.on("close", resolve);
      });
    // The loop acts as a supervisor that starts it again and again. Nobody has to wait until it is silent for long enough.
    while ((await run()) === null) {
      await database.read((session) => session.query("UPDATE ingest_members SET dead_after = '-1 minute'"));
    }
    expect(messages).toBe("");
    expect(held).toEqual([expect.any(Number), expect.any(Number), 1, 1, 1]);
    expect(held[0]).toBeGreaterThan(16);
    expect(held[1]).toBeLessThanOrEqual(8);
    const environment = {
      CITEWELL_BASE_URL: upstream.baseUrl,
      CITEWELL_API_KEY: "sk-0123456789",
      CITEWELL_EMBEDDING_MODEL: embedder.space.split("@")[0]!,
    };
    const shown = await citewell(["status", "--store", url], { environment });
    expect(shown.stdout).toContain("60 added, 1 quarantined");
    expect(shown.stdout).toMatch(/^Poison +crowd:00007b: the worker ended while it had this document, 5 times/m);
    expect(shown.exitCode).toBe(1);
    expect((await enqueue(given, { store, embedder })).documents).toMatchObject({ unchanged: 60, quarantined: 1 });
  },
  120_000,
);
