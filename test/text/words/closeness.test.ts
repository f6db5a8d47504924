import { expect, test } from "vitest";
import { closeness, wordCloseness } from "../../../src/text/words/closeness.js";

test("words count by how far apart they stand: 1 for neighbours in order, 1/2 the other way round, 0 beyond six words", () => {
  expect(closeness([3], [4])).toBe(1);
  expect(closeness([4], [3])).toBe(1 / 2);
  expect(closeness([0, 20], [6, 29])).toBe(1 / 6);
  expect(closeness([0], [7])).toBe(0);
  expect(closeness([0, 10], [5, 11])).toBe(1);
  expect(closeness([1], undefined)).toBe(0);
});

test("of the question's neighbours, those with rarer words count for more", () => {
  const texts = ["alpha beta", "beta gamma", "beta delta"];
  // Beta stands in three texts, alpha and gamma in one: both pairs weigh what beta does.
  expect(wordCloseness("alpha beta gamma", texts)).toEqual([1 / 2, 1 / 2, 0]);
  // Alpha and beta stand in two of three texts, gamma and delta in one: a pair weighs what its commoner word does.
  const [common, rare] = [Math.log(1 + 6 / 3), Math.log(1 + 6 / 2)];
  const found = wordCloseness("alpha beta gamma delta", ["alpha beta", "alpha beta", "gamma delta"])!;
  expect(found[0]).toBeCloseTo(common / (common + common + rare));
  expect(found[2]).toBeCloseTo(rare / (common + common + rare));
});

test("a question of one word has no neighbours", () => {
  expect(wordCloseness("alpha", ["alpha"])).toBeUndefined();
  expect(wordCloseness("alpha alpha", ["alpha alpha"])).toBeUndefined();
});
