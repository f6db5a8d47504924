import { checkStorePart } from "../../core/check-port.js";
import { z } from "zod";
import { optionsOf, resolve } from "../../core/options.js";
import { mapStage, type Stage } from "../../core/pipeline.js";
import type { Store } from "../../core/ports.js";
import { vectorKey } from "../../text/chunking/chunk-identity.js";
import type { Hit, Retrieved, TraceStep } from "../../core/types.js";

export interface DiversifyOptions {
  /** The weight of relevance against difference from the hits above, 0 to 1; 1 keeps the order. Default 0.7. */
  readonly lambda?: number;
  /** Maximum number of hits to keep. 1 to 1000; default: all. */
  readonly count?: number;
}

export const diversifyOptions = optionsOf<DiversifyOptions>()({
  lambda: z.number().min(0).max(1).default(0.7),
  count: z.int().min(1).max(1000).optional(),
});

/**
 * Puts hits that add something new before hits that repeat: each next hit has the highest `lambda * relevance -
 * (1 - lambda) * similarity`, with similarity to the most similar hit above it. Relevance is the hit's score, scaled to
 * 0..1 over all hits, so any ranking can come before; similarity is the cosine of the stored vectors, 0 for a hit without
 * one. Maximal marginal relevance after Carbonell and Goldstein, "The use of MMR, diversity-based reranking for
 * reordering documents and producing summaries", SIGIR 1998. Scores do not change, so they may no longer fall.
 *
 * @example
 * ```ts
 * import { diversify, Pipeline, search, type Question, type Store } from "citewell";
 * export const searching = (store: Store) =>
 *   Pipeline.from<Question>()
 *     .pipe(search(store, { mode: "lexical", count: 40 }))
 *     .pipe(diversify(store, { lambda: 0.7, count: 10 }));
 * ```
 */
export function diversify(
  store: Pick<Store, "knownVectors">,
  options: DiversifyOptions = {},
): Stage<Retrieved, Retrieved> {
  const { lambda, count = Infinity } = resolve("diversify", diversifyOptions, options);
  checkStorePart("diversify", store, ["knownVectors"]);
  return mapStage(
    "diversify",
    async (retrieved, { signal }) => {
      signal.throwIfAborted();
      const started = performance.now();
      const keys = retrieved.hits.map(({ chunk }) => vectorKey(chunk));
      const vectors = await store.knownVectors(keys);
      const order = marginalOrder(
        relevances(retrieved.hits),
        keys.map((key) => vectors.get(key)),
        { lambda, count },
      );
      const hits = order.map(({ index, value }, position): Hit => {
        const hit = retrieved.hits[index]!;
        return { ...hit, placements: [...hit.placements, { by: "diversify", rank: position + 1, score: value }] };
      });
      const kept = new Set(order.map(({ index }) => index));
      const step: TraceStep = {
        step: "diversify",
        kept: hits.map(({ chunk }) => chunk.id),
        dropped: retrieved.hits.flatMap(({ chunk }, index) =>
          kept.has(index) ? [] : [{ chunkId: chunk.id, reason: `adds less than the ${count} hits that were kept` }],
        ),
        milliseconds: performance.now() - started,
      };
      return { ...retrieved, hits, trace: [...retrieved.trace, step] };
    },
    count === Infinity ? {} : { gives: { hits: count } },
  );
}

function relevances(hits: readonly Hit[]): number[] {
  const scores = hits.map(({ score }) => score);
  const [low, high] = [Math.min(...scores), Math.max(...scores)];
  return scores.map((score) => (high > low ? (score - low) / (high - low) : 1));
}

/**
 * Indexes in the order of marginal relevance, each with its value when it was chosen; ties go to the lower index. Takes
 * time in proportion to the items times the chosen ones.
 */
export function marginalOrder(
  relevance: readonly number[],
  vectors: readonly (Float32Array | undefined)[],
  { lambda, count }: { readonly lambda: number; readonly count: number },
): { readonly index: number; readonly value: number }[] {
  const lengths = vectors.map((vector) => (vector ? Math.sqrt(dot(vector, vector)) : 0));
  // The similarity of each item to its nearest chosen one; 0 before any is chosen.
  const nearest = new Float64Array(relevance.length);
  const left = new Set(relevance.keys());
  const chosen: { index: number; value: number }[] = [];
  while (left.size > 0 && chosen.length < count) {
    let best = -1;
    let bestValue = -Infinity;
    for (const index of left) {
      const value = lambda * relevance[index]! - (1 - lambda) * nearest[index]!;
      if (value > bestValue) [best, bestValue] = [index, value];
    }
    left.delete(best);
    for (const index of left) {
      const similarity = cosine(index, best);
      nearest[index] = chosen.length === 0 ? similarity : Math.max(nearest[index]!, similarity);
    }
    chosen.push({ index: best, value: bestValue });
  }
  return chosen;

  function cosine(one: number, other: number): number {
    const [a, b] = [vectors[one], vectors[other]];
    const scale = lengths[one]! * lengths[other]!;
    return a && b && scale > 0 ? dot(a, b) / scale : 0;
  }
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += a[index]! * b[index]!;
  return sum;
}
