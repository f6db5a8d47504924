import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { OptionsError } from "../../src/core/errors.js";
import { checkFilter } from "../../src/core/filter.js";

const wrong: readonly (readonly [string, unknown])[] = [
  ["nothing at all", undefined],
  ["null", null],
  ["no condition", {}],
  ["a field that turned out undefined", { metadata: { tenant: undefined } }],
  ["a part that turned out undefined", { source: undefined, title: "a" }],
  ["metadata without a field", { metadata: {} }],
  ["an unknown key", { metdata: { year: 2024 } }],
  ["an empty all", { all: [] }],
  ["an empty any", { any: [] }],
  ["a not that turned out undefined", { not: undefined }],
  ["an empty condition", { metadata: { year: {} } }],
  ["an operator that turned out undefined", { metadata: { year: { gte: undefined } } }],
  ["an unknown operator", { metadata: { year: { $gt: 3 } } }],
  ["two kinds of operators at once", { metadata: { year: { in: [1], gt: 2 } } }],
  ["bounds of two kinds", { metadata: { year: { gte: 2024, lt: "2025-01-01" } } }],
  ["a bound that is no date", { metadata: { day: { gte: "soon" } } }],
  ["a day that the month does not have", { metadata: { day: { gte: "2025-02-30" } } }],
  ["an hour that the day does not have", { metadata: { day: { gte: "2025-02-28T24:00:00Z" } } }],
  ["a distance from UTC that no clock has", { metadata: { day: { gte: "2025-02-28T10:00:00+15:00" } } }],
  ["a value that is no number", { metadata: { year: NaN } }],
  ["a number for a uri", { uri: 3 }],
  ["a value among those of a set that turned out undefined", { metadata: { group: { in: ["a", undefined] } } }],
  ["half a surrogate pair", { title: "\ud800" }],
  ["a regular expression, which inherits a source", /a/],
  ["parts that it inherits", Object.create({ uri: "a" })],
  ["an object that has no text", { title: Object.assign(Object.create(null), { toString: "a" }) }],
  ["a text longer than is kept", { title: "x".repeat(1025) }],
];

for (const [what, filter] of wrong) {
  test(`a filter of ${what} is refused`, () => {
    expect(() => checkFilter("filter", filter)).toThrow(OptionsError);
  });
}

test("an error names the place of the mistake", () => {
  const filter = { any: [{ uri: { prefix: "a" } }, { metadata: { year: { gte: "x" } } }] };
  expect(() => checkFilter("filter", filter)).toThrow("any.1.metadata.year: expected a value to equal");
});

test("a filter that contains itself is refused, and one 30 levels deep is not", () => {
  const endless: Record<string, unknown> = { uri: "a" };
  endless["not"] = endless;
  expect(() => checkFilter("filter", endless)).toThrow(OptionsError);
  let deep: object = { uri: "a" };
  for (let depth = 1; depth < 30; depth++) deep = { not: deep };
  expect(checkFilter("filter", deep)).toEqual(deep);
});

test("a filter 32 levels deep is taken, and one of 33 is refused", () => {
  const nested = (levels: number) => {
    let filter: object = { uri: "a" };
    for (let depth = 1; depth < levels; depth++) filter = { not: filter };
    return filter;
  };
  expect(checkFilter("filter", nested(32))).toEqual(nested(32));
  expect(() => checkFilter("filter", nested(33))).toThrow(OptionsError);
});

describe("a filter that is too large is refused before it is read:", () => {
  const one = { metadata: { tenant: "a" } };
  const many = (count: number) => Array.from({ length: count }, () => one);
  const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, at]));
  /** Nests 2 to the power of `levels` conditions, in one object for each level. */
  const doubled = (levels: number): object => {
    let filter: object = one;
    for (let level = 0; level < levels; level++) filter = { any: [filter, filter] };
    return filter;
  };
  const values = (count: number) => ({ in: Array.from({ length: count }, (_, at) => at) });

  test.each([
    ["all of many", { all: many(1001) }],
    ["any of many more", { any: many(100_000) }],
    ["many fields", { metadata: fields(1001) }],
    ["many filters, each of a few", { all: Array.from({ length: 100 }, () => ({ any: many(20) })) }],
    ["many that it does not name", fields(100_000)],
    ["one that is shared again and again", doubled(30)],
    ["many within not", { not: { not: { all: many(5000) } } }],
  ])("%s", (_, filter) => {
    expect(() => checkFilter("search", filter)).toThrow("must hold at most 1000 conditions; compare a field with many");
  });

  test("values in several lists", () => {
    const filter = { any: [{ metadata: { a: values(60_000) } }, { metadata: { b: values(40_001) } }] };
    expect(() => checkFilter("search", filter)).toThrow("must hold at most 100000 values in its lists");
    expect(() => checkFilter("search", { uri: { in: Array.from({ length: 100_000 }, String) } })).not.toThrow();
  });

  test("and one of a thousand conditions is not", () => {
    expect(() => checkFilter("search", { metadata: fields(1000) })).not.toThrow();
    expect(() => checkFilter("search", { all: many(500) })).not.toThrow();
  });
});

describe("a filter with a condition that is not seen by its names is refused, and never read without it:", () => {
  const product = { product: "auth" };
  const unseen = { value: "a", enumerable: false };
  class Fields {
    readonly product = "auth";
    get tenant() {
      return "a";
    }
  }
  test.each<[string, unknown]>([
    ["a field of the prototype", { metadata: Object.assign(Object.create({ tenant: "a" }) as object, product) }],
    ["a getter of a class", { metadata: new Fields() }],
    ["a field that is not enumerable", { metadata: Object.defineProperty({ ...product }, "tenant", unseen) }],
    ["a part that is not enumerable", Object.defineProperty({ metadata: product }, "uri", unseen)],
    ["an operator that is not enumerable", { uri: Object.defineProperty({ exists: true }, "prefix", unseen) }],
    ["a symbol", { any: [{ metadata: product, [Symbol("tenant")]: "a" }] }],
    ["a proxy", { not: new Proxy({ metadata: product }, {}) }],
  ])("%s", (_, filter) => {
    expect(() => checkFilter("search: filter", filter)).toThrow(/must (be a plain object|have no symbols|be left out)/);
  });

  test("while objects of another realm and ones without a prototype are read", () => {
    const elsewhere: unknown = runInNewContext(`({ metadata: { tenant: "a" } })`);
    expect(checkFilter("filter", elsewhere)).toEqual({ metadata: { tenant: "a" } });
    const bare = Object.assign(Object.create(null) as object, { tenant: "a" });
    expect(checkFilter("filter", { metadata: bare })).toEqual({ metadata: { tenant: "a" } });
  });
});
