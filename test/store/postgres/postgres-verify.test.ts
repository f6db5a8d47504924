// In test:all alone: it needs database servers, for 75 s.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { documentId } from "../../../src/store/postgres/stored-document.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import type { PostgresStoreOptions } from "../../../src/store/postgres/options.js";
import { query, startCitus } from "../../support/citus-cluster.js";
import { noCitus, noPostgres, startPostgres } from "../../support/postgres-server.js";
import { madeDocument, withVectors } from "../../../src/conformance/made-documents.js";

const documents = ["one", "two", "three"].map((uri) =>
  madeDocument(uri, [`the first of ${uri}`, `the second of ${uri}`], {
    title: uri,
    metadata: { name: uri, tags: ["a", 1] },
  }),
);

const one = documentId("one");

/** Each alters one thing behind the store's back. */
const alterations: readonly (readonly [what: string, statement: string])[] = [
  ["documents", "UPDATE documents SET title = 'other' WHERE uri = 'one'"],
  ["documents", `UPDATE texts SET text = replace(text, 'first', 'final') WHERE document = ${one}`],
  ["documents", `UPDATE chunks SET start = start + 1 WHERE document = ${one} AND label = 1`],
  ["counts", `DELETE FROM chunks WHERE document = ${one} AND label = 1`],
  [
    "vectors",
    "UPDATE vectors SET data = set_byte(data, 5, (get_byte(data, 5) + 1) % 256) WHERE key = (SELECT min(key) FROM vectors)",
  ],
  ["orphans", "DELETE FROM vectors WHERE key = (SELECT min(key) FROM vectors)"],
  ["orphans", "DELETE FROM documents WHERE uri = 'two'"],
  ["orphans", `INSERT INTO postings (word, document, chunk, frequency, length) VALUES ('evil', ${one}, 1, 1, 1)`],
  ["lexical", `UPDATE postings SET frequency = frequency + 1 WHERE word = 'first' AND document = ${one} AND chunk = 0`],
  ["lexical", `DELETE FROM postings WHERE word = 'first' AND document = ${one} AND chunk = 0`],
  ["lexical", "INSERT INTO totals VALUES (1, 0)"],
  ["fields", "UPDATE fields SET text = 'nobody' WHERE name = '.name' AND text = 'one'"],
  ["graph", "UPDATE embeddings SET embedding = embedding * embedding WHERE label = 1"],
  ["graph", `UPDATE embeddings SET id = 'other' WHERE document = ${one} AND label = 1`],
  ["settings", "UPDATE meta SET value = '{}' WHERE name = 'settings'"],
  ["notes", "UPDATE notes SET note = 'seen' WHERE uri = 'a file'"],
];

const places = [
  {
    place: "one PostgreSQL server",
    absent: noPostgres,
    options: {},
    start: async () => {
      const { url, remove } = await startPostgres();
      return { url: url(), remove };
    },
  },
  {
    place: "a cluster",
    absent: noCitus,
    options: { distributed: { shards: 3 } },
    start: async () => {
      const { createDatabase, remove } = await startCitus();
      return { url: await createDatabase("docs"), remove };
    },
  },
];

describe.each(places.filter(({ absent }) => absent === undefined))("a store on $place", ({ options, start }) => {
  let server: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    server = await start();
  }, 60_000);
  afterAll(() => server.remove());

  const open = (given: PostgresStoreOptions) =>
    openPostgresStore(server.url, { space: "made" }, { ...options, ...given });

  test("is found intact as it was written, with all of its nearest chunks", async () => {
    const store = await open({ schema: "intact", index: "hnsw" });
    expect(await store.verify()).toEqual({ ok: true, problems: [], recall: undefined, repaired: false });
    await store.write(withVectors(documents, 16));
    expect(await store.verify()).toEqual({ ok: true, problems: [], recall: 1, repaired: false });
    await store.close();
  });

  test.each(alterations)(
    "is found to have %s that were altered, and is repaired for the next ingest: %s",
    async (what, statement) => {
      const schema = `s${alterations.findIndex((each) => each[1] === statement)}`;
      const store = await open({ schema });
      const write = withVectors(documents, 16);
      await store.write({ ...write, settings: { kept: 1 }, notes: new Map([["a file", "read"]]) });
      await query(`${server.url}?options=-csearch_path%3D${schema},public`, statement);
      const found = await store.verify();
      expect(found).toMatchObject({ ok: false, recall: undefined, repaired: false });
      expect(found.problems.map((problem) => problem.what)).toContain(what);
      expect(await store.verify({ repair: true })).toMatchObject({ ok: true, repaired: true, recall: 1 });
      await store.write(write);
      expect(await store.verify()).toMatchObject({ ok: true, problems: [] });
      expect(await store.counts()).toEqual({ documents: 3, chunks: 6, vectors: 6 });
      await store.close();
    },
  );

  test("drops the vectors that no chunk uses only when it is asked to", async () => {
    const store = await open({ schema: "unused" });
    await store.write(withVectors(documents, 16));
    await store.deleteDocuments(["one"]);
    expect(await store.verify({ repair: true })).not.toHaveProperty("droppedVectors");
    await expect(store.verify({ dropUnusedVectors: true })).rejects.toThrow("repair: true");
    expect(await store.verify({ repair: true, dropUnusedVectors: true })).toMatchObject({ droppedVectors: 2 });
    expect(await store.counts()).toEqual({ documents: 2, chunks: 4, vectors: 4 });
    await store.close();
  });
});
