import fc from "fast-check";
import { expect, test } from "vitest";
import { fillPath } from "../../src/contract/operation.js";

test("any id arrives as it was, and stays one segment of the path (V1, V22)", () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, unit: "grapheme" }).filter((id) => !/^\.{1,2}$/.test(id)),
      (id) => {
        const { pathname, search, hash } = new URL(fillPath("/tasks/{id}", { id }), "http://host");
        expect(pathname.split("/")).toHaveLength(3);
        expect(decodeURIComponent(pathname.split("/")[2]!)).toBe(id);
        expect(search + hash).toBe("");
      },
    ),
  );
});

test.each(["", ".", "..", undefined])("the id %j, which would lead elsewhere, is refused", (id) => {
  expect(() => fillPath("/tasks/{id}", { id })).toThrow(RangeError);
});

test("parameters that the path does not name become its query, a list once for each item", () => {
  const path = fillPath("/tasks", { page_num: 2, "filter.task_ids": ["a&b", "c"], left_out: undefined });
  expect(path).toBe("/tasks?page_num=2&filter.task_ids=a%26b&filter.task_ids=c");
  expect(fillPath("/tasks")).toBe("/tasks");
});
