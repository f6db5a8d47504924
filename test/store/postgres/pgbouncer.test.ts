// In test:all alone: it runs every case of the Store port through a pooler, for 60 s.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { StoreFactory } from "../../../src/conformance/check.js";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { enqueue } from "../../../src/knowledge-base/workers/enqueue.js";
import { status } from "../../../src/knowledge-base/workers/status.js";
import { work } from "../../../src/knowledge-base/workers/work.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { query } from "../../support/citus-cluster.js";
import { noPgBouncer, type PgBouncer, startPgBouncer } from "../../support/pgbouncer.js";
import { postgresContent } from "../../support/postgres-content.js";
import { type PostgresServer, startPostgres } from "../../support/postgres-server.js";
import { wordEmbedder } from "../../support/word-embedder.js";
import { conformance } from "../conformance.js";

if (noPgBouncer) console.warn(`skipped: ${noPgBouncer}`);

describe.skipIf(noPgBouncer)("behind PgBouncer in transaction mode", () => {
  let server: PostgresServer;
  let pooler: PgBouncer;
  beforeAll(async () => {
    server = await startPostgres();
    pooler = await startPgBouncer(server, { sessions: 4 });
  }, 60_000);
  afterAll(async () => {
    await pooler?.remove();
    await server?.remove();
  });

  const opened = (name: string, requireScope = false) => {
    const schema = `s${createHash("sha256").update(name).digest("hex").slice(0, 16)}`;
    return openPostgresStore(pooler.url(), { space: "conformance" }, { index: "hnsw", schema, requireScope });
  };
  const factory: StoreFactory = { open: (name) => opened(name), openRequiringScope: (name) => opened(name, true) };
  conformance("the pooled store with a graph", factory);

  test("forty searches at once in two stores find what is theirs, and leave nothing in the sessions of others", async () => {
    await server.createDatabase("shared");
    const url = pooler.url("shared");
    const embedder = wordEmbedder();
    const kbs = await Promise.all(
      ["north", "south"].map(async (schema) => {
        const kb = await openKnowledgeBase({ path: `${url}?schema=${schema}`, embedder });
        onTestFinished(() => kb.close());
        await kb.ingest([{ uri: `note:${schema}`, text: `The door of the ${schema} closes at nine.` }]);
        return { schema, kb };
      }),
    );
    const asked = Array.from({ length: 40 }, async (_, index) => {
      const { schema, kb } = kbs[index % 2]!;
      const { hits } = await kb.search(`which door closes at ${index}`);
      expect(hits.map(({ chunk }) => chunk.documentId)).toEqual([`note:${schema}`]);
    });
    await Promise.all(asked);
    const settings = await Promise.all(
      Array.from({ length: 8 }, () =>
        query(
          url,
          "SELECT current_setting('search_path') AS path, current_setting('statement_timeout') AS time, pg_sleep(0.1)",
        ),
      ),
    );
    expect(new Set(settings.flat().map((row) => JSON.stringify(row)))).toEqual(
      new Set([JSON.stringify({ path: '"$user", public', time: "0", pg_sleep: "" })]),
    );
  });

  test("workers leave the store as one process on the server itself does, and conversations are kept", async () => {
    const direct = await server.createDatabase("direct");
    await server.createDatabase("pooled");
    const embedder = wordEmbedder();
    const documents = Array.from({ length: 50 }, (_, index) => ({
      uri: `note:${index}`,
      text: `Note ${index} is about keys. `.repeat(1 + (index % 5)),
    }));
    const one = await openKnowledgeBase({ path: direct, embedder });
    onTestFinished(() => one.close());
    await one.ingest(documents);
    const store = await openPostgresStore(pooler.url("pooled"), embedder);
    onTestFinished(() => store.close());
    await enqueue(documents, { store, embedder });
    const workers = await Promise.all([1, 2].map(() => work({ store, embedder, untilDone: true, deadAfterMs: 5000 })));
    expect(workers.reduce((sum, { documents: { added } }) => sum + added, 0)).toBe(50);
    expect(await status({ store })).toMatchObject({ isDone: true, documents: { added: 50 } });
    expect(await postgresContent(server.url("pooled"))).toEqual(await postgresContent(direct));
    const kb = await openKnowledgeBase({ store, embedder });
    for await (const event of kb.conversation({ id: "keys" }).ask("What is note 7 about?")) expect(event).toBeDefined();
    expect(await kb.conversations()).toMatchObject([{ id: "keys", exchanges: 1 }]);
    await kb.close();
  });

  test("a reading within a scope of a store with row-level security is one transaction", async () => {
    await server.createDatabase("tenants");
    const url = pooler.url("tenants");
    const embedder = wordEmbedder();
    const store = await openPostgresStore(url, embedder, { rowLevelSecurity: ["tenant"] });
    onTestFinished(() => store.close());
    const kb = await openKnowledgeBase({ store, embedder });
    const notes = ["north", "south"].map((tenant) => ({
      uri: `note:${tenant}`,
      text: `The door of the ${tenant} closes at nine.`,
      metadata: { tenant },
    }));
    await kb.ingest(notes);
    await query(url, "ALTER DATABASE tenants SET log_statement = 'all'");
    // Sessions of the pool that began before do not log their statements.
    await query(server.url(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'tenants'");
    const log = () => readFileSync(join(server.folder, "log"), "utf8");
    const before = log().length;
    const found = await store
      .scoped({ metadata: { tenant: "north" } })
      .lexical.retrieve({ text: "door" }, { count: 5 });
    expect(found).toHaveLength(1);
    const north = kb.scoped({ metadata: { tenant: "north" } });
    for await (const event of north.conversation({ id: "keys" }).ask("When does the door close?")) {
      expect(event).toBeDefined();
    }
    expect(await north.conversations()).toMatchObject([{ id: "keys", exchanges: 1 }]);
    await kb.close();
    const logged = log().slice(before);
    const count = (pattern: RegExp) => logged.match(pattern)?.length ?? 0;
    expect(count(/statement: BEGIN/g)).toBeGreaterThan(2);
    expect(count(/statement: (COMMIT|ROLLBACK)/g)).toBe(count(/statement: BEGIN/g));
    expect(logged).not.toMatch(/already a transaction in progress|no transaction in progress/);
  });
});
