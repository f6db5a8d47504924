import fc from "fast-check";
import { expect, test } from "vitest";
import { TopK } from "../../../src/store/derived/top-k.js";

test("the heap keeps those that sorting would put first, with ties ordered by label", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -5, max: 5 })), fc.integer({ min: 0, max: 30 }), (scores, count) => {
      const best = new TopK(count);
      for (const [label, score] of scores.entries()) best.offer(label, score);
      const sorted = scores
        .map((score, label) => ({ label, score }))
        .toSorted((a, b) => b.score - a.score || a.label - b.label)
        .slice(0, count);
      const { labels, scores: kept } = best.ranking();
      expect([...labels].map((label, at) => ({ label, score: kept[at] }))).toEqual(sorted);
    }),
  );
});
