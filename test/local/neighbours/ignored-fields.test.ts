import { expect, test } from "vitest";
import { ignoredFields, writtenFields } from "../../../src/local/neighbours/ignored-fields.js";

test("fields that were not kept are named once, by their place without the places in lists, and null is none", () => {
  const given = { a: 1, b: 2, c: null, list: [{ x: 1, y: 1 }, { y: 2 }, 7], deep: { er: { z: 1, w: null } } };
  const read = { a: 1, list: [{ x: 1 }, {}, 7], deep: { er: {} } };
  expect(ignoredFields(given, read)).toEqual(["b", "list.y", "deep.er.z"]);
  expect(ignoredFields(given, given)).toEqual([]);
  expect(ignoredFields([1], { 0: 1 })).toEqual([]);
});

test("names from callers are safe in a header, short and few", () => {
  expect(writtenFields(["messages.name", "logprobs"])).toBe("messages.name, logprobs");
  expect(writtenFields(["a\r\nset-cookie: b", "键", "\ud800"])).toBe("a%0D%0Aset-cookie%3A%20b, %E9%94%AE, %EF%BF%BD");
  expect(writtenFields(["x".repeat(1000)])).toHaveLength(80);
  expect(writtenFields(Array.from({ length: 23 }, (_, at) => `f${at}`))).toMatch(/, f19, and 3 more$/);
});
