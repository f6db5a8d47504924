// In test:all alone: it needs a database server, for 5 s.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { enqueue } from "../../../src/knowledge-base/workers/enqueue.js";
import { status } from "../../../src/knowledge-base/workers/status.js";
import { work } from "../../../src/knowledge-base/workers/work.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { query } from "../../support/citus-cluster.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres-server.js";
import { wordEmbedder } from "../../support/word-embedder.js";

describe.skipIf(noPostgres)("the tables of a queue", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server?.remove());

  async function queued(name: string) {
    const url = await server.createDatabase(name);
    const embedder = wordEmbedder();
    const store = await openPostgresStore(url, embedder);
    onTestFinished(() => store.close());
    await enqueue([{ uri: "note:1", text: "An owl sleeps." }], { store, embedder });
    return { url, to: { store, embedder } };
  }

  test("say their version, and those that were made before they did are worked on", async () => {
    const { url, to } = await queued("unversioned");
    const versions = await query(url, "DELETE FROM citewell.meta WHERE name = 'queue' RETURNING value");
    expect(versions).toEqual([{ value: "1" }]);
    expect((await status({ store: to.store })).documents.waiting).toBe(1);
    expect((await work({ ...to, untilDone: true, deadAfterMs: 1000 })).documents.added).toBe(1);
    expect(await to.store.verify()).toMatchObject({ ok: true });
  });

  test("of a newer version are refused by every part, and left as they are", async () => {
    const { url, to } = await queued("newer");
    await query(url, "UPDATE citewell.meta SET value = '99' WHERE name = 'queue'");
    const refused = { code: "version", message: expect.stringContaining("queue of format 99") };
    await expect(status({ store: to.store })).rejects.toMatchObject(refused);
    await expect(work({ ...to, untilDone: true })).rejects.toMatchObject(refused);
    await expect(enqueue([{ uri: "note:2", text: "Another." }], to)).rejects.toMatchObject(refused);
    expect(await query(url, "SELECT uri, worker FROM citewell.ingest_documents")).toEqual([
      { uri: "note:1", worker: null },
    ]);
  });
});
