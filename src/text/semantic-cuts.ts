import type { Document, Span } from "../types.js";
import type { Block } from "./block.js";
import { cutWithin } from "./break-points.js";
import { type Context, StandingContexts } from "./chunk-context.js";
import { type Cuts, endInPiece, type MeasuredText, type SplitOptions } from "./cuts.js";
import { ParentSpans } from "./parent-spans.js";
import { firstAbove } from "./rising.js";
import { sentenceBounds } from "./sentence-bounds.js";
import type { TokenIndex } from "./token-index.js";

/** Of the budget: less than this is not worth a chunk of its own, wherever the subject changes. */
const least = 1 / 4;

/** Vectors of texts, in their order. */
export type EmbedTexts = (texts: readonly string[]) => Promise<readonly Float32Array[]>;

/** Most tokens of one text to embed. */
export interface SentenceLimit {
  readonly maxInputTokens: number;
}

/** Sentences that stand where chunks may end, with how far each is in meaning from the one before it. */
export interface Turns {
  /** Where each sentence starts, rising from 0. */
  readonly bounds: Uint32Array;
  /** By sentence: 0 for the same direction as the one before it, 1 for none in common, 2 for the opposite. */
  readonly distances: Float32Array;
}

/** Embeds each sentence and compares neighbours. Longer sentences than the embedder takes are compared by their start. */
export async function findTurns(
  text: string,
  { blocks, index }: MeasuredText,
  embed: EmbedTexts,
  { maxInputTokens }: SentenceLimit,
): Promise<Turns> {
  const bounds = sentenceBounds(text, blocks);
  const sentences = Array.from(bounds, (start, at) => {
    const end = bounds[at + 1] ?? text.length;
    // Counted on its own, a text may have a few tokens more than within its document.
    const room = Math.max(1, Math.floor(maxInputTokens * 0.8));
    const fitting = Math.min(end, Math.max(start + 1, index.reach(start, room)));
    return text.slice(start, fitting).trim();
  });
  const written = sentences.flatMap((sentence, at) => (sentence === "" ? [] : [at]));
  const vectors = await embed(written.map((at) => sentences[at]!));
  const distances = new Float32Array(bounds.length);
  for (let at = 1; at < written.length; at++) distances[written[at]!] = 1 - cosine(vectors[at - 1]!, vectors[at]!);
  return { bounds, distances };
}

function cosine(one: Float32Array, other: Float32Array): number {
  let [product, ones, others] = [0, 0, 0];
  for (let at = 0; at < one.length; at++) {
    product += one[at]! * other[at]!;
    ones += one[at]! ** 2;
    others += other[at]! ** 2;
  }
  return ones === 0 || others === 0 ? 0 : product / Math.sqrt(ones * others);
}

/**
 * Chunks that end where the meaning changes most between two blocks, and where none ends, between two sentences, once they
 * are a quarter full. A paragraph is its author's word on what belongs together: changes within one that are larger by the
 * vectors of single sentences mislead, and lose 1.3 to 1.6 of 100 answers (`benchmarks/spans.ts`).
 */
export class SemanticCuts implements Cuts {
  readonly #text: string;
  readonly #index: TokenIndex;
  readonly #contexts: StandingContexts;
  readonly #parents: ParentSpans | undefined;
  readonly #starts: Uint32Array;
  readonly #sentences: Turns;
  /** Of the sentences, those that open a block. */
  readonly #openings: Turns;

  constructor(document: Document, { blocks, index }: MeasuredText, options: SplitOptions, turns: Turns) {
    this.#text = document.text;
    this.#index = index;
    this.#contexts = new StandingContexts(document.title, blocks, options);
    this.#starts = Uint32Array.from(blocks, ({ start }: Block) => start);
    this.#sentences = turns;
    this.#openings = openingsAmong(turns, this.#starts);
    const { parentTokens = 0 } = options;
    if (parentTokens > 0) this.#parents = new ParentSpans(document.text, blocks, index, parentTokens);
  }

  contextAt(start: number): Context {
    return this.#contexts.of(firstAbove(this.#starts, start) - 1, start);
  }

  end(start: number, covered: number, budget: number): number {
    const limit = this.#index.reach(start, budget);
    if (limit >= this.#text.length) return limit;
    if (limit <= covered) return endInPiece(this.#text, this.#index, { start, covered, budget });
    const low = Math.max(start, covered);
    const worthOne = Math.max(covered, this.#index.reach(start, budget * least));
    return (
      furthestBetween(this.#openings, worthOne, limit) ??
      furthestBetween(this.#sentences, worthOne, limit) ??
      furthestBetween(this.#sentences, low, limit) ??
      cutWithin(this.#text, low, limit)
    );
  }

  nextStart(_: number, end: number): number {
    return end;
  }

  parentOf(span: Span): Span | undefined {
    return this.#parents?.of(span);
  }
}

function openingsAmong({ bounds, distances }: Turns, blockStarts: Uint32Array): Turns {
  const opening = (start: number) => blockStarts[firstAbove(blockStarts, start) - 1] === start;
  return { bounds: bounds.filter(opening), distances: distances.filter((_, at) => opening(bounds[at]!)) };
}

/** The start of the sentence in `low < start <= high` that is furthest from the one before it. */
function furthestBetween({ bounds, distances }: Turns, low: number, high: number): number | undefined {
  let best: number | undefined;
  let furthest = -Infinity;
  for (let at = firstAbove(bounds, low); at < bounds.length && bounds[at]! <= high; at++) {
    if (distances[at]! < furthest) continue;
    best = bounds[at]!;
    furthest = distances[at]!;
  }
  return best;
}
