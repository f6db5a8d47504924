import { expect, test } from "vitest";
import type { Hit } from "../../../src/core/types.js";
import { closestFirst } from "../../../src/stages/retrieval/closest-first.js";

const near = "the recovery key lies here";
const far = "the key of a house, and after a long while of other words at last a recovery of something";

/** Hits of falling scores; those at `closeAt` have the question's words side by side. */
function hitsWith(count: number, closeAt: readonly number[]): readonly Hit[] {
  return Array.from({ length: count }, (_, index) => {
    const text = closeAt.includes(index) ? near : far;
    const chunk = { id: `c${index}`, documentId: "memo:1", start: 0, end: text.length, text, context: "", tokens: 9 };
    return { chunk, score: 1 - index / 1000, uri: "memo:1", placements: [] };
  });
}

test("the twentieth hit rises by its close words, and the twenty-first stays behind, unread", () => {
  const ids = closestFirst("recovery key", hitsWith(22, [19, 20]), 1).map(({ chunk }) => chunk.id);
  expect(ids[0]).toBe("c19");
  expect(ids.slice(1)).toEqual([...Array.from({ length: 19 }, (_, index) => `c${index}`), "c20", "c21"]);
});

test("hits stay as they are where closeness has no weight", () => {
  const hits = hitsWith(3, [2]);
  expect(closestFirst("recovery key", hits, 0)).toBe(hits);
});
