// In test:all alone: it needs a database server, for 5 s.
import { expect, onTestFinished, test } from "vitest";
import { enqueue } from "../../../src/knowledge-base/workers/enqueue.js";
import { status } from "../../../src/knowledge-base/workers/status.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { query } from "../../support/citus-cluster.js";
import { noPostgres, startPostgres } from "../../support/postgres-server.js";
import { wordEmbedder } from "../../support/word-embedder.js";

test.skipIf(noPostgres)(
  "status estimates the time that is left once enough documents have ended to tell, and by those of these workers alone",
  async () => {
    const server = await startPostgres();
    onTestFinished(() => server.remove());
    const url = server.url();
    const embedder = wordEmbedder();
    const store = await openPostgresStore(url, embedder);
    onTestFinished(() => store.close());
    await enqueue(
      Array.from({ length: 600 }, (_, index) => ({ uri: `note:${index}`, text: `Note ${index}.` })),
      { store, embedder },
    );
    const end = (from: number, to: number, ago: string) =>
      query(
        url,
        `UPDATE citewell.ingest_documents SET state = 'added', worker = NULL, ended_at = clock_timestamp() - interval '${ago}'
         WHERE id BETWEEN ${from} AND ${to}`,
      );
    await query(url, "UPDATE citewell.ingest_runs SET begun_at = clock_timestamp() - interval '5 minutes'");
    await query(
      url,
      `INSERT INTO citewell.ingest_members (id, role, host, pid, dead_after, joined_at)
       VALUES ('one', 'worker', 'here', 1, '1 hour', clock_timestamp() - interval '10 seconds')`,
    );
    await query(url, "UPDATE citewell.ingest_documents SET worker = 'one' WHERE id BETWEEN 101 AND 164");
    // A worker that is no more did these.
    await end(1, 100, "15 seconds");
    await end(101, 102, "1 second");
    // Two of sixty-four: 49 minutes, if they were like the others.
    expect(await status({ store })).toMatchObject({ secondsLeft: undefined, documents: { working: 62, waiting: 498 } });
    await end(103, 140, "1 second");
    const { documentsPerSecond, secondsLeft } = await status({ store });
    expect(documentsPerSecond).toBeGreaterThan(2);
    expect(documentsPerSecond).toBeLessThanOrEqual(4);
    expect(secondsLeft).toBeCloseTo(460 / documentsPerSecond, 5);
    // A minute says how slow it is, however few have ended.
    await query(url, "UPDATE citewell.ingest_members SET joined_at = clock_timestamp() - interval '5 minutes'");
    await query(url, "UPDATE citewell.ingest_documents SET worker = 'one' WHERE state = 'waiting'");
    expect((await status({ store })).secondsLeft).toBeGreaterThan(190);
  },
  120_000,
);
