import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import { normalised } from "../../../src/store/database/vectors.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { postgresStoreOptions } from "../../../src/store/postgres/options.js";
import { searchServer } from "../../../src/store/postgres/searching/statement.js";
import { openShard } from "../../../src/store/postgres/sharding/shards.js";
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

  test.each([1, 3])(
    "of 50 %%, 1 %% or 0.01 %% finds as many as are wanted and match on %i server(s), also where the graph has to be walked for them",
    async (servers) => {
      const names = Array.from({ length: servers }, (_, at) => `shares_${servers}_${at}`);
      const urls = await Promise.all(names.map((name) => server.createDatabase(name)));
      const [first, ...shards] = urls;
      const store = await openPostgresStore(first!, { space: "made" }, { shards, index: "hnsw" });
      for (let at = 0; at < size; at += 1000) await store.write(withVectors(made.slice(at, at + 1000), dimension));
      const opened = await Promise.all(urls.map((url) => openShard(url, '"citewell"', postgresStoreOptions.parse({}))));
      for (const { metadata, matching } of shares) {
        const wanted = Math.min(count, matching);
        const query = { text: "common", vector: madeVector("any", dimension) };
        for (const side of [store.dense, store.lexical]) {
          expect(await side.retrieve(query, { count, filter: { metadata } })).toHaveLength(wanted);
        }
        // As if the matching chunks were too many to be all compared.
        const dense = { vector: normalised(query.vector), count, precision: "vector" } as const;
        const walked = await Promise.all(
          opened.map(({ server: each }) =>
            each.read((session) => searchServer(session, { dense, filter: { metadata }, maxCompared: 0 })),
          ),
        );
        const found = new Set(walked.flatMap((each) => each.dense.map(({ id }) => id)));
        expect(found.size).toBeGreaterThanOrEqual(wanted);
      }
      await Promise.all([store.close(), ...opened.map((each) => each.server.close())]);
    },
    120_000,
  );
});
