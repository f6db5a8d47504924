import type { Document } from "../../core/types.js";
import { cutWithin, sentenceStarts } from "../blocks/break-points.js";
import { Cuts, type MeasuredText, type SplitOptions } from "./cuts.js";
import { upperBound } from "./token-index.js";

/** Share of the budget below which a chunk does not end, wherever the subject changes. */
const minShare = 1 / 4;

/** Vectors of texts, in their order. */
export type EmbedTexts = (texts: readonly string[]) => Promise<readonly Float32Array[]>;

/** Maximum tokens of one text to embed. */
export interface SentenceLimit {
  readonly maxInputTokens: number;
}

/** Sentences at whose starts a chunk may end, and how far each is in meaning from the one before it. */
export interface SentenceDistances {
  /** Where each sentence starts, in order from 0. */
  readonly starts: Uint32Array;
  /** Cosine distance of each sentence to the one before it: 0 for the same direction, 1 for nothing in common, 2 for the opposite. */
  readonly distances: Float32Array;
}

/** Embeds each sentence and compares neighbours. A sentence longer than the embedder takes is compared by its start. */
export async function sentenceDistances(
  text: string,
  { blocks, index }: MeasuredText,
  embed: EmbedTexts,
  { maxInputTokens }: SentenceLimit,
): Promise<SentenceDistances> {
  const starts = sentenceStarts(text, blocks);
  const sentences = Array.from(starts, (start, position) => {
    const end = starts[position + 1] ?? text.length;
    // A text on its own may have a few tokens more than within its document.
    const maxTokens = Math.max(1, Math.floor(maxInputTokens * 0.8));
    const fitting = Math.min(end, Math.max(start + 1, index.reach(start, maxTokens)));
    return text.slice(start, fitting).trim();
  });
  const written = sentences.flatMap((sentence, offset) => (sentence === "" ? [] : [offset]));
  const vectors = await embed(written.map((sentence) => sentences[sentence]!));
  const distances = new Float32Array(starts.length);
  for (let place = 1; place < written.length; place++)
    distances[written[place]!] = 1 - cosine(vectors[place - 1]!, vectors[place]!);
  return { starts, distances };
}

function cosine(one: Float32Array, other: Float32Array): number {
  let [product, ones, others] = [0, 0, 0];
  for (let index = 0; index < one.length; index++) {
    product += one[index]! * other[index]!;
    ones += one[index]! ** 2;
    others += other[index]! ** 2;
  }
  return ones === 0 || others === 0 ? 0 : product / Math.sqrt(ones * others);
}

/**
 * Chunks that end, once they are a quarter full, where the meaning changes most between two blocks, or between two
 * sentences if no block ends. A paragraph is its author's word on what belongs together: a larger change within one, by
 * the vectors of single sentences, misleads and loses 1.3 to 1.6 of 100 answers (`benchmarks/spans.ts`).
 */
export class SemanticCuts extends Cuts {
  readonly #sentences: SentenceDistances;
  /** The sentences that open a block. */
  readonly #openings: SentenceDistances;

  constructor(document: Document, measured: MeasuredText, options: SplitOptions, sentences: SentenceDistances) {
    super(document, measured, options);
    const opens = (start: number) => this.blockStarts[upperBound(this.blockStarts, start) - 1] === start;
    this.#sentences = sentences;
    this.#openings = {
      starts: sentences.starts.filter(opens),
      distances: sentences.distances.filter((_, index) => opens(sentences.starts[index]!)),
    };
  }

  end(start: number, covered: number, budget: number): number {
    const limit = this.index.reach(start, budget);
    if (limit >= this.text.length) return limit;
    if (limit <= covered) return this.endInPiece(start, covered, budget);
    const low = Math.max(start, covered);
    const filled = Math.max(covered, this.index.reach(start, budget * minShare));
    return (
      furthestBetween(this.#openings, filled, limit) ??
      furthestBetween(this.#sentences, filled, limit) ??
      furthestBetween(this.#sentences, low, limit) ??
      cutWithin(this.text, low, limit)
    );
  }
}

/** The start of the sentence in `low < start <= high` that is furthest from the one before it. */
function furthestBetween({ starts, distances }: SentenceDistances, low: number, high: number): number | undefined {
  let best: number | undefined;
  let furthest = -Infinity;
  for (let index = upperBound(starts, low); index < starts.length && starts[index]! <= high; index++) {
    if (distances[index]! < furthest) continue;
    best = starts[index]!;
    furthest = distances[index]!;
  }
  return best;
}
