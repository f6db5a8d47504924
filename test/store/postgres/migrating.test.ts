// In test:all alone: it rebuilds stores on a server and on a cluster, for 30 s.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Document } from "../../../src/core/types.js";
import type { Embedder } from "../../../src/core/ports.js";
import { migrateKnowledgeBase } from "../../../src/knowledge-base/migrate.js";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { beginMigration, migratePostgresBack } from "../../../src/store/postgres/migration.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import type { PostgresStoreOptions } from "../../../src/store/postgres/options.js";
import { query, startCitus } from "../../support/citus-cluster.js";
import { noCitus, noPostgres, startPostgres } from "../../support/postgres-server.js";
import { wordEmbedder } from "../../support/word-embedder.js";

const documents: Document[] = Array.from({ length: 30 }, (_, at) => ({
  uri: `note:${String(at).padStart(2, "0")}`,
  text: `Topic ${at} is told here. ${"More words follow it. ".repeat(20)}`,
  metadata: { tenant: at % 2 === 0 ? "north" : "south" },
}));

const places = [
  { place: "one server", absent: noPostgres, options: {}, start: startPostgres },
  { place: "a cluster", absent: noCitus, options: { distributed: { shards: 4 } }, start: startCitus },
] as const;

describe.each(places.filter(({ absent }) => absent === undefined))("a store on $place", ({ options, start }) => {
  let running: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    running = await start();
  }, 300_000);
  afterAll(() => running?.remove());

  const model = (space: string, more: Parameters<typeof wordEmbedder>[0] = {}): Embedder => ({
    ...wordEmbedder(more),
    space,
  });

  const open = async (url: string, space: string, more: PostgresStoreOptions = {}) => {
    const store = await openPostgresStore(url, { space }, more);
    onTestFinished(() => store.close());
    return store;
  };

  async function filled(name: string) {
    const url = await running.createDatabase(name);
    const store = await open(url, "old", { ...options, rowLevelSecurity: ["tenant"] });
    const kb = await openKnowledgeBase({ store, embedder: model("old") });
    await kb.ingest(documents);
    return { url, store, kb };
  }

  const nearest = async (store: Awaited<ReturnType<typeof open>>, embedder: Embedder) => {
    const reply = await embedder.embed(["Topic 7 is told"], { kind: "query" } as never);
    const [vector] = (reply as { vectors: readonly Float32Array[] }).vectors;
    return store.scoped({ uri: { exists: true } }).dense.retrieve({ text: "", vector: vector! }, { count: 50 });
  };

  test("is rebuilt for another model while it serves, and whoever knows the former model is told so afterwards", async () => {
    const { url, store } = await filled("moved");
    await query(url, "CREATE ROLE reader_of_moved LOGIN").catch(() => {});
    await query(url, "GRANT USAGE ON SCHEMA citewell TO reader_of_moved");
    await query(url, "GRANT SELECT ON ALL TABLES IN SCHEMA citewell TO reader_of_moved");
    const [reader, hasty] = [await open(url, "old"), await open(url, "old", { deadlineMs: 3000 })];
    const before = await nearest(reader, model("old"));
    expect(before.length).toBeGreaterThan(0);
    let during = 0;
    const embedder = model("new", {
      before: async () => {
        during = (await nearest(reader, model("old"))).length;
        await expect(hasty.deleteDocuments([documents[0]!.uri])).rejects.toMatchObject({ name: "StoreError" });
      },
    });
    const report = await migrateKnowledgeBase({ path: url, embedder, chunk: { maxTokens: 64 } });
    expect(report).toMatchObject({ from: "old", to: "new", switched: true, documents: { added: 30 } });
    expect(during).toBe(before.length);
    for (const act of [
      () => nearest(reader, model("old")),
      async () =>
        (await openKnowledgeBase({ store, embedder: model("old") })).ingest([{ uri: "new", text: "A new one." }]),
      () => open(url, "old"),
    ]) {
      await expect(act()).rejects.toMatchObject({ code: "space" });
    }
    const moved = await open(url, "new");
    expect(await moved.counts()).toMatchObject({ documents: 30 });
    expect(await moved.verify()).toMatchObject({ ok: true, problems: [] });
    expect((await nearest(moved, model("new"))).length).toBeGreaterThan(30);
    const readable = await query<{ table: string }>(
      url,
      `SELECT table_name AS "table" FROM information_schema.role_table_grants
       WHERE grantee = 'reader_of_moved' AND table_schema = 'citewell' AND privilege_type = 'SELECT'`,
    );
    expect(readable.map(({ table }) => table)).toEqual(
      expect.arrayContaining(["documents", "embeddings", "postings", "meta"]),
    );
    const hidden = await query<{ rows: number }>(
      url.replace("postgres@", "reader_of_moved@"),
      "SELECT count(*)::integer AS rows FROM citewell.documents",
    );
    expect(hidden).toEqual([{ rows: 0 }]);

    await migratePostgresBack(url);
    expect(await nearest(await open(url, "old"), model("old"))).toEqual(before);
    await expect(nearest(moved, model("new"))).rejects.toMatchObject({ code: "space" });
    await migratePostgresBack(url);
    expect((await open(url, "new")).space).toBe("new");
    expect(await (await open(url, "new")).verify()).toMatchObject({ ok: true, problems: [] });
  }, 300_000);

  test("stays in use when a migration ends in between, which the next one continues, and another model begins anew", async () => {
    const { url } = await filled("stopped");
    const ending = new AbortController();
    let batches = 0;
    const interrupted = model("new", {
      before: () => {
        if (++batches === 3) ending.abort(new Error("stopped here"));
      },
    });
    const migrate = (embedder: Embedder, signal?: AbortSignal) =>
      migrateKnowledgeBase({ path: url, embedder: { ...embedder, maxBatchTexts: 4 } }, signal ? { signal } : {});
    await expect(migrate(interrupted, ending.signal)).rejects.toThrow("stopped here");
    const store = await open(url, "old");
    expect(await store.counts()).toMatchObject({ documents: 30 });
    expect(await store.deleteDocuments([documents[0]!.uri])).toMatchObject({ documents: 1 });
    const other = await beginMigration(url, { space: "third" });
    expect(await other.target.counts()).toMatchObject({ documents: 0 });
    await expect(beginMigration(url, { space: "third" })).rejects.toMatchObject({ code: "locked" });
    await other.close();
    expect(await migrate(model("new"))).toMatchObject({ switched: true });
    expect(await (await open(url, "new")).counts()).toMatchObject({ documents: 29 });
    await expect(migratePostgresBack(await running.createDatabase("empty"))).rejects.toMatchObject({ code: "missing" });
  }, 300_000);
});
