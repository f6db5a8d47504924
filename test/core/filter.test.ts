import { expect, test } from "vitest";
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
