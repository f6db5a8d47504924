// In test:all alone: it needs a cluster of database servers, for 40 s.
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import type { Filter } from "../../../src/core/filter.js";
import { normalised } from "../../../src/store/database/vectors.js";
import { openStore } from "../../../src/store/open-store.js";
import { distributeStore } from "../../../src/store/postgres/distribute-store.js";
import { haveAllNodes } from "../../../src/store/postgres/distribution.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import type { PostgresStoreOptions } from "../../../src/store/postgres/options.js";
import { existingServer, searchSettings } from "../../../src/store/postgres/prepared-server.js";
import { searchSql, type SearchStatement } from "../../../src/store/postgres/searching/statement.js";
import { termCounts } from "../../../src/text/words/terms.js";
import { citewellJson } from "../../support/citewell.js";
import { type CitusCluster, query, startCitus } from "../../support/citus-cluster.js";
import { noCitus } from "../../support/postgres-server.js";
import { temporaryFolder } from "../temporary-folder.js";

const dimension = 16;
const animals = ["cat", "dog", "owl", "fox", "ant", "bee", "eel"];
const documents = Array.from({ length: 60 }, (_, at) =>
  madeDocument(
    `file:///${at}.md`,
    [`The ${animals[at % 7]} number ${at}`, `A ${animals[at % 3]} sleeps, ${at} times`],
    { metadata: { number: at, third: at % 3 } },
  ),
);
const question = { text: "cat sleeps number", vector: madeVector("cat sleeps", dimension) };
const filters: readonly (Filter | undefined)[] = [
  undefined,
  { metadata: { third: 1 } },
  { metadata: { number: 7 } },
  { any: [{ metadata: { number: { lt: 20 } } }, { not: { metadata: { third: { in: [0, 1] } } } }] },
];

describe.skipIf(noCitus)("a store on a Citus cluster", () => {
  let cluster: CitusCluster;
  let url: string;
  beforeAll(async () => {
    cluster = await startCitus();
    url = await cluster.createDatabase("docs");
  }, 180_000);
  afterAll(() => cluster.remove());

  const open = async (schema: string, options: PostgresStoreOptions = {}) => {
    const store = await openPostgresStore(url, { space: "made" }, { schema, ...options });
    onTestFinished(() => store.close());
    return store;
  };
  const distributed = { distributed: { shards: 6 } };

  test("has its documents on all workers, and ranks to the last digit as one server and a folder do, with and without filters", async () => {
    const folder = await openStore(temporaryFolder(), { space: "made" });
    onTestFinished(() => folder.close());
    const [single, store] = [await open("single"), await open("ranks", distributed)];
    for (const each of [folder, single, store]) await each.write(withVectors(documents, dimension));
    const parts = await query<{ port: number }>(
      url,
      "SELECT DISTINCT nodeport AS port FROM citus_shards WHERE table_name = 'ranks.documents'::regclass AND shard_size > 0",
    );
    expect(parts).toHaveLength(3);
    for (const filter of filters) {
      const call = { count: 12, ...(filter && { filter }) };
      for (const side of ["dense", "lexical"] as const) {
        const [inFolder, alone, spread] = await Promise.all(
          [folder, single, store].map((each) => each[side].retrieve(question, call)),
        );
        expect(spread).toEqual(alone);
        // Ties are broken by the ids here, and by the order of writing in a folder.
        expect(spread).toHaveLength(inFolder!.length);
        for (const [at, { score }] of spread!.entries()) expect(score).toBeCloseTo(inFolder![at]!.score, 6);
      }
      // The same one of many that rank alike is found.
      const [one, same] = await Promise.all(
        [single, store].map((each) => each.lexical.retrieve({ text: "number" }, { ...call, count: 1 })),
      );
      expect(same).toEqual(one);
      const [near, words] = [await store.dense.retrieve(question, call), await store.lexical.retrieve(question, call)];
      const together = await Promise.all([
        store.dense.retrieve(question, call),
        store.lexical.retrieve(question, call),
      ]);
      expect(together).toEqual([near, words]);
    }
  });

  test("is searched by statements of which every node carries out its part, and sends no more than the best", async () => {
    const store = await open("explained", { ...distributed, index: "hnsw" });
    await store.write(withVectors(documents, dimension));
    const dense = { vector: normalised(question.vector), count: 5, precision: "vector" } as const;
    const counted = new Map([...termCounts(question.text).keys()].map((word) => [word, 20]));
    const lexical = {
      words: termCounts(question.text),
      required: [],
      count: 5,
      statistics: { written: "", chunksWith: counted, chunks: 120, words: 600 },
    };
    for (const filter of filters) {
      for (const areFew of filter ? [true, false] : [false]) {
        const matching = filter && { filter, areFew };
        for (const sides of [{ dense }, { lexical }] satisfies SearchStatement[]) {
          const [text, values] = searchSql({ ...sides, matching });
          const at = `${url}?options=-csearch_path%3Dexplained,public`;
          const literal = text.replaceAll(/\$(\d+)/g, (_, number) =>
            literalOf(values[Number(number) - 1], question.vector),
          );
          const rows = await query<{ "QUERY PLAN": string }>(at, `EXPLAIN (COSTS OFF) ${literal}`);
          const plan = rows.map((row) => row["QUERY PLAN"]);
          const worker = new RegExp(`port=(${cluster.workers.map(({ port }) => port).join("|")}) `);
          // Below the name of a node stands the first step of its part, which is done last.
          const last = plan.flatMap((line, index) => (worker.test(line) ? [plan[index + 1]!.trim()] : []));
          expect({ plan, last: [...new Set(last)] }).toEqual({ plan, last: ["->  Limit"] });
        }
      }
    }
  });

  test("is searched on every node with the settings of its own, whether or not the nodes have them", async () => {
    // Vectors in all directions and few links: 40 candidates, which a node takes unless it is told otherwise, do not lead far.
    const scattered = Array.from({ length: 3000 }, (_, at) => madeDocument(`file:///${at}.md`, [`word${at}`]));
    const hard = {
      ...distributed,
      distributed: { shards: 3 },
      index: "hnsw",
      m: 3,
      efConstruction: 6,
      ef: 1000,
    } as const;
    const store = await open("scattered", hard);
    for (let at = 0; at < 3000; at += 500) await store.write(withVectors(scattered.slice(at, at + 500), 48));
    const fewer = await open("scattered", { ef: 40 });
    expect((await fewer.verify({ sample: 50 })).recall).toBeLessThan(0.9);
    expect((await store.verify({ sample: 50 })).recall).toBeGreaterThan(0.98);
    const nearest = (each: typeof store) =>
      Promise.all(
        [1, 2, 3, 4, 5].map((at) =>
          each.dense.retrieve({ text: "", vector: madeVector(`question ${at}`, 48) }, { count: 50 }),
        ),
      );
    await query(
      url,
      `ALTER ROLE postgres IN DATABASE docs SET hnsw.ef_search = 1000;
       ALTER ROLE postgres IN DATABASE docs SET hnsw.iterative_scan = 'strict_order';
       ALTER ROLE postgres IN DATABASE docs SET hnsw.max_scan_tuples = 2147483647;
       ALTER ROLE postgres IN DATABASE docs SET hnsw.scan_mem_multiplier = 16`,
    );
    onTestFinished(async () => void (await query(url, "ALTER ROLE postgres IN DATABASE docs RESET ALL")));
    const { server } = await existingServer(`${url}?schema=scattered`);
    onTestFinished(() => server.close());
    const known = await Promise.all([1000, 40].map((ef) => haveAllNodes(server, searchSettings(ef))));
    expect(known).toEqual([true, false]);
    // No transaction is needed now.
    expect(await nearest(await open("scattered", { ef: 1000 }))).toEqual(await nearest(store));
  });

  test("is distributed in place while it is open and searched, by the command too, and is the same afterwards", async () => {
    const [store, other] = [await open("placed", { index: "hnsw" }), await open("placed")];
    await store.write(withVectors(documents, dimension));
    const answers = (each: typeof store) =>
      Promise.all(
        filters.flatMap((filter) =>
          [each.dense, each.lexical].map((side) => side.retrieve(question, { count: 12, ...(filter && { filter }) })),
        ),
      );
    const before = await answers(store);
    const done = new AbortController();
    const searching = (async () => {
      while (!done.signal.aborted) expect(await answers(other)).toEqual(before);
    })();
    const address = `${url}?schema=placed`;
    const report = await citewellJson<object>(["distribute", "--store", address, "--shards", "6"]);
    done.abort();
    await searching;
    expect(report).toEqual({ shards: 6, isNew: true });
    expect(await answers(store)).toEqual(before);
    expect(await distributeStore(address)).toEqual({ shards: 6, isNew: false });
    await other.write(withVectors([madeDocument("new", ["a cat of the new kind"])], dimension));
    expect(await store.counts()).toEqual({ documents: 61, chunks: 121, vectors: await vectorsOf(store) });
    expect(await store.verify()).toMatchObject({ ok: true, problems: [], recall: 1 });
    const kept = await query<{ bytes: string }>(url, "SELECT pg_relation_size('placed.postings') AS bytes");
    expect(kept[0]!.bytes).toBe("0");
  });

  test("is refused without Citus, and in place of a store that is not distributed, saying what to do", async () => {
    await cluster.coordinator.createDatabase("plain");
    const opening = openPostgresStore(cluster.coordinator.url("plain"), { space: "made" }, distributed);
    await expect(opening).rejects.toMatchObject({
      code: "missing",
      message: expect.stringContaining("CREATE EXTENSION citus") as string,
    });
    const filled = await open("filled");
    await filled.write(withVectors(documents.slice(0, 2), dimension));
    await expect(open("filled", distributed)).rejects.toThrow("citewell distribute");
  });

  test("has a written document everywhere or nowhere when its commit is cut off", async () => {
    const store = await open("cut", distributed);
    await store.write(withVectors(documents.slice(0, 10), dimension));
    const changed = documents.map(({ document }, at) =>
      madeDocument(document.uri, [`version 2 of ${at}`, `cat ${at}`]),
    );
    const killing = (async () => {
      for (let round = 0; round < 20; round++) {
        await new Promise((resolve) => setTimeout(resolve, 15));
        await query(
          url,
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'citewell' AND query IN ('COMMIT') OR (query LIKE '%INSERT INTO%' AND application_name = 'citewell')",
        );
      }
    })();
    for (let at = 0; at < 60; at += 6) await store.write(withVectors(changed.slice(at, at + 6), dimension));
    await killing;
    expect(await store.counts()).toMatchObject({ documents: 60, chunks: 120 });
    expect(await store.verify()).toMatchObject({ ok: true, problems: [] });
  });

  async function vectorsOf(store: Awaited<ReturnType<typeof open>>): Promise<number> {
    return (await store.counts()).vectors;
  }
});

/** Citus does not explain the parts of statements with parameters. */
function literalOf(value: unknown, vector: Float32Array): string {
  if (Buffer.isBuffer(value)) return `'[${normalised(vector).join(",")}]'`;
  if (Array.isArray(value)) return `ARRAY[${value.map((each) => literalOf(each, vector)).join(", ")}]`;
  return value === null ? "NULL" : typeof value === "string" ? pg.escapeLiteral(value) : JSON.stringify(value);
}
