import { setImmediate as turn } from "node:timers/promises";
import { z } from "zod";
import { checkTokens } from "../../core/check-port.js";
import { OptionsError } from "../../core/errors.js";
import { optionsOf, resolve } from "../../core/options.js";
import { type Stage, stage } from "../../core/pipeline.js";
import type { Embedder, TokenCounter } from "../../core/ports.js";
import { type Payments, paymentsOption } from "../calls/payments.js";
import type { Strategy } from "../../text/chunking/split.js";
import { defaultTokens } from "../../text/tokens/tokens.js";
import { withinMargin } from "../../text/tokens/token-margin.js";
import type { Document, DocumentChunk } from "../../core/types.js";

/** The model that chunks are made for: any embedder will do. */
export interface ChunkTarget {
  /** Maximum tokens of one text. */
  readonly maxInputTokens: number;
  /** Counts tokens as the model does, or more. */
  readonly tokens: TokenCounter;
  /** Tokens that the model counts per token of `tokens`; see `Embedder`. Default: 1. */
  readonly tokenMargin?: number;
}

export interface ChunkOptions {
  /** The embedder that the chunks are for: its limit holds for every chunk, by its own counter. Default: none, and tokens of cl100k_base. */
  readonly for?: ChunkTarget;
  /** Maximum tokens of a chunk with its context line, 16 to the embedder's limit. Default: 384, or the limit if that is less. */
  readonly maxTokens?: number;
  /** Tokens repeated from the end of a chunk where a block had to be cut, 0 to a quarter of maxTokens. Default: 32, or that quarter if it is less. */
  readonly overlapTokens?: number;
  /**
   * Maximum tokens of a chunk's parent, the wider span to read when the chunk is not enough: the largest section around it
   * that fits, else a window of the text around it. 0: no parents. Default: 1024.
   */
  readonly parentTokens?: number;
  /**
   * Whether the title and headings that a chunk stands under are embedded and searched with it, as its context. False suits
   * documents whose titles and headings say nothing, such as file names and numbers. Default: true.
   */
  readonly contextLine?: boolean;
  /**
   * Where chunks end. `structure`: between headings, blocks, sentences and lines, in this order. `fixed`: where they are
   * full. `sentence-window`: after each sentence, with the three on either side as parent. `semantic`: where the meaning
   * changes most between two sentences, according to `embedder`; each sentence is embedded for this, beside the chunks, and
   * counts towards tokens, requests and budget. A run after a stopped one embeds the sentences of unfinished documents
   * again, and a changed document embeds all of its sentences.
   *
   * Take `structure` unless you have measured. Of the answers in SQuAD and CMRC articles, ranked by words and read in a
   * budget of 512 tokens, `fixed` finds 1 to 6 of 100 fewer at the same size, `sentence-window` 1 to 3 fewer than
   * `structure` at 128 tokens with two to three times the chunks, and `semantic` about as many, for all that it embeds
   * (`benchmarks/spans.ts`). Default: `structure`.
   */
  readonly strategy?: Strategy | "semantic";
  /** Compares sentences for `semantic`; other strategies ignore it. Default: `for`, if that is an embedder. */
  readonly embedder?: Embedder;
  /** Pays for the sentences of `semantic`, as `ingest` hands it to a pipeline of your own. Default: there is no limit. */
  readonly payments?: Payments;
}

/** @internal */
export const chunkOptions = optionsOf<ChunkOptions>()({
  for: z
    .custom<ChunkTarget>(isChunkTarget, {
      error: "must be an embedder, or { maxInputTokens, tokens: { name, count } }",
    })
    .optional(),
  maxTokens: z.int().min(16).optional(),
  overlapTokens: z.int().min(0).default(32),
  parentTokens: z.int().min(0).default(1024),
  contextLine: z.boolean().default(true),
  strategy: z.enum(["structure", "fixed", "sentence-window", "semantic"]).default("structure"),
  embedder: z.custom<Embedder>(isEmbedder, { error: "must be an embedder" }).optional(),
  payments: paymentsOption,
});

// Abstracts and paragraphs stay whole: words and vectors rank SciFact, Cranfield, SQuAD and CMRC better than at 256, and
// at 512 no better overall. A quarter of the usual limit of 512 is left to vocabularies that need more tokens.
const defaultMaxTokens = 384;

/** Maximum tokens of chunks for `target` now: less than requested if its token margin requires it. */
export function chunkLimit(maxTokens: number | undefined, target?: ChunkTarget): number {
  const limit = target?.maxInputTokens ?? Infinity;
  const wanted = maxTokens ?? Math.min(defaultMaxTokens, limit);
  return Math.max(16, Math.min(wanted, withinMargin(limit, target?.tokenMargin ?? 1)));
}

/** How long other work may have to wait while chunks are made. */
const maxTurnMs = 8;

/**
 * Cuts documents into chunks: slices that cover the text, each with its title and headings as context and an exact token
 * count, whatever the strategy. Markdown (`text/markdown`) keeps headings with what follows, and fences and tables whole
 * if they fit; a table that has to be cut repeats its header row in the context. Source code (`text/x-…`) is cut at blank
 * lines where the indentation is least. A blank document has no chunks and is reported as skipped.
 *
 * @throws OptionsError when `maxTokens` is more than the embedder takes, `overlapTokens` more than a quarter of it, or `semantic` has no embedder.
 * @example
 * ```ts
 * import { chunk, collect, Pipeline, type Document } from "citewell";
 * const document = { uri: "note:1", text: "# Keys\n\nAda keeps the recovery key.", mediaType: "text/markdown" };
 * const chunks = await collect(Pipeline.from<Document>().pipe(chunk({ maxTokens: 256 })).stream([document]));
 * ```
 */
export function chunk(options: ChunkOptions = {}): Stage<Document, DocumentChunk> {
  const {
    for: target,
    overlapTokens,
    parentTokens,
    contextLine,
    strategy,
    ...given
  } = resolve("chunk", chunkOptions, options);
  const limit = target?.maxInputTokens ?? Infinity;
  const maxTokens = given.maxTokens ?? Math.min(defaultMaxTokens, limit);
  if (maxTokens > limit) {
    throw new OptionsError(
      "options",
      `maxTokens is ${maxTokens}, but the embedder takes ${limit} tokens. Set maxTokens to ${limit} or less`,
      { call: "chunk", option: "maxTokens" },
    );
  }
  const maxOverlap = Math.floor(maxTokens / 4);
  if (options.overlapTokens !== undefined && overlapTokens > maxOverlap) {
    throw new OptionsError(
      "options",
      `overlapTokens is ${overlapTokens}, more than a quarter of maxTokens, which is ${maxTokens}. ` +
        `Set overlapTokens to ${maxOverlap} or less, or maxTokens to ${4 * overlapTokens} or more`,
      { call: "chunk", option: "overlapTokens" },
    );
  }
  const tokens = target?.tokens ?? defaultTokens;
  if (target) checkTokens("chunk", "for.tokens", tokens);
  const comparing = given.embedder ?? (isEmbedder(target) ? target : undefined);
  if (strategy === "semantic" && !comparing) {
    throw new OptionsError(
      "options",
      "chunk: the strategy semantic compares sentences by their vectors. Pass an embedder: chunk({ embedder })",
    );
  }
  const current = () => ({ maxTokens: chunkLimit(maxTokens, target), overlapTokens, parentTokens, contextLine });
  const cutting = { strategy, tokens, current, comparing, budget: given.payments };

  return stage(
    "chunk",
    async function* (source, context) {
      const { signal, report } = context;
      const { cutDocuments } = await import("./cut-documents.js");
      let turnedAt = performance.now();
      for await (const { document, chunks } of cutDocuments(source, cutting, context)) {
        let count = 0;
        for await (const currentChunk of chunks) {
          signal.throwIfAborted();
          if (currentChunk) {
            // The new field comes first: after the spread, V8 makes a hidden class for each object.
            yield { document, ...currentChunk };
            count++;
          }
          if (performance.now() - turnedAt > maxTurnMs) {
            await turn();
            turnedAt = performance.now();
          }
        }
        if (count === 0) report({ type: "skipped", uri: document.uri, reason: "it is blank" });
      }
    },
    { gives: { chunkTokens: maxTokens } },
  );
}

function isEmbedder(value: unknown): value is Embedder {
  return typeof value === "object" && value !== null && "embed" in value && typeof value.embed === "function";
}

/**
 * Whether a value has the fields that the chunker needs of an embedder: its limit, at least 16 tokens, and its counter.
 */
export function isChunkTarget(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { maxInputTokens, tokens } = value as Partial<Record<keyof ChunkTarget, unknown>>;
  const counts =
    typeof tokens === "object" && tokens !== null && "count" in tokens && typeof tokens.count === "function";
  return typeof maxInputTokens === "number" && maxInputTokens >= 16 && counts;
}
