import { expect, test } from "vitest";
import { checkFilter } from "../../src/core/filter.js";
import { jsonMetadata } from "../../src/core/metadata.js";

test.each(["$eq", "eq", "$gte", "ne", "contains", "startsWith", "min", "IN"])(
  "the operator %s is refused with the names of those that there are",
  (operator) => {
    for (const filter of [
      { metadata: { year: { [operator]: 3 } } },
      { uri: { [operator]: "a" } },
      { all: [{ not: { metadata: { year: { gte: 1, [operator]: 3 } } } }] },
    ]) {
      expect(() => checkFilter("search", filter)).toThrow(
        `has no operator "${operator}"; there are: in, gt, gte, lt, lte, prefix, exists. The value itself`,
      );
    }
  },
);

test.each(["$and", "and", "$or", "or", "OR", "$not", "nor", "must", "should"])(
  "conditions that are joined by %s are refused with what joins them",
  (name) => {
    for (const filter of [{ [name]: [{ uri: "a" }] }, { not: { [name]: [] } }, { all: [{ uri: "a", [name]: {} }] }]) {
      expect(() => checkFilter("search", filter)).toThrow(
        `has no "${name}": conditions are joined by all: […], any: […] and not: { … }`,
      );
    }
  },
);

test("a field may have any name within metadata", () => {
  const filter = { metadata: { or: "a", $and: 1, must: { in: ["x"] } } };
  expect(checkFilter("search", filter)).toEqual(filter);
});

test("metadata with a field that is not enumerable is refused by its path, since it would be lost", () => {
  const hidden = (fields: object) => Object.defineProperty(fields, "team", { value: "north", enumerable: false });
  expect(() => jsonMetadata("a.md", hidden({ year: 1 }))).toThrow("a.md: metadata.team is not enumerable");
  expect(() => jsonMetadata("a.md", { by: [hidden({})] })).toThrow("a.md: metadata.by.0.team is not enumerable");
  expect(jsonMetadata("a.md", { team: "north" })).toEqual({ team: "north" });
});
