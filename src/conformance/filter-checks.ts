import { throws } from "node:assert/strict";
import type { Filter } from "../core/filter.js";
import type { Found, Searchable, Store } from "../core/ports.js";
import { seededRandom } from "../core/random.js";
import type { Json } from "../core/types.js";
import { type Check, dimension, NotApplicable, refuses, same } from "./check.js";
import { filterMatches } from "./filter-matches.js";
import { madeDocument, madeVector, withVectors } from "./made-documents.js";

/** Documents are named by the value of their field. */
const values: Readonly<Record<string, Json>> = {
  "2023": 2023,
  "2024": 2024,
  "2024.5": 2024.5,
  "2025": 2025,
  text: "2024",
  true: true,
  null: null,
  "31 December": "2024-12-31",
  "1 January": "2025-01-01",
  "1 January, a second later": "2025-01-01T00:00:01Z",
  "1 January in Berlin": "2025-01-01T00:00:00+01:00",
  auth: "auth",
  author: "author",
  aut: "aut",
  auti: "auti",
  "last before surrogates": "\ud7ffx",
  "first behind surrogates": "\ue000",
  "last character of all": "au\u{10ffff}x",
  Auth: "Auth",
  "auth and 2024": ["auth", 2024],
  empty: [],
};
const operatorDocuments = [
  ...Object.entries(values).map(([uri, field]) => madeDocument(uri, [`apple ${uri}`], { metadata: { field } })),
  madeDocument("absent", ["apple absent"]),
];

const field = (condition: Json): Filter => ({ metadata: { field: condition } }) as Filter;
const fromOn2024 = ["2024", "2024.5", "2025", "auth and 2024"];

/** Filters with the documents that they admit, worked out by hand. */
const operatorCases: readonly (readonly [string, Filter, readonly string[]])[] = [
  ["equal to a number", field(2024), ["2024", "auth and 2024"]],
  ["equal to a text", field("2024"), ["text"]],
  ["equal to true", field(true), ["true"]],
  ["equal to null", field(null), ["null"]],
  ["above a number", field({ gt: 2024 }), ["2024.5", "2025"]],
  ["from a number on", field({ gte: 2024 }), fromOn2024],
  ["below a number", field({ lt: 2024.5 }), ["2023", "2024", "auth and 2024"]],
  ["up to a number", field({ lte: 2024.5 }), ["2023", "2024", "2024.5", "auth and 2024"]],
  ["from one number up to another", field({ gte: 2024.5, lte: 2025 }), ["2024.5", "2025"]],
  ["between two numbers", field({ gt: 2023, lt: 2024.5 }), ["2024", "auth and 2024"]],
  ["later than a day begins", field({ gt: "2025-01-01" }), ["1 January, a second later"]],
  ["from a day on", field({ gte: "2025-01-01" }), ["1 January", "1 January, a second later"]],
  ["before a day", field({ lt: "2025-01-01" }), ["31 December", "1 January in Berlin"]],
  ["up to the beginning of a day", field({ lte: "2025-01-01" }), ["31 December", "1 January", "1 January in Berlin"]],
  [
    "from a moment on, given with an offset",
    field({ gte: "2025-01-01T00:00:01+00:00" }),
    ["1 January, a second later"],
  ],
  ["one of several", field({ in: [2023, "auth", null] }), ["2023", "null", "auth", "auth and 2024"]],
  ["one of none", field({ in: [] }), []],
  ["a prefix, letter by letter", field({ prefix: "auth" }), ["auth", "author", "auth and 2024"]],
  ["a prefix that is a whole text and the beginning of none", field({ prefix: "author" }), ["author"]],
  [
    "a prefix whose last character stands before the surrogates",
    field({ prefix: "\ud7ff" }),
    ["last before surrogates"],
  ],
  ["a prefix that ends with the last character of all", field({ prefix: "au\u{10ffff}" }), ["last character of all"]],
  ["a field that is there", field({ exists: true }), Object.keys(values)],
  ["a field that is not there", field({ exists: false }), ["absent"]],
  [
    "not a range, which holds without the field too",
    { not: field({ gte: 2024 }) },
    ["absent", ...Object.keys(values).filter((uri) => !fromOn2024.includes(uri))],
  ],
  ["two conditions at once", { ...field({ gte: 2024 }), uri: { prefix: "2025" } }, ["2025"]],
  ["all of two filters", { all: [field({ gte: 2024 }), field({ lte: 2024 })] }, ["2024", "auth and 2024"]],
  ["any of two filters", { any: [field(2023), field(2025)] }, ["2023", "2025"]],
];

const query = { text: "apple", vector: madeVector("apple", dimension) };

/** Uris that each way of reading finds through a filter, in order of text. */
async function seenThrough(store: Store, filter: Filter, documents: typeof operatorDocuments) {
  const uriOf = new Map(
    documents.flatMap(({ document, chunks }) => chunks.map(({ id }) => [id, document.uri] as const)),
  );
  const uris = (found: readonly Found[]) => [...new Set(found.map(({ chunkId }) => uriOf.get(chunkId)!))].toSorted();
  const everything = [...uriOf.keys()].map((chunkId) => ({ chunkId, score: 1, placements: [] }));
  const read = await Promise.all(documents.map(({ document }) => store.document(document.uri, { filter })));
  return {
    dense: uris(await store.dense.retrieve(query, { count: 1000, filter })),
    lexical: uris(await store.lexical.retrieve(query, { count: 1000, filter })),
    hits: [...new Set((await store.hits(everything, { filter })).map(({ uri }) => uri))].toSorted(),
    document: read.flatMap((document) => document?.uri ?? []).toSorted(),
    listed: (await store.scoped(filter).documents()).map(({ uri }) => uri).toSorted(),
  };
}

async function seesExactly(
  store: Store,
  filter: Filter,
  documents: typeof operatorDocuments,
  expected: readonly string[],
) {
  const uris = expected.toSorted();
  same(
    await seenThrough(store, filter, documents),
    { dense: uris, lexical: uris, hits: uris, document: uris, listed: uris },
    JSON.stringify(filter),
  );
}

export const filterChecks: Readonly<Record<string, Check>> = {
  "filters by each operator exactly the documents that meet it, in every way to read": async (store) => {
    await store.write(withVectors(operatorDocuments, dimension));
    for (const [about, filter, expected] of operatorCases) {
      const met = operatorDocuments.filter(({ document }) => filterMatches(filter, document));
      same(met.map(({ document }) => document.uri).toSorted(), expected.toSorted(), `${about}, one by one`);
      await seesExactly(store, filter, operatorDocuments, expected);
    }
  },

  "filters as testing each document one by one does, for any filter": async (store) => {
    const next = seededRandom(11);
    const documents = Array.from({ length: 60 }, (_, index) => madeTestDocument(next, index));
    await store.write(withVectors(documents, dimension));
    for (let round = 0; round < 60; round++) {
      const filter = madeFilter(next, 2);
      const met = documents.filter(({ document }) => filterMatches(filter, document));
      await seesExactly(
        store,
        filter,
        documents,
        met.map(({ document }) => document.uri),
      );
    }
  },

  "fills a filtered search: at 50 %, 1 % and one of 1,000 chunks it finds what filtering a full scan finds": async (
    store,
  ) => {
    const made = Array.from({ length: 1000 }, (_, position) =>
      madeDocument(`d${position}`, [`apple number${position % 7} plum${position}`], {
        metadata: {
          share:
            position % 2 === 0 ? "half" : position % 100 === 1 ? "hundredth" : position === 503 ? "single" : "other",
        },
      }),
    );
    for (let offset = 0; offset < made.length; offset += 250)
      await store.write(withVectors(made.slice(offset, offset + 250), dimension));
    const documentOf = new Map(made.map(({ document, chunks }) => [chunks[0]!.id, document]));
    for (const [share, filled] of Object.entries({ half: 10, hundredth: 10, single: 1 })) {
      const filter: Filter = { metadata: { share } };
      for (const retriever of [store.dense, store.lexical]) {
        const asked = { text: "apple number3", vector: madeVector(`question ${share}`, dimension) };
        const all = await retriever.retrieve(asked, { count: 1000 });
        const expected = all.filter(({ chunkId }) => filterMatches(filter, documentOf.get(chunkId)!)).slice(0, 10);
        const found = await retriever.retrieve(asked, { count: 10, filter });
        same(found.length, filled, `${retriever.name} results at ${share}`);
        const shared = found.filter(({ chunkId }) => expected.some((one) => one.chunkId === chunkId));
        // Equal scores may stand in any order, and a graph may miss one.
        if (retriever.name === "dense") same(shared.length >= 9 || shared.length === filled, true, `dense at ${share}`);
        same(
          found.every(({ chunkId }) => filterMatches(filter, documentOf.get(chunkId)!)),
          true,
        );
      }
    }
  },

  "filters by new metadata as soon as it is written, and no longer by the old": async (store) => {
    const write = (tenant: string, uri = "a") =>
      store.write(withVectors([madeDocument(uri, ["apple"], { metadata: { tenant } })], dimension));
    const found = async (tenant: string) => {
      const call = { count: 5, filter: { metadata: { tenant } } };
      return [await store.dense.retrieve(query, call), await store.lexical.retrieve(query, call)].map(
        ({ length }) => length,
      );
    };
    await write("one");
    same(
      [await found("one"), await found("two")],
      [
        [1, 1],
        [0, 0],
      ],
    );
    await write("two");
    same(
      [await found("one"), await found("two")],
      [
        [0, 0],
        [1, 1],
      ],
    );
    await store.deleteDocuments(["a"]);
    same(await found("two"), [0, 0]);
    await write("two", "b");
    same(
      [await found("one"), await found("two")],
      [
        [0, 0],
        [1, 1],
      ],
    );
  },

  "refuses an invalid filter in every method, and never takes it for none": async (store) => {
    await store.write(withVectors([madeDocument("a", ["apple"])], dimension));
    const bad = [
      { metadata: { tenant: undefined } },
      { metadata: {} },
      {},
      null,
      "",
      { tenant: "one" },
      { uri: { like: "a" } },
      { all: [] },
      { any: [{}] },
      { metadata: { year: { gt: "soon" } } },
      { metadata: { year: { gt: 1, lt: "2024-01-01" } } },
    ] as unknown as readonly Filter[];
    for (const filter of bad) {
      await refuses("options", () => store.dense.retrieve(query, { count: 5, filter }));
      await refuses("options", () => store.lexical.retrieve(query, { count: 5, filter }));
      await refuses("options", () => store.hits([], { filter }));
      await refuses("options", () => store.document("a", { filter }));
      throws(() => store.scoped(filter), { code: "options" });
    }
    throws(() => store.scoped(undefined as unknown as Filter), { code: "options" });
  },

  "hides everything outside a scope, which no filter and no inner scope can widen": async (store) => {
    const made = ["one", "two"].map((tenant) =>
      madeDocument(tenant, [`apple of ${tenant}`], { metadata: { tenant, year: 2024 } }),
    );
    await store.write(withVectors(made, dimension));
    const ids = made.flatMap(({ chunks }) => chunks.map(({ id }) => id));
    const scoped = store.scoped({ metadata: { tenant: "one" } });
    const everything = { any: [{ metadata: { tenant: "two" } }, { metadata: { year: 2024 } }] };
    for (const within of [scoped, scoped.scoped(everything)]) {
      await seesOnly(within, ids[0]!, everything);
    }
    const neither = scoped.scoped({ metadata: { tenant: "two" } });
    same(await neither.lexical.retrieve(query, { count: 10 }), []);
    same(await neither.documents(), []);
  },

  "shows nothing without a scope if it was opened to require one, and can be written to": async (
    _,
    { requiringScope },
  ) => {
    if (!requiringScope) throw new NotApplicable("the factory opens no store that requires a scope");
    const store = await requiringScope();
    await store.write(withVectors([madeDocument("a", ["apple"], { metadata: { tenant: "one" } })], dimension));
    const filter = { metadata: { tenant: "one" } };
    const forgotten = [
      () => store.dense.retrieve(query, { count: 5, filter }),
      () => store.lexical.retrieve(query, { count: 5, filter }),
      () => store.document("a", { filter }),
      () => store.hits([], { filter }),
      () => store.documentInfo("a"),
      () => store.documents(),
      ...(store.documentWithChunks ? [() => store.documentWithChunks!("a")] : []),
    ];
    for (const read of forgotten) await refuses("scope", read);
    same((await store.scoped(filter).dense.retrieve(query, { count: 5 })).length, 1);
  },
};

async function seesOnly(within: Searchable, chunkId: string, filter: Filter): Promise<void> {
  for (const retriever of [within.dense, within.lexical]) {
    const found = await retriever.retrieve(query, { count: 10, filter });
    same(
      found.map((one) => one.chunkId),
      [chunkId],
    );
    same(
      (await retriever.retrieve(query, { count: 10 })).map((one) => one.chunkId),
      [chunkId],
    );
  }
  same(
    (await within.documents()).map(({ uri }) => uri),
    ["one"],
  );
  same([(await within.document("one"))?.uri, (await within.document("two"))?.uri], ["one", undefined]);
  same([(await within.documentInfo("one"))?.uri, (await within.documentInfo("two"))?.uri], ["one", undefined]);
}

type Random = () => number;

const texts = [
  "",
  "auth",
  "Auth",
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
const moments = ["2024-03-01", "2024-03-01T00:00:00Z", "2024-03-01T02:00:00+02:00", "2023-12-31T23:59:59.999Z"];
const scalars = [...texts, ...moments, "2026-11", 0, 1, 2024, 0.1, -1e300, 2 ** 53, true, false, null];
const names = ["product", "year", 'a"b.c', "日期", "$.x", "title"];

function oneOf<Value>(next: Random, from: readonly Value[]): Value {
  return from[Math.floor(next() * from.length)]!;
}

function some<Value>(next: Random, max: number, make: () => Value): Value[] {
  return Array.from({ length: Math.floor(next() * (max + 1)) }, make);
}

function madeTestDocument(next: Random, index: number): (typeof operatorDocuments)[number] {
  const value = (): Json => {
    const kind = next();
    if (kind < 0.7) return oneOf(next, scalars);
    return kind < 0.9 ? some(next, 3, () => oneOf(next, scalars)) : { product: "auth" };
  };
  return madeDocument(`file:///${index}`, [`apple ${index} pear`], {
    ...(next() < 0.5 && { title: oneOf(next, texts) }),
    ...(next() < 0.5 && { source: oneOf(next, ["docs", "wiki"]) }),
    ...(next() < 0.5 && { mediaType: oneOf(next, ["text/plain", "text/markdown"]) }),
    ...(next() < 0.8 && { metadata: Object.fromEntries(some(next, 5, () => [oneOf(next, names), value()])) }),
  });
}

function madeFilter(next: Random, depth: number): Filter {
  const scalar = () =>
    oneOf(
      next,
      scalars.filter((one) => typeof one !== "string" || one.length <= 1024),
    );
  const range = (bounds: readonly (string | number)[]) => ({
    [oneOf(next, ["gt", "gte"])]: oneOf(next, bounds),
    ...(next() < 0.4 && { [oneOf(next, ["lt", "lte"])]: oneOf(next, bounds) }),
  });
  const condition = (): unknown =>
    oneOf(next, [
      scalar,
      () => ({ in: some(next, 4, scalar) }),
      () => ({ prefix: oneOf(next, ["", "a", "自", "x".repeat(1000), "\u{10ffff}", "2"]) }),
      () => ({ exists: next() < 0.5 }),
      () => range([0, 1, 2023.5, 2024, -1e300]),
      () => range([...moments, "2024-03-01T00:30:00+01:00"]),
    ])();
  const parts: readonly (() => Filter)[] = [
    () => ({ metadata: { [oneOf(next, names)]: condition() } }) as Filter,
    () => ({ metadata: { [oneOf(next, names)]: condition() } }) as Filter,
    () => ({ uri: oneOf(next, ["file:///1", { prefix: "file:///1" }, { in: ["file:///2", "file:///17"] }]) }),
    () => ({ title: oneOf(next, ["auth", { exists: false }, { prefix: "nul" }, { in: ["", "2024"] }]) }),
    () => ({ source: oneOf(next, ["docs", { in: ["none"] }]), mediaType: { exists: next() < 0.5 } }),
  ];
  const inner = () => madeFilter(next, depth - 1);
  const combined: readonly (() => Filter)[] = [
    () => ({ all: [inner(), inner()] }),
    () => ({ any: [inner(), ...some(next, 2, inner)] }),
    () => ({ not: inner() }),
  ];
  return oneOf(next, depth > 0 ? [...parts, ...combined] : parts)();
}
