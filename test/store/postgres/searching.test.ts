// In test:all alone: it needs a database server, for 17 s.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { cosine, madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import { seededRandom } from "../../../src/core/random.js";
import type { Store } from "../../../src/core/ports.js";
import { normalised } from "../../../src/store/database/vectors.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import type { Server } from "../../../src/postgres/server.js";
import { postgresStoreOptions } from "../../../src/store/postgres/options.js";
import { searchOnce, searchSql, type SearchStatement } from "../../../src/store/postgres/searching/statement.js";
import { termCounts } from "../../../src/text/words/terms.js";
import { WordCounts, type WordStatistics } from "../../../src/store/postgres/searching/word-statistics.js";
import { prepareServer } from "../../../src/store/postgres/prepared-server.js";
import { countRoundTrips, type CountingProxy } from "../../support/counting-proxy.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres-server.js";

const dimension = 16;
const size = 1500;

// Words follow Zipf's law, as in real text: w0 stands in nearly every chunk, and many stand in one.
const next = seededRandom(18);
const word = () => `w${Math.floor(400 ** next()) - 1}`;
const made = Array.from({ length: size }, (_, at) => {
  const text = Array.from({ length: 6 + (at % 20) }, word).join(" ");
  return madeDocument(`d${at}`, [text], { metadata: { half: at % 2, hundredth: at % 100, one: at } });
});
const questions = Array.from({ length: 12 }, () => Array.from({ length: 4 }, word).join(" "));

describe.skipIf(noPostgres)("searches on PostgreSQL", () => {
  let server: PostgresServer;
  let proxy: CountingProxy;
  let store: Store<"made">;
  let searched: Server;
  beforeAll(async () => {
    server = await startPostgres();
    proxy = await countRoundTrips(server.url());
    store = await openPostgresStore(proxy.url, { space: "made" }, { index: "hnsw" });
    await store.write(withVectors(made, dimension));
    ({ server: searched } = await prepareServer(server.url(), postgresStoreOptions.parse({})));
  }, 120_000);
  afterAll(async () => {
    await store.close();
    await searched.close();
    await proxy.close();
    await server.remove();
  });

  const search = (statement: SearchStatement) => searched.read((session) => searchOnce(session, statement));

  test("by vector and by words are one round trip together, and reading what they found is another", async () => {
    const query = { text: "w0 w17 w200", vector: madeVector("w0", dimension) };
    for (const filter of [undefined, { metadata: { half: 1 } }, { metadata: { one: 17 } }]) {
      const call = { count: 10, ...(filter && { filter }) };
      const alone = [await store.dense.retrieve(query, call), await store.lexical.retrieve(query, call)];
      const before = proxy.roundTrips();
      const found = await Promise.all([store.dense.retrieve(query, call), store.lexical.retrieve(query, call)]);
      expect(proxy.roundTrips() - before).toBe(1);
      expect(found).toEqual(alone);
      await store.hits(found.flat(), filter && { filter });
      expect(proxy.roundTrips() - before).toBe(2);
    }
  });

  test("by words find a page by its title or its file's name before those that say the word often, and verify agrees", async () => {
    const named = await openPostgresStore(server.url(), { space: "made" }, { schema: "named" });
    onTestFinished(() => named.close());
    const others = Array.from({ length: 30 }, (_, at) =>
      madeDocument(`notes/${at}`, [`logging logging logging ${at}`]),
    );
    const text = "A record of what a program did, with a severity.";
    const pages = [madeDocument("guide/logging.md", [text]), madeDocument("guide/x", [text], { title: "Logging" })];
    await named.write(withVectors([...others, ...pages], dimension));
    const found = await named.lexical.retrieve({ text: "logging" }, { count: 2 });
    const hits = await named.hits(found);
    expect(hits.map(({ uri }) => uri).toSorted()).toEqual(["guide/logging.md", "guide/x"]);
    expect(await named.verify()).toMatchObject({ ok: true, problems: [] });
  });

  test("look up what is known of documents, asked for side by side, in one round trip", async () => {
    const uris = ["d7", "d3", "nothing", "d7", "d1499"];
    const before = proxy.roundTrips();
    const found = await Promise.all(uris.map((uri) => store.documentInfo(uri)));
    expect(proxy.roundTrips() - before).toBe(1);
    expect(found.map((info) => info?.uri)).toEqual(["d7", "d3", undefined, "d7", "d1499"]);
  });

  test("by words find the chunks that BM25 summed over all chunks ranks first, whichever words are rare", async () => {
    const wordsOf = made.map(({ document }) => document.text.split(" "));
    const average = wordsOf.reduce((sum, words) => sum + words.length, 0) / size;
    const bm25 = (query: string, admits: (at: number) => boolean) => {
      const asked = query.split(" ").map((each) => {
        const having = wordsOf.filter((words) => words.includes(each)).length;
        return { word: each, rarity: Math.log(1 + (size - having + 0.5) / (having + 0.5)) };
      });
      return wordsOf
        .map((words, at) => {
          const scores = asked.map(({ word: each, rarity }) => {
            const frequency = words.filter((other) => other === each).length;
            return (rarity * frequency) / (frequency + 1.2 * (0.25 + (0.75 * words.length) / average));
          });
          const score = Number(scores.reduce((sum, each) => sum + each, 0).toFixed(9));
          return { id: made[at]!.chunks[0]!.id, score, at };
        })
        .filter(({ score, at }) => score > 0 && admits(at))
        .toSorted((one, other) => other.score - one.score || (one.id < other.id ? -1 : 1));
    };
    const rows = await searched.read((session) =>
      session.query<{ id: string; place: number }>(
        "SELECT id, row_number() OVER (ORDER BY document)::int AS place FROM chunks",
      ),
    );
    const numbers = new Map(rows.map(({ id, place }) => [id, place]));
    const matches = (at: number) => at % 2 === 1;
    const half = (areFew: boolean) => ({ matches, matching: { filter: { metadata: { half: 1 } }, areFew } });
    for (const { matches: isMatch, ...limits } of [{ matches: () => true }, half(true), half(false)]) {
      for (const question of questions) {
        const ranking = bm25(question, isMatch);
        for (const count of [5, 60]) {
          const asked = { words: termCounts(question), required: [], count };
          const { lexical } = await search({ lexical: asked, ...limits });
          // The documents' numbers decide which of equals are found, on a cluster as on one server; the ids which comes first.
          const found = ranking.toSorted((a, b) => b.score - a.score || numbers.get(a.id)! - numbers.get(b.id)!);
          const expected = ranking.filter((chunk) => found.indexOf(chunk) < count);
          expect(lexical.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
          for (const [at, { score }] of lexical.entries()) expect(score).toBeCloseTo(expected[at]!.score, 8);
        }
      }
    }
  });

  test.each([1, 2, 4])(
    "by words read each occurrence of a word once to count and once to rank, in %i times 300 chunks",
    async (times) => {
      const options = postgresStoreOptions.parse({ schema: `times_${times}` });
      const part = await openPostgresStore(server.url(), { space: "made" }, { schema: options.schema });
      onTestFinished(() => part.close());
      const some = made.slice(0, 300 * times);
      await part.write(withVectors(some, 2));
      const { server: timed } = await prepareServer(server.url(), options);
      onTestFinished(() => timed.close());
      for (const question of questions) {
        const words = [...new Set(question.split(" "))];
        const read = rowsRead(
          await explain(timed, { lexical: { words: termCounts(question), required: [], count: 10 } }),
          "postings",
        );
        const occurrences = words.map(
          (each) => some.filter(({ document }) => document.text.split(" ").includes(each)).length,
        );
        // The frequent words of a few chunks that can be among the best are looked up a third time.
        const furtherLooks = 100;
        expect(read).toBeLessThanOrEqual(2 * occurrences.reduce((sum, each) => sum + each) + furtherLooks);
      }
    },
  );

  test("by words count a word again only when somebody has written", async () => {
    const schema = "counted";
    const open = () => openPostgresStore(server.url(), { space: "made" }, { schema });
    const [searching, writing] = [await open(), await open()];
    const counts = new WordCounts();
    const { server: counting } = await prepareServer(server.url(), postgresStoreOptions.parse({ schema }));
    onTestFinished(async () => {
      for (const each of [searching, writing, counting]) await each.close();
    });
    const asked = { words: termCounts("w0 w1 w2"), required: [], count: 10 };
    const read = async (remembered?: WordStatistics) =>
      rowsRead(await explain(counting, { lexical: { ...asked, remembered } }), "postings");
    const question = { text: [...asked.words.keys()].join(" ") };
    for (const part of [made.slice(0, 200), made.slice(200, 300)]) {
      await writing.write(withVectors(part, 2));
      expect(await read(counts.latest)).toBe(await read());
      await counting.read((session) => searchOnce(session, { lexical: asked }, counts));
      const counted = [...counts.latest.chunksWith.values()].reduce((sum, each) => sum + each);
      expect(counted).toBeGreaterThan(50);
      const saved = (await read()) - (await read(counts.latest));
      // The server tells whole rows for each word on average.
      expect(Math.abs(saved - counted)).toBeLessThanOrEqual(asked.words.size);
      const fresh = await open();
      expect(await searching.lexical.retrieve(question, { count: 10 })).toEqual(
        await fresh.lexical.retrieve(question, { count: 10 }),
      );
      await fresh.close();
    }
  });

  test("by vector walk the graph, and compare no 750 chunks, where a filter admits half of all", async () => {
    const dense = { vector: normalised(madeVector("w0", dimension)), count: 5, precision: "vector" } as const;
    const explained = explain(searched, { dense, matching: { filter: { metadata: { half: 1 } }, areFew: false } });
    expect(rowsRead(await explained, "embeddings")).toBeLessThan(50);
  });

  test.each([
    ["half of all", { half: 1 }],
    ["a hundredth", { hundredth: 7 }],
    ["one", { one: 7 }],
    ["none", { one: -1 }],
  ])(
    "by vector find as many as match where the filter admits %s, few or more than are all compared",
    async (_, metadata) => {
      const [[name, value]] = Object.entries(metadata) as [[string, number]];
      const matching = made.filter(({ document }) => document.metadata![name] === value);
      for (const question of questions.slice(0, 10)) {
        const vector = madeVector(question, dimension);
        const nearest = matching
          .map(({ chunks: [chunk] }) => ({ id: chunk!.id, score: cosine(vector, madeVector(chunk!.text, dimension)) }))
          .toSorted((one, other) => other.score - one.score)
          .slice(0, 20)
          .map(({ id }) => id);
        for (const areFew of [true, false]) {
          const dense = { vector: normalised(vector), count: 20, precision: "vector" } as const;
          const found = (await search({ dense, matching: { filter: { metadata }, areFew } })).dense.map(({ id }) => id);
          expect(found).toHaveLength(nearest.length);
          const missed = found.filter((id) => !nearest.includes(id)).length;
          // All that are compared are found; the graph (M 16, ef 200) missed none in a hundred such searches.
          expect(missed).toBeLessThanOrEqual(!areFew && matching.length > 20 ? 2 : 0);
        }
      }
    },
  );
});

interface Plan {
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly Plans?: readonly Plan[];
}

interface Explained {
  readonly "QUERY PLAN": readonly { readonly Plan: Plan }[];
}

/** How the server carried a search out. */
async function explain(server: Server, statement: SearchStatement): Promise<Plan> {
  const [text, values] = searchSql(statement);
  const explaining = `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`;
  const [row] = await server.read((session) => session.query<Explained>(explaining, values));
  return row!["QUERY PLAN"][0]!.Plan;
}

/** Rows that a statement took from a table in all. */
function rowsRead(plan: Plan, table: string): number {
  const own = plan["Relation Name"] === table ? plan["Actual Rows"] * plan["Actual Loops"] : 0;
  return (plan.Plans ?? []).reduce((sum, part) => sum + rowsRead(part, table), own);
}
