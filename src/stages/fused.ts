import { z } from "zod";
import { OptionsError } from "../errors.js";
import { resolve } from "../options.js";
import type { Found, Retriever } from "../ports.js";
import type { Placement } from "../types.js";

export const FusedOptions = z.strictObject({
  /**
   * How slowly a place further down loses worth: a chunk at rank r counts weight / (k + r). 0 to 1000; default 10. The
   * paper has 60, for dozens of lists; of two lists, the first places have to say more.
   */
  k: z.number().min(0).max(1000).default(10),
  /** What each retriever's word is worth, in their order; 0 or more. Default: 1 each. */
  weights: z.array(z.number().min(0)).optional(),
  /** What each retriever is asked for. Default: twice what the caller asks for, and at least 100. */
  candidates: z.int().min(1).optional(),
});
export type FusedOptions = z.input<typeof FusedOptions>;

/**
 * One retriever of several: ranks count, scores do not, so retrievers of different scales need no calibration.
 * Reciprocal rank fusion after Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and
 * individual Rank Learning Methods", SIGIR 2009.
 */
export function fused(retrievers: readonly Retriever[], options: FusedOptions = {}): Retriever {
  const { k, weights, candidates } = resolve("fused", FusedOptions, options);
  if (weights && weights.length !== retrievers.length) {
    throw new OptionsError("options", `fused: ${weights.length} weights for ${retrievers.length} retrievers`);
  }
  return {
    name: "fused",
    retrieve: async (query, { count, ...call }) => {
      const each = { ...call, count: candidates ?? Math.max(100, 2 * count) };
      const rankings = await Promise.all(retrievers.map((retriever) => retriever.retrieve(query, each)));
      return fuse(rankings, { k, weights, count });
    },
  };
}

interface Fusing {
  readonly k: number;
  readonly weights: readonly number[] | undefined;
  readonly count: number;
}

/** The `count` best by falling sum of weight / (k + rank); ties by best rank in any list, then by id. */
export function fuse(rankings: readonly (readonly Found[])[], { k, weights, count }: Fusing): Found[] {
  const sums = new Map<string, { score: number; bestRank: number; placements: readonly Placement[] }>();
  for (const [list, ranking] of rankings.entries()) {
    const weight = weights?.[list] ?? 1;
    const seen = new Set<string>();
    for (const { chunkId, placements } of ranking) {
      if (seen.has(chunkId)) continue;
      seen.add(chunkId);
      const rank = seen.size;
      const sum = sums.get(chunkId) ?? { score: 0, bestRank: Infinity, placements: [] };
      sum.score += weight / (k + rank);
      sum.bestRank = Math.min(sum.bestRank, rank);
      // Pushing onto an empty list would make room for 17 of them.
      sum.placements = sum.placements.length === 0 ? placements : [...sum.placements, ...placements];
      sums.set(chunkId, sum);
    }
  }
  return [...sums]
    .toSorted(([idA, a], [idB, b]) => b.score - a.score || a.bestRank - b.bestRank || (idA < idB ? -1 : 1))
    .slice(0, count)
    .map(([chunkId, { score, placements }], index) => ({
      chunkId,
      score,
      placements: [...placements, { by: "fused", rank: index + 1, score }],
    }));
}
