// In test:all alone: it compares with full scans on a database server, for 29 s.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import { normalised } from "../../../src/store/database/vectors.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { postgresStoreOptions } from "../../../src/store/postgres/options.js";
import { searchOnce } from "../../../src/store/postgres/searching/statement.js";
import { prepareServer } from "../../../src/store/postgres/prepared-server.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres-server.js";

const dimension = 8;
const size = 10_000;
const count = 20;
const made = Array.from({ length: size }, (_, at) =>
  madeDocument(`d${at}`, [`common t${at}`], { metadata: { half: at % 2, hundredth: at % 100, one: at } }),
);
const shares = [
  { share: "50 %", metadata: { half: 1 }, matching: 5000 },
  { share: "1 %", metadata: { hundredth: 7 }, matching: 100 },
  { share: "0.01 %", metadata: { one: 4711 }, matching: 1 },
];

describe.skipIf(noPostgres)("a filter on PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  test("of 50 %, 1 % or 0.01 % finds as many as are wanted and match, also where the graph has to be walked for them", async () => {
    const store = await openPostgresStore(server.url(), { space: "made" }, { index: "hnsw" });
    for (let at = 0; at < size; at += 1000) await store.write(withVectors(made.slice(at, at + 1000), dimension));
    const { server: searched } = await prepareServer(server.url(), postgresStoreOptions.parse({}));
    for (const { metadata, matching } of shares) {
      const wanted = Math.min(count, matching);
      const query = { text: "common", vector: madeVector("any", dimension) };
      for (const side of [store.dense, store.lexical]) {
        expect(await side.retrieve(query, { count, filter: { metadata } })).toHaveLength(wanted);
      }
      // The query takes the path for matching chunks that are too many to compare.
      const dense = { vector: normalised(query.vector), count, precision: "vector" } as const;
      const walking = { dense, matching: { filter: { metadata }, areFew: false } };
      const walked = await searched.read((session) => searchOnce(session, walking));
      expect(new Set(walked.dense.map(({ id }) => id)).size).toBe(wanted);
    }
    await Promise.all([store.close(), searched.close()]);
  }, 120_000);
});
