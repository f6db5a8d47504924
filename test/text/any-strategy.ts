import { measureText } from "../../src/text/measure-text.js";
import { SemanticCuts } from "../../src/text/semantic-cuts.js";
import { sentenceBounds } from "../../src/text/sentence-bounds.js";
import { split, splitBy, type Strategy } from "../../src/text/split.js";
import type { SplitOptions } from "../../src/text/cuts.js";
import type { Chunk, Document } from "../../src/types.js";

export const everyStrategy = ["structure", "fixed", "sentence-window", "semantic"] as const;
export type EveryStrategy = Strategy | "semantic";

/** Chunks by any strategy; `semantic` as if sentences were in turn so far from the one before them. */
export function splitByAny(
  document: Document,
  options: SplitOptions,
  strategy: EveryStrategy,
  distances: readonly number[] = [0.3, 0.9, 0, 2, 0.9],
): Chunk[] {
  if (strategy !== "semantic") return [...split(document, options, strategy)];
  if (document.text.trim() === "") return [];
  const measuring = measureText(document, options.tokens);
  let step = measuring.next();
  while (!step.done) step = measuring.next();
  const bounds = sentenceBounds(document.text, step.value.blocks);
  const turns = { bounds, distances: Float32Array.from(bounds, (_, at) => distances[at % distances.length] ?? 0) };
  return [...splitBy(document, options, new SemanticCuts(document, step.value, options, turns))];
}
