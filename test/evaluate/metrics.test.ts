import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { averagePrecision, ndcg, recall, reciprocalRank, type Judgements } from "../../src/evaluate/metrics.js";

const judged = (scores: Record<string, number>): Judgements => new Map(Object.entries(scores));

describe("measures computed by hand", () => {
  // Ranks of a, b, c: 2, 4, none.
  const ranking = ["x", "a", "y", "b"];
  const judgements = judged({ a: 3, b: 1, c: 2, y: 0, z: -1 });

  test("ndcg weighs judged scores by log2(rank + 1) against the best order of all judgements", () => {
    const gained = 3 / Math.log2(3) + 1 / Math.log2(5);
    const best = 3 / Math.log2(2) + 2 / Math.log2(3) + 1 / Math.log2(4);
    expect(ndcg(ranking, judgements, 10)).toBeCloseTo(gained / best, 12);
    expect(ndcg(ranking, judgements, 2)).toBeCloseTo(3 / Math.log2(3) / (3 + 2 / Math.log2(3)), 12);
  });

  test("recall is the share of the relevant documents among the first k", () => {
    expect(recall(ranking, judgements, 100)).toBeCloseTo(2 / 3, 12);
    expect(recall(ranking, judgements, 2)).toBeCloseTo(1 / 3, 12);
  });

  test("the reciprocal rank is that of the first relevant document, or 0 beyond k", () => {
    expect(reciprocalRank(ranking, judgements, 10)).toBe(1 / 2);
    expect(reciprocalRank(ranking, judgements, 1)).toBe(0);
  });

  test("average precision divides by all relevant documents, ranked or not", () => {
    expect(averagePrecision(ranking, judgements)).toBeCloseTo((1 / 2 + 2 / 4) / 3, 12);
  });

  test("a query without relevant documents scores 0, not NaN", () => {
    const nothing = judged({ a: 0, b: -1 });
    const scores = [
      ndcg(ranking, nothing, 10),
      recall(ranking, nothing, 10),
      reciprocalRank(ranking, nothing, 10),
      averagePrecision(ranking, nothing),
    ];
    expect(scores).toEqual([0, 0, 0, 0]);
  });
});

describe("for any ranking and judgements", () => {
  const ids = ["a", "b", "c", "d", "e", "f"];
  const rankings = fc.shuffledSubarray(ids);
  const judgementsOfAny = fc.dictionary(fc.constantFrom(...ids), fc.integer({ min: -1, max: 3 })).map(judged);
  const cutoffs = fc.integer({ min: 1, max: 8 });

  /** Every order of `items`. */
  function orders(items: readonly string[]): string[][] {
    if (items.length === 0) return [[]];
    return items.flatMap((item) => orders(items.filter((other) => other !== item)).map((rest) => [item, ...rest]));
  }

  function gain(ranking: readonly string[], judgements: Judgements, k: number): number {
    let sum = 0;
    for (let rank = 1; rank <= Math.min(k, ranking.length); rank++) {
      sum += Math.max(0, judgements.get(ranking[rank - 1]!) ?? 0) / Math.log2(rank + 1);
    }
    return sum;
  }

  test("ndcg is the gain divided by the largest gain of any order", () => {
    const everyOrder = orders(ids);
    fc.assert(
      fc.property(rankings, judgementsOfAny, cutoffs, (ranking, judgements, k) => {
        const best = Math.max(...everyOrder.map((order) => gain(order, judgements, k)));
        expect(ndcg(ranking, judgements, k)).toBeCloseTo(best === 0 ? 0 : gain(ranking, judgements, k) / best, 10);
      }),
      { numRuns: 50 },
    );
  });

  test("recall, reciprocal rank and average precision agree with their definitions as loops", () => {
    fc.assert(
      fc.property(rankings, judgementsOfAny, cutoffs, (ranking, judgements, k) => {
        const relevant = ids.filter((id) => (judgements.get(id) ?? 0) > 0);
        const ranks = relevant.map((id) => ranking.indexOf(id) + 1).filter((rank) => rank > 0);
        const within = ranks.filter((rank) => rank <= k);
        expect(recall(ranking, judgements, k)).toBeCloseTo(within.length / (relevant.length || 1), 10);
        expect(reciprocalRank(ranking, judgements, k)).toBeCloseTo(within.length ? 1 / Math.min(...within) : 0, 10);
        const precisions = ranks.map((rank) => ranks.filter((other) => other <= rank).length / rank);
        const sum = precisions.reduce((total, precision) => total + precision, 0);
        expect(averagePrecision(ranking, judgements)).toBeCloseTo(sum / (relevant.length || 1), 10);
      }),
    );
  });

  test("moving a relevant document up by one place never lowers a measure", () => {
    fc.assert(
      fc.property(rankings, judgementsOfAny, fc.nat({ max: 4 }), (ranking, judgements, at) => {
        const score = (id: string) => Math.max(0, judgements.get(id) ?? 0);
        fc.pre(at + 1 < ranking.length && score(ranking[at + 1]!) > score(ranking[at]!));
        const better = ranking.toSpliced(at, 2, ranking[at + 1]!, ranking[at]!);
        expect(ndcg(better, judgements, 10)).toBeGreaterThanOrEqual(ndcg(ranking, judgements, 10));
        expect(reciprocalRank(better, judgements, 10)).toBeGreaterThanOrEqual(reciprocalRank(ranking, judgements, 10));
        expect(averagePrecision(better, judgements)).toBeGreaterThanOrEqual(averagePrecision(ranking, judgements));
      }),
    );
  });
});
