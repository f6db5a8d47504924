import { setImmediate as turn } from "node:timers/promises";
import { z } from "zod";
import { OptionsError } from "../errors.js";
import { resolve } from "../options.js";
import { type Stage, stage } from "../pipeline.js";
import type { TokenCounter } from "../ports.js";
import { split } from "../text/split.js";
import { defaultTokens } from "../text/tokens.js";
import type { Document, DocumentChunk } from "../types.js";

/** What chunks are made for: any embedder is one. */
export interface ChunkTarget {
  /** Most tokens of one text. */
  readonly maxInputTokens: number;
  readonly tokens: TokenCounter;
}

export const ChunkOptions = z.strictObject({
  /** The embedder that the chunks are for: its limit holds for every chunk, as its own counter counts. Default: none, and tokens of cl100k_base. */
  for: z.custom<ChunkTarget>(isChunkTarget, { error: "must be an embedder, or { maxInputTokens, tokens }" }).optional(),
  /** Most tokens of a chunk with its context line, 16 to the embedder's limit. Default: 256, or the limit if that is less. */
  maxTokens: z.int().min(16).optional(),
  /** Tokens repeated from the end of a chunk where a block had to be cut inside, 0 to a quarter of maxTokens; more has no effect. Default: 32. */
  overlapTokens: z.int().min(0).default(32),
  /**
   * Most tokens of a chunk's parent, which is what is read in its place when more is wanted: the largest section around it
   * that fits, else a window of what stands around it. 0: no parents. Default: 1024.
   */
  parentTokens: z.int().min(0).default(1024),
});
export type ChunkOptions = z.input<typeof ChunkOptions>;

/** For so long other work may have to wait for chunks to be made. */
const longestTurnMs = 20;

/**
 * Cuts documents into chunks: slices that cover the text, each with its title and headings as context and an exact count of
 * its tokens. Markdown (`text/markdown`) keeps headings with what follows, and fences and tables whole where they fit;
 * a table that has to be cut repeats its header row in the context. A blank document has no chunks and is reported as
 * skipped.
 *
 * @throws OptionsError when `maxTokens` is more than the embedder takes.
 */
export function chunk(options: ChunkOptions = {}): Stage<Document, DocumentChunk> {
  const { for: target, overlapTokens, parentTokens, ...given } = resolve("chunk", ChunkOptions, options);
  const limit = target?.maxInputTokens ?? Infinity;
  const maxTokens = given.maxTokens ?? Math.min(256, limit);
  if (maxTokens > limit) {
    throw new OptionsError(
      "options",
      `chunk: maxTokens is ${maxTokens}, but the model it is for takes ${limit} tokens. Set maxTokens to ${limit} or less`,
    );
  }
  const tokens = target?.tokens ?? defaultTokens;

  return stage(
    "chunk",
    async function* (source, { signal, report }) {
      let turnedAt = performance.now();
      for await (const document of source) {
        let chunks = 0;
        for (const each of split(document, { maxTokens, overlapTokens, parentTokens, tokens })) {
          signal.throwIfAborted();
          yield { ...each, document };
          chunks++;
          if (performance.now() - turnedAt > longestTurnMs) {
            await turn();
            turnedAt = performance.now();
          }
        }
        if (chunks === 0) report({ type: "skipped", uri: document.uri, reason: "it is blank" });
      }
    },
    { gives: { chunkTokens: maxTokens } },
  );
}

function isChunkTarget(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { maxInputTokens, tokens } = value as Partial<Record<keyof ChunkTarget, unknown>>;
  const counts =
    typeof tokens === "object" && tokens !== null && "count" in tokens && typeof tokens.count === "function";
  return typeof maxInputTokens === "number" && maxInputTokens >= 16 && counts;
}
