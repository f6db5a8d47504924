import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { inspect } from "node:util";
import { join } from "node:path";
import { openKnowledgeBase, type Document, type Filter } from "citewell";
import { filterMatches } from "../../src/conformance/filter-matches.js";
import { seededRandom } from "../support/seeded-random.js";
import type { Fuzzing } from "./documents.js";
import { below, oneOf, type Random } from "./mutate.js";

const values: readonly unknown[] = [
  "a",
  "A",
  "ab",
  "",
  " ",
  "é",
  "1",
  "2024-05-01",
  "2024-05-01T10:00:00Z",
  "true",
  "null",
  "\0",
  "%",
  "_",
  "'",
  "中",
  0,
  -0,
  1,
  1.5,
  -1,
  2024,
  2 ** 53,
  1e300,
  5e-324,
  true,
  false,
  null,
  ["a", 1],
  [],
  [[1]],
  { deep: 1 },
];
const scalars = values.filter((value) => typeof value !== "object" || value === null);
const bounds = [...scalars.filter((value) => typeof value === "number"), "2024-05-01", "2024-05-01T10:00:00Z"];
const odd: readonly unknown[] = [
  undefined,
  NaN,
  Infinity,
  10n,
  Symbol("a"),
  () => true,
  new Date(0),
  new Date(NaN),
  /a/,
  new Map([["a", 1]]),
  new Set(["a"]),
  Object.create(null),
  Object.create({ uri: "a" }),
  new (class {
    uri = "note:1";
  })(),
  new Proxy({}, {}),
  new Uint8Array(2),
  Object("a"),
  Object(1),
  Array(2),
  "\ud800",
  "a".repeat(2000),
  { toJSON: () => ({}) },
  JSON.parse('{"__proto__":{"exists":true}}'),
  Promise.resolve({}),
  new Error("a"),
];
const fields = ["a", "b", "year", "when", "tags", "toString", "__proto__", "constructor", "", "a.b", 'a"b', "$[0]"];

function documentOf(random: Random, number: number): Document {
  const metadata = Object.fromEntries(
    fields.flatMap((name) => (name !== "__proto__" && random() < 0.5 ? [[name, oneOf(random, values)]] : [])),
  ) as NonNullable<Document["metadata"]>;
  const title = oneOf(random, ["a", "ab", "中", "Moles"]);
  return { uri: `note:${number}`, text: `Moles dig tunnel number ${number}.`, title, metadata };
}

function anyValue(random: Random, depth: number): unknown {
  if (random() < 0.02) return oneOf(random, odd);
  if (depth > 0 && random() < 0.02) return filterOf(random, depth - 1);
  return oneOf(random, random() < 0.03 ? values : scalars);
}

function conditionOf(random: Random, depth: number): unknown {
  const some = () => anyValue(random, depth);
  const bound = () =>
    [oneOf(random, ["gt", "gte", "lt", "lte"]), random() < 0.9 ? oneOf(random, bounds) : some()] as const;
  if (random() < 0.02) return { [oneOf(random, ["eq", "not", "regex", "__proto__", ""])]: some() };
  return oneOf(random, [
    some,
    () => ({ in: random() < 0.9 ? Array.from({ length: below(random, 4) }, some) : some() }),
    () => Object.fromEntries(Array.from({ length: below(random, 20) && 1 + below(random, 2) }, bound)),
    () => ({ prefix: random() < 0.9 ? oneOf(random, ["", "a", "note:1", "2024", "中"]) : some() }),
    () => ({ exists: random() < 0.95 ? random() < 0.5 : some() }),
  ])();
}

function filterOf(random: Random, depth: number): unknown {
  const inner = () => (random() < 0.99 ? filterOf(random, depth - 1) : anyValue(random, 0));
  const names = [
    "title",
    "metadata",
    "metadata",
    "metadata",
    random() < 0.9 ? "uri" : oneOf(random, ["source", "text", "id"]),
  ];
  if (depth > 0) names.push("all", "any", "not");
  const entries = Array.from({ length: below(random, 3) + (random() < 0.98 ? 1 : 0) }, () => {
    const name = oneOf(random, names);
    if (name === "not") return [name, inner()];
    if (name === "all" || name === "any")
      return [name, Array.from({ length: below(random, 20) && 1 + below(random, 3) }, inner)];
    if (name !== "metadata") return [name, conditionOf(random, depth)];
    const named = Array.from({ length: below(random, 20) && 1 + below(random, 2) }, () => [
      oneOf(random, fields),
      conditionOf(random, depth),
    ]);
    return [name, Object.fromEntries(named)];
  });
  return Object.fromEntries(entries) as unknown;
}

/** Searches with made filters until the time is up; returns with how many, and how many of them were refused. */
export async function fuzzFilters({
  seed,
  seconds,
  onFinding,
}: Omit<Fuzzing, "project">): Promise<{ filters: number; refused: number }> {
  const folder = await mkdtemp(join(tmpdir(), "citewell-fuzz-"));
  const kb = await openKnowledgeBase({ path: join(folder, "store") });
  const random = seededRandom(seed);
  await kb.ingest(Array.from({ length: 40 }, (_, number) => documentOf(random, number)));
  const documents = await Promise.all(
    (await kb.store.documents()).map(async ({ uri }) => (await kb.store.document(uri))!),
  );
  const end = performance.now() + 1000 * seconds;
  let filters = 0;
  let refused = 0;
  for (; performance.now() < end; filters++) {
    const own = seededRandom(seed + filters);
    const filter = (own() < 0.03 ? oneOf(own, [...values, ...odd]) : filterOf(own, 3)) as Filter;
    if (filter === undefined) continue;
    try {
      const { hits } = await kb.search("moles dig tunnel", { filter, count: 50 });
      const found = new Set(hits.map(({ uri }) => uri));
      const expected = documents.filter((document) => filterMatches(filter, document)).map(({ uri }) => uri);
      if (found.size !== expected.length || !expected.every((uri) => found.has(uri))) {
        onFinding(
          `filters, seed ${seed + filters}: ${inspect(filter, { depth: 9 })} found ${[...found].join()} instead of ${expected.join()}`,
        );
      }
    } catch (thrown) {
      refused++;
      if ((thrown as { code?: unknown }).code === "options") continue;
      onFinding(`filters, seed ${seed + filters}: ${inspect(filter, { depth: 9 })} threw ${inspect(thrown)}`);
    }
  }
  await kb.close();
  await rm(folder, { recursive: true });
  return { filters, refused };
}
