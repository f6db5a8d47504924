import { expect, test } from "vitest";
import { timeLeft } from "../../../src/knowledge-base/ingest/pace.js";

test("the time left is estimated from the pace once enough documents are done", () => {
  expect(timeLeft(1000, 100, 30)).toBe(30);
  expect(timeLeft(5, 1, 0.5)).toBe(8);
  // The first of 888 documents took seven seconds, which does not mean 101 minutes for all.
  expect(timeLeft(888, 1, 1 / 7)).toBeUndefined();
  expect(timeLeft(888, 10, 5)).toBe(175.6);
  expect(timeLeft(undefined, 100, 30)).toBeUndefined();
  expect(timeLeft(1000, 100, undefined)).toBeUndefined();
  expect(timeLeft(100, 120, 30)).toBe(0);
});
