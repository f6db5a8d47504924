import { z } from "zod";
import { checkPort } from "../../core/check-port.js";
import { OptionsError } from "../../core/errors.js";
import { listOption, optionsOf, renamed, resolve } from "../../core/options.js";
import type { Found, Retriever } from "../../core/ports.js";
import type { Placement } from "../../core/types.js";
import { checkedFound } from "./checked-found.js";

/** Adds up what ranks count (`rrf`), or scores, brought to one scale (`score`). */
export type FusionMethod = "rrf" | "score";

export interface FusedOptions {
  /**
   * `rrf`: only ranks count, so that any retrievers fit together. `score`: a chunk counts by how far its score stands above
   * the last of its list, in standard deviations of that list. Default: `rrf`.
   */
  readonly method?: FusionMethod;
  /**
   * With `rrf`, how slowly lower ranks lose weight: a chunk at rank r counts weight / (k + r). 0 to 1000; default 10. The
   * paper has 60, for dozens of lists; with two lists, the first ranks have to count for more.
   */
  readonly k?: number;
  /** The weight of each retriever, in their order; 0 or more. Default: 1 each. */
  readonly weights?: readonly number[];
  /**
   * Results to ask of each retriever. Default: with `rrf` twice as many as the caller wants, with `score` as many, since those
   * further down cannot be among them; at least 100.
   */
  readonly candidates?: number;
}

export const fusedOptions = renamed(
  optionsOf<FusedOptions>()({
    method: z.enum(["rrf", "score"]).default("rrf"),
    k: z.number().min(0).max(1000).default(10),
    weights: listOption(z.array(z.number().min(0))).optional(),
    candidates: z.int().min(1).optional(),
  }),
  { fusion: '"method"' },
);

/**
 * Combines retrievers into one, by ranks or by scores; neither needs calibration. Reciprocal rank fusion after Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and
 * individual Rank Learning Methods", SIGIR 2009.
 *
 * @example
 * ```ts
 * import { fused, type Retriever } from "citewell";
 * export const both = (documents: Retriever, tickets: Retriever) => fused([documents, tickets], { weights: [2, 1] });
 * ```
 */
export function fused(retrievers: readonly Retriever[], options: FusedOptions = {}): Retriever {
  const { method, k, weights, candidates } = resolve("fused", fusedOptions, options);
  for (const [index, retriever] of retrievers.entries())
    checkPort(`fused`, "retriever", retriever, `retrievers[${index}]`);
  if (weights && weights.length !== retrievers.length) {
    throw new OptionsError(
      "options",
      `fused: ${weights.length} weights for ${retrievers.length} retrievers: pass one each`,
    );
  }
  return {
    name: "fused",
    retrieve: async (query, { count, ...call }) => {
      const wanted = method === "rrf" ? 2 * count : count;
      const searchCall = { ...call, count: candidates ?? Math.max(scaleScores, wanted) };
      const rankings = await Promise.all(retrievers.map((retriever) => checkedFound(retriever, query, searchCall)));
      return fuse(rankings, { method, k, weights, count, asked: searchCall.count });
    },
  };
}

interface Fusing {
  readonly method: FusionMethod;
  readonly k: number;
  readonly weights: readonly number[] | undefined;
  readonly count: number;
  /** Results that each retriever was asked for: one that returned fewer has no more. */
  readonly asked: number;
}

interface Sum {
  readonly chunkId: string;
  score: number;
  bestRank: number;
  /** Placements of the first list, shared until a second list adds its own. */
  placements: readonly Placement[];
}

/** The `count` best by falling sum; ties go to the best rank in any list, then to the lower id. */
export function fuse(rankings: readonly (readonly Found[])[], { method, k, weights, count, asked }: Fusing): Found[] {
  const sums = new Map<string, Sum>();
  for (const [list, given] of rankings.entries()) {
    const weight = weights?.[list] ?? 1;
    const seen = new Set<string>();
    const ranking = given.filter(({ chunkId }) => !seen.has(chunkId) && seen.add(chunkId));
    const counts = method === "score" ? scoresAboveFloor(ranking, ranking.length < asked) : undefined;
    // Entries of iterators would be a twelfth of a search's garbage.
    for (let index = 0; index < ranking.length; index++) {
      const { chunkId, placements } = ranking[index]!;
      const rank = index + 1;
      const share = counts ? weight * counts[index]! : weight / (k + rank);
      const sum = sums.get(chunkId);
      if (sum) {
        sum.score += share;
        sum.bestRank = Math.min(sum.bestRank, rank);
        sum.placements = [...sum.placements, ...placements];
      } else sums.set(chunkId, { chunkId, score: share, bestRank: rank, placements });
    }
  }
  return Array.from(sums.values())
    .toSorted((a, b) => b.score - a.score || a.bestRank - b.bestRank || (a.chunkId < b.chunkId ? -1 : 1))
    .slice(0, count)
    .map(({ chunkId, score, placements }, index) => ({
      chunkId,
      score,
      placements: [...placements, { by: "fused", rank: index + 1, score }],
    }));
}

/**
 * Scores that a list's scale is taken from: the same number for callers who request few results or many. Scores behind
 * them count as 0 and are ordered by best rank, so no chunk ranked below the requested number in every list can be
 * among the results.
 */
const scaleScores = 100;

/**
 * How far each score stands above the floor of its list, in standard deviations of the first hundred. The floor is what a
 * chunk that is not in the list has at most: the last of the hundred, or 0 in a list that ended earlier, which is filled up
 * with it. The deviation keeps an outlier from outvoting everything: of a hundred scores, none is more than ten above.
 */
function scoresAboveFloor(ranking: readonly Found[], ended: boolean): readonly number[] {
  const scores = ranking.map(({ score }) => (Number.isFinite(score) ? score : -Infinity));
  const finite = scores.slice(0, scaleScores).filter(Number.isFinite);
  const lowest = Math.min(...finite);
  const floor = ended ? Math.min(0, lowest) : lowest;
  const scale = [...finite, ...Array.from({ length: scaleScores - finite.length }, () => floor)];
  const mean = scale.reduce((sum, score) => sum + score, 0) / scaleScores;
  const deviation = Math.sqrt(scale.reduce((sum, score) => sum + (score - mean) ** 2, 0) / scaleScores);
  return scores.map((score) => (deviation > 0 ? Math.max(0, score - floor) / deviation : 0));
}
