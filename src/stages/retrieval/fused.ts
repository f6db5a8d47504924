import { z } from "zod";
import { OptionsError } from "../../core/errors.js";
import { optionsOf, resolve } from "../../core/options.js";
import type { Found, Retriever } from "../../core/ports.js";
import type { Placement } from "../../core/types.js";

export interface FusedOptions {
  /**
   * How slowly lower ranks lose weight: a chunk at rank r counts weight / (k + r). 0 to 1000; default 10. The paper has
   * 60, for dozens of lists; with two lists, the first ranks have to count for more.
   */
  readonly k?: number;
  /** The weight of each retriever, in their order; 0 or more. Default: 1 each. */
  readonly weights?: readonly number[];
  /** Results to ask of each retriever. Default: twice as many as the caller wants, and at least 100. */
  readonly candidates?: number;
}

export const fusedOptions = optionsOf<FusedOptions>()({
  k: z.number().min(0).max(1000).default(10),
  weights: z.array(z.number().min(0)).readonly().optional(),
  candidates: z.int().min(1).optional(),
});

/**
 * Combines retrievers into one. Only ranks count, so retrievers with different score scales need no calibration.
 * Reciprocal rank fusion after Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and
 * individual Rank Learning Methods", SIGIR 2009.
 */
export function fused(retrievers: readonly Retriever[], options: FusedOptions = {}): Retriever {
  const { k, weights, candidates } = resolve("fused", fusedOptions, options);
  if (weights && weights.length !== retrievers.length) {
    throw new OptionsError(
      "options",
      `fused: ${weights.length} weights for ${retrievers.length} retrievers: pass one each`,
    );
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

/** The `count` best by falling sum of weight / (k + rank); ties go to the best rank in any list, then to the lower id. */
export function fuse(
  rankings: readonly (readonly Found[])[],
  {
    k,
    weights,
    count,
  }: { readonly k: number; readonly weights: readonly number[] | undefined; readonly count: number },
): Found[] {
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
      // Reuses the first list: pushing onto an empty one would reserve room for 17 entries.
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
