import type { Hit } from "../../core/types.js";
import { embeddingText } from "../../text/chunking/chunk-identity.js";
import { wordCloseness } from "../../text/words/closeness.js";

/** How many texts are compared. `search` and `ask` read 40 by default, so that these cost no further reading. */
export const closenessDepth = 20;

/**
 * The best hits again, by their score and how close together the question's neighbouring words stand in them, which neither
 * side of a search knows; the sum is their new score. Only the first `closenessDepth` are read, and the others stay behind them. Metzler
 * and Croft, "A Markov random field model for term dependencies", SIGIR 2005.
 */
export function closestFirst(question: string, hits: readonly Hit[], weight: number): readonly Hit[] {
  const best = hits.slice(0, closenessDepth);
  const close =
    weight > 0
      ? wordCloseness(
          question,
          best.map(({ chunk }) => embeddingText(chunk)),
        )
      : undefined;
  if (close === undefined || !close.some((closeness) => closeness > 0)) return hits;
  const ranked = best
    .map((hit, index) => ({ hit, near: close[index]!, score: hit.score + weight * close[index]! }))
    .toSorted((a, b) => b.score - a.score)
    .map(({ hit, near, score }, position) => ({
      ...hit,
      score,
      placements: [...hit.placements, { by: "closeness", rank: position + 1, score: near }],
    }));
  return [...ranked, ...hits.slice(closenessDepth)];
}
