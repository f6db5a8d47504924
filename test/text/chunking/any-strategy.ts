import { measureText } from "../../../src/text/chunking/measure-text.js";
import { SemanticCuts } from "../../../src/text/chunking/semantic-cuts.js";
import { sentenceStarts } from "../../../src/text/blocks/break-points.js";
import { split, splitBy, type Strategy } from "../../../src/text/chunking/split.js";
import type { SplitOptions } from "../../../src/text/chunking/cuts.js";
import type { Chunk, Document } from "../../../src/core/types.js";

export const everyStrategy = ["structure", "fixed", "sentence-window", "semantic"] as const;
export type EveryStrategy = Strategy | "semantic";

/** Chunks by any strategy; for `semantic`, sentences take turns with these distances to the one before them. */
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
  const starts = sentenceStarts(document.text, step.value.blocks);
  const sentences = { starts, distances: Float32Array.from(starts, (_, at) => distances[at % distances.length] ?? 0) };
  return [...splitBy(document, options, new SemanticCuts(document, step.value, options, sentences))];
}
