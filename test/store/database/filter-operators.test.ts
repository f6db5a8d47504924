import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { Filter } from "../../../src/core/filter.js";
import type { Store } from "../../../src/core/ports.js";
import type { Document, Json } from "../../../src/core/types.js";
import { openStore } from "../../../src/store/open-store.js";
import { filterMatches } from "../../support/filter-matches.js";
import { madeDocument, withVectors } from "../made-documents.js";

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
const documents = [
  ...Object.entries(values).map(([uri, value]): Document => ({ uri, text: uri, metadata: { field: value } })),
  { uri: "absent", text: "absent" },
];

const cases: readonly (readonly [string, Filter, readonly string[]])[] = [
  ["equal to a number", { metadata: { field: 2024 } }, ["2024", "auth and 2024"]],
  ["equal to a text", { metadata: { field: "2024" } }, ["text"]],
  ["equal to true", { metadata: { field: true } }, ["true"]],
  ["equal to null", { metadata: { field: null } }, ["null"]],
  ["above a number", { metadata: { field: { gt: 2024 } } }, ["2024.5", "2025"]],
  ["from a number on", { metadata: { field: { gte: 2024 } } }, ["2024", "2024.5", "2025", "auth and 2024"]],
  ["below a number", { metadata: { field: { lt: 2024.5 } } }, ["2023", "2024", "auth and 2024"]],
  ["up to a number", { metadata: { field: { lte: 2024.5 } } }, ["2023", "2024", "2024.5", "auth and 2024"]],
  ["from one number up to another", { metadata: { field: { gte: 2024.5, lte: 2025 } } }, ["2024.5", "2025"]],
  ["between two numbers", { metadata: { field: { gt: 2023, lt: 2024.5 } } }, ["2024", "auth and 2024"]],
  ["later than a day begins", { metadata: { field: { gt: "2025-01-01" } } }, ["1 January, a second later"]],
  ["from a day on", { metadata: { field: { gte: "2025-01-01" } } }, ["1 January", "1 January, a second later"]],
  ["before a day", { metadata: { field: { lt: "2025-01-01" } } }, ["31 December", "1 January in Berlin"]],
  [
    "up to the beginning of a day",
    { metadata: { field: { lte: "2025-01-01" } } },
    ["31 December", "1 January", "1 January in Berlin"],
  ],
  [
    "from a moment on, given with an offset",
    { metadata: { field: { gte: "2024-12-31T23:00:01Z" } } },
    ["1 January", "1 January, a second later"],
  ],
  ["one of several", { metadata: { field: { in: [2023, "auth", null] } } }, ["2023", "null", "auth", "auth and 2024"]],
  ["one of two texts", { metadata: { field: { in: ["aut", "author"] } } }, ["author", "aut"]],
  ["one of none", { metadata: { field: { in: [] } } }, []],
  ["a prefix, letter by letter", { metadata: { field: { prefix: "auth" } } }, ["auth", "author", "auth and 2024"]],
  [
    "a prefix that is a whole text and the beginning of none",
    { metadata: { field: { prefix: "author" } } },
    ["author"],
  ],
  [
    "a prefix whose last character stands before the surrogates",
    { metadata: { field: { prefix: "\ud7ff" } } },
    ["last before surrogates"],
  ],
  [
    "a prefix that ends with the last character of all",
    { metadata: { field: { prefix: "au\u{10ffff}" } } },
    ["last character of all"],
  ],
  ["a field that is there", { metadata: { field: { exists: true } } }, Object.keys(values)],
  ["a field that is not there", { metadata: { field: { exists: false } } }, ["absent"]],
  [
    "not a range: also what has no such field",
    { not: { metadata: { field: { gte: 2024 } } } },
    ["absent", ...Object.keys(values).filter((uri) => !["2024", "2024.5", "2025", "auth and 2024"].includes(uri))],
  ],
  ["two conditions at once", { metadata: { field: { gte: 2024 } }, uri: { prefix: "2025" } }, ["2025"]],
  [
    "all of two filters",
    { all: [{ metadata: { field: { gte: 2024 } } }, { metadata: { field: { lte: 2024 } } }] },
    ["2024", "auth and 2024"],
  ],
  ["any of two filters", { any: [{ metadata: { field: 2023 } }, { metadata: { field: 2025 } }] }, ["2023", "2025"]],
];

describe("a filter by", () => {
  let store: Store;
  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), "citewell-filter-"));
    store = await openStore(folder, { space: "made" });
    const writes = documents.map(({ uri, text, ...more }) => madeDocument(uri, [`apple ${text}`], more));
    await store.write(withVectors(writes, 8));
    return async () => {
      await store.close();
      rmSync(folder, { recursive: true });
    };
  });

  test.each(cases)("%s finds exactly the documents that meet it", async (_, filter, expected) => {
    const found = await store.lexical.retrieve({ text: "apple" }, { count: 100, filter });
    const hits = await store.hits(found);
    expect(hits.map(({ uri }) => uri).toSorted()).toEqual(expected.toSorted());
  });

  test.each(cases)("%s lets exactly these documents be read", async (_, filter, expected) => {
    const everything = await store.lexical.retrieve({ text: "apple" }, { count: 100 });
    const hits = await store.hits(everything, { filter });
    expect(hits.map(({ uri }) => uri).toSorted()).toEqual(expected.toSorted());
    const read = await Promise.all(documents.map(({ uri }) => store.document(uri, { filter })));
    expect(read.flatMap((document) => document?.uri ?? []).toSorted()).toEqual(expected.toSorted());
  });

  test.each(cases)("%s is met by the same documents one by one", (_, filter, expected) => {
    const met = documents.filter((document) => filterMatches(filter, document)).map(({ uri }) => uri);
    expect(met.toSorted()).toEqual(expected.toSorted());
  });
});
