// In test:all alone: it needs a database server with roles, for 5 s.
import { expect, onTestFinished, test } from "vitest";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { enqueue } from "../../../src/knowledge-base/workers/enqueue.js";
import { work } from "../../../src/knowledge-base/workers/work.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { query } from "../../support/citus-cluster.js";
import { noPostgres, startPostgres } from "../../support/postgres-server.js";
import { wordEmbedder } from "../../support/word-embedder.js";

test.skipIf(noPostgres)(
  "a user who owns nothing but two schemas that an administrator made can index, queue, work, search and converse",
  async () => {
    const server = await startPostgres();
    onTestFinished(() => server.remove());
    const admin = await server.createDatabase("bare");
    await query(
      admin,
      `CREATE SCHEMA extensions; CREATE EXTENSION vector SCHEMA extensions;
       REVOKE ALL ON DATABASE bare FROM PUBLIC; REVOKE ALL ON SCHEMA public FROM PUBLIC;
       CREATE USER app; GRANT CONNECT ON DATABASE bare TO app; GRANT USAGE ON SCHEMA extensions TO app;
       ALTER USER app SET search_path = extensions;
       CREATE SCHEMA docs AUTHORIZATION app`,
    );
    const url = `${admin.replace("postgres@", "app@")}?schema=docs`;
    const embedder = wordEmbedder();
    const store = await openPostgresStore(url, embedder);
    onTestFinished(() => store.close());
    const documents = [{ uri: "note:1", text: "Ada keeps the recovery key." }];
    await expect(enqueue(documents, { store, embedder })).rejects.toMatchObject({
      code: "disk",
      message: expect.stringContaining("_jobs"),
    });
    await query(admin, "CREATE SCHEMA docs_jobs AUTHORIZATION app");
    await enqueue(documents, { store, embedder });
    expect((await work({ store, embedder, untilDone: true, deadAfterMs: 1000 })).documents.added).toBe(1);
    const kb = await openKnowledgeBase({ store, embedder });
    onTestFinished(() => kb.close());
    await kb.ingest([{ uri: "note:2", text: "The north door closes at nine." }]);
    expect((await kb.search("north door")).hits[0]!.chunk.documentId).toBe("note:2");
    for await (const event of kb.conversation({ id: "keys" }).ask("Who keeps the recovery key?"))
      expect(event).toBeDefined();
    expect(await kb.conversations()).toMatchObject([{ id: "keys", exchanges: 1 }]);
    expect(await store.verify()).toMatchObject({ ok: true, problems: [] });
    const elsewhere = await query(
      admin,
      `SELECT relnamespace::regnamespace::text AS place FROM pg_class
       WHERE relowner = 'app'::regrole AND relnamespace::regnamespace::text NOT IN ('docs', 'docs_jobs', 'pg_toast')`,
    );
    expect(elsewhere).toEqual([]);
  },
  120_000,
);
