// In test:all alone: it compares any filter with a full scan of 10,000 chunks, for 38 s.
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { OptionsError, StoreError } from "../../../src/core/errors.js";
import type { Filter } from "../../../src/core/filter.js";
import type { DocumentWrite, Found, RetrievalQuery, Retriever, Store } from "../../../src/core/ports.js";
import { fused } from "../../../src/stages/retrieval/fused.js";
import { openStore } from "../../../src/store/open-store.js";
import type { StoreOptions } from "../../../src/store/store-options.js";
import type { Document, Json } from "../../../src/core/types.js";
import { filterMatches } from "../../../src/conformance/filter-matches.js";
import { seededRandom } from "../../support/seeded-random.js";
import { madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import { temporaryFolder } from "../temporary-folder.js";

const dimension = 16;

async function opened(options: StoreOptions = {}, path = temporaryFolder()): Promise<Store> {
  const store = await openStore(path, { space: "made" }, options);
  onTestFinished(() => store.close());
  return store;
}

const texts = [
  "",
  "auth",
  "Auth",
  "billing",
  "自动",
  "a\"b'c%",
  "nul",
  "nul\0",
  "nul\0evil",
  "2024",
  "true",
  "\u{10ffff}x",
  "x".repeat(2000),
];
const moments = [
  "2024-03-01",
  "2024-03-01T00:00:00Z",
  "2024-03-01T02:00:00+02:00",
  "2023-12-31T23:59:59.999Z",
  "2026-11",
];
const names = ["product", "year", 'a"b.c', "日期", "$.x", "title"];
const scalar: fc.Arbitrary<string | number | boolean | null> = fc.oneof(
  fc.constantFrom(...texts, ...moments),
  fc.constantFrom(0, 1, 2024, 0.1, -1e300, 2 ** 53, 1234567890123456800),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const value: fc.Arbitrary<Json> = fc.oneof(
  { weight: 4, arbitrary: scalar },
  fc.array(scalar, { maxLength: 3 }),
  fc.constant({ product: "auth" }),
);
const details = fc.record(
  {
    title: fc.constantFrom(...texts),
    source: fc.constantFrom("docs", "wiki"),
    mediaType: fc.constantFrom("text/plain", "text/markdown"),
    metadata: fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 5 }),
  },
  { requiredKeys: [] },
);

const asked = scalar.filter((one) => typeof one !== "string" || one.length <= 1024);
const askedText = fc.constantFrom(...texts).filter((one) => one.length <= 1024);
const range = (bound: fc.Arbitrary<string | number>) =>
  fc
    .record({ gt: bound, gte: bound, lt: bound, lte: bound }, { requiredKeys: [] })
    .filter((one) => Object.keys(one).length > 0);
const beyond = <Value>(equal: fc.Arbitrary<Value>) =>
  fc.oneof(
    equal,
    fc.record({ in: fc.array(equal, { maxLength: 4 }) }),
    fc.record({ prefix: fc.constantFrom("", "a", "自", "x".repeat(1000), "\u{10ffff}", "file:///1", "2") }),
    fc.record({ exists: fc.boolean() }),
  );
const condition = fc.oneof(
  beyond(asked),
  range(fc.constantFrom(0, 1, 2023.5, 2024, -1e300)),
  range(fc.constantFrom(...moments.filter((moment) => moment.length > 7), "2024-03-01T00:30:00+01:00")),
);
const filterOf = (depth: number): fc.Arbitrary<Filter> =>
  fc
    .record(
      {
        uri: beyond(fc.constantFrom("file:///1", "file:///17")),
        title: beyond(askedText),
        source: beyond(fc.constantFrom("docs", "none")),
        mediaType: beyond(fc.constantFrom("text/plain")),
        metadata: fc.dictionary(fc.constantFrom(...names), condition, { minKeys: 1, maxKeys: 2 }),
        ...(depth > 0 && {
          all: fc.array(filterOf(depth - 1), { minLength: 1, maxLength: 2 }),
          any: fc.array(filterOf(depth - 1), { minLength: 1, maxLength: 3 }),
          not: filterOf(depth - 1),
        }),
      },
      { requiredKeys: [] },
    )
    .filter((made) => Object.keys(made).length > 0);

/** Everything there is to find, best first, filtered in JavaScript. */
async function scanned(
  retriever: Retriever,
  query: RetrievalQuery,
  passes: (found: Found) => boolean,
  count: number,
): Promise<string[]> {
  const everything = await retriever.retrieve(query, { count: 100_000 });
  return everything
    .filter(passes)
    .slice(0, count)
    .map(({ chunkId }) => chunkId);
}

test("a filtered search finds what filtering a full scan finds, for any filter", async () => {
  const store = await opened();
  const made = fc
    .sample(details, { numRuns: 150, seed: 7 })
    .map((more, at) =>
      madeDocument(
        `file:///${at}`,
        [`apple ${at} pear`, `pear ${at}`].slice(0, 1 + (at % 2)),
        more as Partial<Document>,
      ),
    );
  await store.write(withVectors(made, dimension));
  const documentOf = new Map(made.flatMap(({ document, chunks }) => chunks.map(({ id }) => [id, document] as const)));
  const ids = [...documentOf.keys()];
  const query = { text: "apple pear 7", vector: madeVector("question", dimension) };
  const hybrid = fused([store.dense, store.lexical], { candidates: 100_000 });
  await fc.assert(
    fc.asyncProperty(filterOf(2), async (tried) => {
      const passes = (chunkId: string) => filterMatches(tried, documentOf.get(chunkId)!);
      for (const retriever of [store.dense, store.lexical]) {
        const found = await retriever.retrieve(query, { count: 20, filter: tried });
        const expected = await scanned(retriever, query, (one) => passes(one.chunkId), 20);
        expect(found.map(({ chunkId }) => chunkId)).toEqual(expected);
      }
      // Ranks are those within the filter.
      const both = await hybrid.retrieve(query, { count: 1000, filter: tried });
      expect(both.map(({ chunkId }) => chunkId).toSorted()).toEqual(ids.filter(passes).toSorted());
      const hits = await store.hits(
        ids.map((chunkId) => ({ chunkId, score: 0, placements: [] })),
        { filter: tried },
      );
      expect(hits.map(({ chunk }) => chunk.id)).toEqual(ids.filter(passes));
    }),
    { numRuns: 60 },
  );
});

/** 10,000 chunks, of which a filter on `one` allows 50 %, 1 % or 0.01 %. */
function manyDocuments(): DocumentWrite[] {
  const next = seededRandom(3);
  return Array.from({ length: 10_000 }, (_, at) =>
    madeDocument(`d${at}`, [`apple number${at % 7} pear${Math.floor(next() * 50)} plum${at}`], {
      metadata: { one: at % 2 === 0 ? "half" : at % 100 === 1 ? "hundredth" : at === 5003 ? "single" : "other" },
    }),
  );
}

test("at 50 %, 1 % and 0.01 % of 10,000 chunks, filtered searches find what filtering a full scan finds", async () => {
  const path = temporaryFolder();
  const exact = await opened({ index: "flat" }, path);
  const made = manyDocuments();
  await exact.write(withVectors(made, dimension));
  const graph = await opened({ index: "hnsw" }, path);
  const documentOf = new Map(made.map(({ document, chunks }) => [chunks[0]!.id, document]));
  let [shared, all] = [0, 0];
  for (const one of ["half", "hundredth", "single"]) {
    const filter: Filter = { metadata: { one } };
    const passes = ({ chunkId }: Found) => filterMatches(filter, documentOf.get(chunkId)!);
    for (let question = 0; question < 10; question++) {
      const query = { text: `apple number3 pear${question}`, vector: madeVector(`question ${question}`, dimension) };
      const idsOf = async (retriever: Retriever) =>
        (await retriever.retrieve(query, { count: 10, filter })).map(({ chunkId }) => chunkId);
      expect(await idsOf(exact.lexical)).toEqual(await scanned(exact.lexical, query, passes, 10));
      const expected = await scanned(exact.dense, query, passes, 10);
      expect(await idsOf(exact.dense)).toEqual(expected);
      const found = await idsOf(graph.dense);
      expect(found).toHaveLength(expected.length);
      if (one !== "half") expect(found).toEqual(expected);
      shared += found.filter((id) => expected.includes(id)).length;
      all += expected.length;
    }
  }
  expect(shared / all).toBeGreaterThanOrEqual(0.98); // 1.0 measured
});

test("a filter sees new metadata as soon as it is committed, and no longer the old", async () => {
  const store = await opened({ index: "hnsw" });
  const write = (tenant: string, uri = "a") =>
    store.write(withVectors([madeDocument(uri, ["apple"], { metadata: { tenant } })], dimension));
  const found = async (tenant: string) => {
    const call = { count: 5, filter: { metadata: { tenant } } };
    const query = { text: "apple", vector: madeVector("apple", dimension) };
    const both = await Promise.all([store.dense.retrieve(query, call), store.lexical.retrieve(query, call)]);
    return both.map((some) => some.length);
  };
  await write("one");
  expect([await found("one"), await found("two")]).toEqual([
    [1, 1],
    [0, 0],
  ]);
  await write("two");
  expect([await found("one"), await found("two")]).toEqual([
    [0, 0],
    [1, 1],
  ]);
  await store.deleteDocuments(["a"]);
  expect(await found("two")).toEqual([0, 0]);
  await write("two", "b");
  expect([await found("one"), await found("two")]).toEqual([
    [0, 0],
    [1, 1],
  ]);
});

test("an invalid filter is refused by every method", async () => {
  const store = await opened();
  const bad = { metadata: { tenant: undefined } } as unknown as Filter;
  const query = { text: "apple", vector: madeVector("apple", dimension) };
  await expect(store.dense.retrieve(query, { count: 5, filter: bad })).rejects.toThrow(OptionsError);
  await expect(store.lexical.retrieve(query, { count: 5, filter: bad })).rejects.toThrow(OptionsError);
  await expect(store.hits([], { filter: bad })).rejects.toThrow(OptionsError);
  await expect(store.document("a", { filter: bad })).rejects.toThrow(OptionsError);
  expect(() => store.scoped(bad)).toThrow(OptionsError);
});

test("a scope hides everything else, and a filter cannot widen it", async () => {
  const store = await opened();
  const made = ["one", "two"].map((tenant) =>
    madeDocument(tenant, [`apple of ${tenant}`], { metadata: { tenant, year: 2024 } }),
  );
  await store.write(withVectors(made, dimension));
  const ids = made.flatMap(({ chunks }) => chunks.map(({ id }) => id));
  const scoped = store.scoped({ metadata: { tenant: "one" } });
  const query = { text: "apple", vector: madeVector("apple", dimension) };
  const everything = { any: [{ metadata: { tenant: "two" } }, { metadata: { year: 2024 } }] };
  for (const within of [scoped, scoped.scoped(everything)]) {
    for (const retriever of [within.dense, within.lexical]) {
      const found = await retriever.retrieve(query, { count: 10, filter: everything });
      expect(found.map(({ chunkId }) => chunkId)).toEqual([ids[0]]);
    }
    const given = ids.map((chunkId) => ({ chunkId, score: 1, placements: [] }));
    expect((await within.hits(given)).map(({ uri }) => uri)).toEqual(["one"]);
    expect([await within.document("one"), await within.document("two")]).toEqual([made[0]!.document, undefined]);
  }
  expect(await scoped.scoped({ metadata: { tenant: "two" } }).lexical.retrieve(query, { count: 10 })).toEqual([]);
});

test("a store that requires a scope shows nothing without one, and can be written to without one", async () => {
  const store = await opened({ requireScope: true });
  await store.write(withVectors([madeDocument("a", ["apple"], { metadata: { tenant: "one" } })], dimension));
  const query = { text: "apple", vector: madeVector("apple", dimension) };
  const filter = { metadata: { tenant: "one" } };
  const forgotten = [
    () => store.dense.retrieve(query, { count: 5, filter }),
    () => store.lexical.retrieve(query, { count: 5, filter }),
    () => store.document("a", { filter }),
    () => store.hits([], { filter }),
    () => store.documentInfo("a"),
    () => store.documents(),
  ];
  for (const read of forgotten) {
    await expect(read()).rejects.toThrow(StoreError);
    await expect(read()).rejects.toMatchObject({ code: "scope" });
  }
  expect(await store.scoped(filter).dense.retrieve(query, { count: 5 })).toHaveLength(1);
});

test("with a schema, metadata that does not fit is refused, and so is a filter that nothing can match", async () => {
  const metadata = z.object({
    product: z.enum(["auth", "billing"]),
    year: z.int().optional(),
    tags: z.array(z.string()),
  });
  const store = await openStore(temporaryFolder(), { space: "made" }, { metadata });
  onTestFinished(() => store.close());
  const write = (more: Partial<Document>) => store.write(withVectors([madeDocument("a", ["apple"], more)], dimension));
  await expect(write({})).rejects.toThrow("metadata.product");
  await expect(write({ metadata: { product: "auth", tags: "x" } })).rejects.toThrow("metadata.tags");
  await write({ metadata: { product: "auth", tags: ["x", "y"] } });
  const found = (filter: Parameters<typeof store.scoped>[0]) =>
    store.scoped(filter).lexical.retrieve({ text: "apple" }, { count: 5 });
  expect(await found({ metadata: { product: "auth", tags: "y", year: { exists: false } } })).toHaveLength(1);
  expect(await found({ metadata: { product: { in: ["billing"] } } })).toHaveLength(0);
  // @ts-expect-error the schema knows no such field
  expect(() => store.scoped({ metadata: { produkt: "auth" } })).toThrow("no such field, only product, year, tags");
  // @ts-expect-error the schema knows no such product
  expect(() => store.scoped({ not: { metadata: { product: "gadgets" } } })).toThrow(OptionsError);
  // @ts-expect-error years are numbers
  expect(() => store.scoped({ metadata: { year: "2024" } })).toThrow(OptionsError);
});
