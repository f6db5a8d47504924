// In test:all alone: it needs a cluster of database servers, for 60 s.
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import { databaseFigures } from "../../../src/store/postgres/database-figures.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { type CitusCluster, query, startCitus } from "../../support/citus-cluster.js";
import { noCitus } from "../../support/postgres-server.js";

const dimension = 8;
const documents = Array.from({ length: 500 }, (_, at) =>
  madeDocument(
    `file:///${at}.md`,
    Array.from({ length: 4 }, (__, part) => `cat ${at} sleeps in part ${part}`),
    { metadata: { number: at, half: at % 2 } },
  ),
);
const chunks = 2000;
/** Fewer than all chunks; a check reads the words of 64 documents at a time. */
const maxRows = 1800;
const words = chunks * 4;

describe.skipIf(noCitus)("the coordinator of a cluster", () => {
  let cluster: CitusCluster;
  let url: string;
  beforeAll(async () => {
    cluster = await startCitus();
    url = await cluster.createDatabase("docs");
    // Citus itself refuses a statement that takes more than this from its nodes to go on with: the keys of all texts are 130 kB.
    await query(url, "ALTER DATABASE docs SET citus.max_intermediate_result_size = '64kB'");
  }, 180_000);
  afterAll(() => cluster.remove());

  test("is sent no table by its nodes, whatever is asked, checked, repaired or counted", async () => {
    const store = await openPostgresStore(url, { space: "made" }, { index: "hnsw", distributed: { shards: 6 } });
    onTestFinished(() => store.close());
    for (let at = 0; at < documents.length; at += 25) {
      const some = documents.slice(at, at + 25);
      const notes = new Map(some.map(({ document }) => [document.uri, "seen"]));
      await store.write({ ...withVectors(some, dimension), notes });
    }
    const kept = await query<{ words: string }>(url, "SELECT count(*) AS words FROM citewell.postings");
    expect(Number(kept[0]!.words)).toBeGreaterThanOrEqual(words);
    const fetched = new Map<string, number>();
    const { query: original } = pg.Client.prototype as unknown as {
      readonly query: (this: pg.Client, ...given: unknown[]) => unknown;
    };
    const spy = vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (
      this: pg.Client,
      ...given: unknown[]
    ) {
      const result = original.apply(this, given);
      const text = typeof given[0] === "string" ? given[0] : (given[0] as { readonly text: string }).text;
      const note = ({ rows = [] }: { readonly rows?: unknown[] }) =>
        void fetched.set(text, Math.max(fetched.get(text) ?? 0, rows.length));
      if (result instanceof Promise) result.then(note, () => {});
      return result as never;
    });
    onTestFinished(() => spy.mockRestore());
    const question = { text: "cat sleeps", vector: madeVector("cat", dimension) };
    for (const filter of [undefined, { metadata: { half: 1 } }, { metadata: { number: 7 } }]) {
      const call = { count: 10, ...(filter && { filter }) };
      const [near, relevant] = await Promise.all([
        store.dense.retrieve(question, call),
        store.lexical.retrieve(question, call),
      ]);
      expect(await store.hits([...near, ...relevant], {})).not.toEqual([]);
    }
    expect(await store.documents({ limit: 20 })).toHaveLength(20);
    await store.deleteDocuments([documents[0]!.document.uri]);
    expect(await store.verify({ repair: true, dropUnusedVectors: true })).toMatchObject({
      problems: [],
      droppedVectors: 4,
    });
    expect(await store.counts()).toMatchObject({ documents: 499, chunks: chunks - 4, vectors: chunks - 4 });
    const figures = await databaseFigures(url, 50);
    expect(figures.chunkTokens).toHaveLength(chunks - 4);
    expect(figures.chunksOfDocuments).toEqual(Array.from({ length: 499 }, () => 4));
    expect(new Set(figures.sample.map(({ uri }) => uri)).size).toBeGreaterThan(40);
    expect(fetched.size).toBeGreaterThan(20);
    expect([...fetched].filter(([, rows]) => rows > maxRows)).toEqual([]);
  });
});
