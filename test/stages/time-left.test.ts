import { expect, test } from "vitest";
import { timeLeft } from "../../src/stages/time-left.js";

test("the time left is that of the documents left at this pace, once enough are done to tell by", () => {
  expect(timeLeft(1000, 100, 30)).toBe(30);
  expect(timeLeft(5, 1, 0.5)).toBe(8);
  // The first of 888 took seven seconds: that is not 101 minutes for all.
  expect(timeLeft(888, 1, 1 / 7)).toBeUndefined();
  expect(timeLeft(888, 10, 5)).toBe(175.6);
  expect(timeLeft(undefined, 100, 30)).toBeUndefined();
  expect(timeLeft(1000, 100, undefined)).toBeUndefined();
  expect(timeLeft(100, 120, 30)).toBe(0);
});
