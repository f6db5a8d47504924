import fc from "fast-check";
import { expect, test } from "vitest";
import { OptionsError } from "../../../src/core/errors.js";
import type { Found, Retriever } from "../../../src/core/ports.js";
import { seededRandom } from "../../support/seeded-random.js";
import { fused } from "../../../src/stages/retrieval/fused.js";

function retriever(name: string, ids: readonly string[], asked: number[] = []): Retriever {
  return {
    name,
    retrieve: async (_query, { count }) => {
      asked.push(count);
      return ids.slice(0, count).map((chunkId, index): Found => {
        const score = 100 - index;
        return { chunkId, score, placements: [{ by: name, rank: index + 1, score }] };
      });
    },
  };
}

const ids = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h"));

test("a fused score is the sum of weight / (k + rank) over the lists, whatever the lists", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ ids, weight: fc.integer({ min: 0, max: 3 }) }), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 0, max: 60 }),
      fc.integer({ min: 1, max: 10 }),
      async (lists, k, count) => {
        const all = [...new Set(lists.flatMap((list) => list.ids))];
        const slow = all
          .map((chunkId) => {
            const ranks = lists.map((list) => list.ids.indexOf(chunkId) + 1);
            let score = 0;
            for (const [list, rank] of ranks.entries()) if (rank > 0) score += lists[list]!.weight / (k + rank);
            return { chunkId, score, best: Math.min(...ranks.filter((rank) => rank > 0)) };
          })
          .toSorted((a, b) => b.score - a.score || a.best - b.best || a.chunkId.localeCompare(b.chunkId))
          .slice(0, count);
        const weights = lists.map(({ weight }) => weight);
        const found = await fused(
          lists.map((list, index) => retriever(`r${index}`, list.ids)),
          { k, weights },
        ).retrieve({ text: "" }, { count });
        expect(found.map(({ chunkId, score }) => ({ chunkId, score }))).toEqual(
          slow.map(({ chunkId, score }) => ({ chunkId, score })),
        );
      },
    ),
  );
});

test("hits keep every retriever's placement, and the fused one comes last", async () => {
  const [first] = await fused([retriever("dense", ["x", "y"]), retriever("lexical", ["y"])], { k: 10 }).retrieve(
    { text: "" },
    { count: 5 },
  );
  expect(first).toEqual({
    chunkId: "y",
    score: 1 / 12 + 1 / 11,
    placements: [
      { by: "dense", rank: 2, score: 99 },
      { by: "lexical", rank: 1, score: 100 },
      { by: "fused", rank: 1, score: 1 / 12 + 1 / 11 },
    ],
  });
});

test("each retriever is asked for more than is wanted, so that a hit that is second in both can win", async () => {
  const asked: number[] = [];
  await fused([retriever("a", [], asked), retriever("b", [], asked)]).retrieve({ text: "" }, { count: 10 });
  await fused([retriever("a", [], asked)]).retrieve({ text: "" }, { count: 80 });
  await fused([retriever("a", [], asked)], { candidates: 7 }).retrieve({ text: "" }, { count: 80 });
  expect(asked).toEqual([100, 100, 160, 7]);
});

test("by score no more is asked for than is wanted, and that finds what deep lists find", async () => {
  const random = seededRandom(3);
  const deep = (name: string) => {
    const drawn = new Set(Array.from({ length: 700 }, () => `c${Math.floor(random() * 700)}`));
    return scored(name, Object.fromEntries(Array.from(drawn, (id, at) => [id, 9 / (at + 9)])));
  };
  const lists = [deep("a"), deep("b")];
  const asked: number[] = [];
  const counting = lists.map((list): Retriever => ({
    name: list.name,
    retrieve: (query, call) => {
      asked.push(call.count);
      return list.retrieve(query, call);
    },
  }));
  for (const count of [10, 80, 150]) {
    const options = { method: "score", weights: [0.7, 1] } as const;
    const found = await fused(counting, options).retrieve({ text: "" }, { count });
    const further = await fused(lists, { ...options, candidates: 300 }).retrieve({ text: "" }, { count });
    const ranking = (results: readonly Found[]) => results.map(({ chunkId, score }) => ({ chunkId, score }));
    expect(ranking(found)).toEqual(ranking(further));
  }
  expect(asked).toEqual([100, 100, 100, 100, 150, 150]);
});

test("of equal scores the one with the better best rank comes first, and then the lower id", async () => {
  // With k at 0, twice the second rank is worth as much as one first rank.
  const lists = [
    ["z", "b", "d"],
    ["y", "b", "c"],
  ];
  const found = await fused(
    lists.map((list, index) => retriever(`r${index}`, list)),
    { k: 0 },
  ).retrieve({ text: "" }, { count: 5 });
  expect(found.map(({ chunkId }) => chunkId)).toEqual(["y", "z", "b", "c", "d"]);
  expect(new Set(found.slice(0, 3).map(({ score }) => score))).toEqual(new Set([1]));
});

test("a chunk that a list names twice counts once, and those below it move up", async () => {
  const found = await fused([retriever("a", ["x", "x", "y"])], { k: 1 }).retrieve({ text: "" }, { count: 5 });
  expect(found.map(({ chunkId, score }) => [chunkId, score])).toEqual([
    ["x", 1 / 2],
    ["y", 1 / 3],
  ]);
});

test("a number of weights other than that of the retrievers is refused", () => {
  expect(() => fused([retriever("a", [])], { weights: [1, 2] })).toThrow(OptionsError);
});

/** A retriever with these scores, by chunk. */
function scored(name: string, scores: Readonly<Record<string, number>>): Retriever {
  const found = Object.entries(scores).map(([chunkId, score], index): Found => {
    return { chunkId, score, placements: [{ by: name, rank: index + 1, score }] };
  });
  return { name, retrieve: async (_query, { count }) => found.slice(0, count) };
}

const byScore = async (lists: readonly Retriever[], weights = lists.map(() => 1), count = 10) => {
  const found = await fused(lists, { method: "score", weights }).retrieve({ text: "" }, { count });
  return found.map(({ chunkId, score }) => ({ chunkId, score }));
};

test("fused scores count standard deviations above what an absent chunk has at most", async () => {
  // Computed by hand: 3 and 1 with 98 zeros have the mean 0.04 and the variance 10 / 100 - 0.04 ** 2.
  const deviation = Math.sqrt(0.1 - 0.0016);
  const found = await byScore([scored("a", { x: 3, y: 1 }), scored("b", {})], [0.5, 1]);
  expect(found).toEqual([
    { chunkId: "x", score: expect.closeTo(1.5 / deviation, 9) },
    { chunkId: "y", score: expect.closeTo(0.5 / deviation, 9) },
  ]);
});

test("fused scores do not depend on the scale of a side, nor in a full list on where it begins", async () => {
  const list = (scale: number, offset: number) =>
    scored("a", Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`c${at}`, offset + scale / (1 + at)])));
  const other = scored("b", { c7: 2, c3: 1, c119: 0.5 });
  const plain = await byScore([list(1, 0), other]);
  const moved = await byScore([list(40, -7), other]);
  expect(moved.map(({ chunkId }) => chunkId)).toEqual(plain.map(({ chunkId }) => chunkId));
  for (const [at, { score }] of moved.entries()) expect(score).toBeCloseTo(plain[at]!.score, 6);
});

test("one outlier among the scores of a side does not outvote the other sides", async () => {
  const outlier = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`c${at}`, at === 0 ? 1e9 : 1 - at / 100]));
  const second = scored("b", {
    c5: 9,
    c6: 8.9,
    ...Object.fromEntries(Array.from({ length: 98 }, (_, at) => [`d${at}`, 1])),
  });
  const found = await byScore([scored("a", outlier), second], [0.5, 1]);
  expect(found.slice(0, 2).map(({ chunkId }) => chunkId)).toEqual(["c5", "c6"]);
  for (const { score } of found) expect(score).toBeLessThan(11);
});

test("a side with nothing, with one score for all, or with infinite scores leaves the order to the other", async () => {
  const full = scored("a", { x: 3, y: 2, z: 1 });
  const constant = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`c${at}`, 5]));
  for (const other of [{}, constant, { z: -Infinity, q: -Infinity, y: -Infinity }]) {
    const found = await byScore([full, scored("b", other)], [1, 1], 3);
    expect(found.map(({ chunkId }) => chunkId)).toEqual(["x", "y", "z"]);
    expect(found.every(({ score }) => Number.isFinite(score))).toBe(true);
  }
});

test("fused by scores, a list that ended has its floor at 0, or at its lowest score where that is negative", async () => {
  const retrieverOf = (name: string, scores: Readonly<Record<string, number>>): Retriever => ({
    name,
    retrieve: async () =>
      Object.entries(scores).map(([chunkId, score], index) => ({
        chunkId,
        score,
        placements: [{ by: name, rank: index + 1, score }],
      })),
  });
  const scoreOf = async (scores: Readonly<Record<string, number>>) => {
    const found = await fused([retrieverOf("one", scores)], { method: "score" }).retrieve({ text: "" }, { count: 5 });
    return Object.fromEntries(found.map(({ chunkId, score }) => [chunkId, score]));
  };
  // One score of 5 above ninety-nine that are 0: mean 0.05, deviation √(0.01 × 4.95² + 0.99 × 0.05²).
  expect((await scoreOf({ a: 5 }))["a"]).toBeCloseTo(5 / Math.sqrt(0.01 * 4.95 ** 2 + 0.99 * 0.05 ** 2), 9);
  // The same distances below 0: the lowest score is the floor, and its chunk counts as little as one that is missing.
  const negative = await scoreOf({ a: -4, b: -9 });
  expect(negative["a"]).toBeCloseTo(5 / Math.sqrt(0.01 * 4.95 ** 2 + 0.99 * 0.05 ** 2), 9);
  expect(negative["b"]).toBe(0);
});
