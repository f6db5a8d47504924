import { setImmediate as turn } from "node:timers/promises";
import { z } from "zod";
import { OptionsError } from "../errors.js";
import { resolve } from "../options.js";
import { type RunContext, type Stage, stage } from "../pipeline.js";
import type { Embedder, TokenCounter } from "../ports.js";
import type { Source } from "../stream.js";
import type { SplitOptions } from "../text/cuts.js";
import { measureText } from "../text/measure-text.js";
import { type EmbedTexts, findTurns, SemanticCuts, type SentenceLimit } from "../text/semantic-cuts.js";
import { splitBy, splitInSteps } from "../text/split.js";
import { defaultTokens } from "../text/tokens.js";
import { withinMargin } from "../text/token-margin.js";
import type { Chunk, Document, DocumentChunk } from "../types.js";
import { sentenceEmbedding } from "./embed-sentences.js";
import { splitApart, type SplitApartOptions } from "./split-apart/split-apart.js";
import { SplittingThread } from "./split-apart/splitting-thread.js";

/** What chunks are made for: any embedder is one. */
export interface ChunkTarget {
  /** Most tokens of one text. */
  readonly maxInputTokens: number;
  readonly tokens: TokenCounter;
  /** Tokens that the model counts for one of `tokens`; see `Embedder`. Default: 1. */
  readonly tokenMargin?: number;
}

export const ChunkOptions = z.strictObject({
  /** The embedder that the chunks are for: its limit holds for every chunk, as its own counter counts. Default: none, and tokens of cl100k_base. */
  for: z.custom<ChunkTarget>(isChunkTarget, { error: "must be an embedder, or { maxInputTokens, tokens }" }).optional(),
  /** Most tokens of a chunk with its context line, 16 to the embedder's limit. Default: 384, or the limit if that is less. */
  maxTokens: z.int().min(16).optional(),
  /** Tokens repeated from the end of a chunk where a block had to be cut inside, 0 to a quarter of maxTokens; more has no effect. Default: 32. */
  overlapTokens: z.int().min(0).default(32),
  /**
   * Most tokens of a chunk's parent, which is what is read in its place when more is wanted: the largest section around it
   * that fits, else a window of what stands around it. 0: no parents. Default: 1024.
   */
  parentTokens: z.int().min(0).default(1024),
  /**
   * Where chunks end. `structure`: between headings, blocks, sentences and lines, in this order. `fixed`: where they are
   * full. `sentence-window`: behind each sentence, with the three on either side as parent. `semantic`: where the meaning
   * changes most between two sentences, as `embedder` sees it; each sentence is embedded for that, beside the chunks, and
   * counts towards tokens, requests and budget. A run that is stopped embeds the sentences of unfinished documents again,
   * and a changed document all of its own.
   *
   * Take `structure` unless you have measured. Of the answers in SQuAD and CMRC articles, ranked by words and read in a
   * budget of 512 tokens, `fixed` finds 1 to 6 of 100 fewer at the same size, `sentence-window` 1 to 3 fewer than
   * `structure` at 128 tokens with two to three times the chunks, and `semantic` about as many, for all that it embeds
   * (`benchmarks/spans.ts`). Default: `structure`.
   */
  strategy: z.enum(["structure", "fixed", "sentence-window", "semantic"]).default("structure"),
  /** Compares sentences for `semantic`; of no use to the others. Default: `for`, where that is an embedder. */
  embedder: z.custom<Embedder>(isEmbedder, { error: "must be an embedder" }).optional(),
});
export type ChunkOptions = z.input<typeof ChunkOptions>;

// Abstracts and paragraphs stay whole: words and vectors rank SciFact, Cranfield, SQuAD and CMRC better than at 256, and
// at 512 no better on the whole. A quarter of the usual limit of 512 is left to vocabularies that need more tokens.
const usualTokens = 384;

/** For so long other work may have to wait for chunks to be made. */
const longestTurnMs = 8;

/**
 * Texts of one run that are cut on the thread they came in, in UTF-16 code units: what takes about as long as another
 * thread takes to start and load its vocabulary.
 */
export const longestHere = 1 << 17;

/** The thread is started before it is needed. */
const shortestWithThread = longestHere / 2;

/**
 * Cuts documents into chunks: slices that cover the text, each with its title and headings as context and an exact count of
 * its tokens, whatever the strategy. Markdown (`text/markdown`) keeps headings with what follows, and fences and tables whole where they fit;
 * a table that has to be cut repeats its header row in the context. Source code (`text/x-…`) is cut where a blank line and
 * the least indentation are. A blank document has no chunks and is reported as
 * skipped.
 *
 * @throws OptionsError when `maxTokens` is more than the embedder takes, or `semantic` has no embedder.
 */
export function chunk(options: ChunkOptions = {}): Stage<Document, DocumentChunk> {
  const { for: target, overlapTokens, parentTokens, strategy, ...given } = resolve("chunk", ChunkOptions, options);
  const limit = target?.maxInputTokens ?? Infinity;
  const maxTokens = given.maxTokens ?? Math.min(usualTokens, limit);
  if (maxTokens > limit) {
    throw new OptionsError(
      "options",
      `chunk: maxTokens is ${maxTokens}, but the model it is for takes ${limit} tokens. Set maxTokens to ${limit} or less`,
    );
  }
  const splitting: SplitOptions = { maxTokens, overlapTokens, parentTokens, tokens: target?.tokens ?? defaultTokens };
  const comparing = given.embedder ?? (isEmbedder(target) ? target : undefined);
  if (strategy === "semantic" && !comparing) {
    throw new OptionsError(
      "options",
      "chunk: the strategy semantic compares sentences. Pass an embedder: chunk({ embedder })",
    );
  }
  // Anew for each document: what the service counts is learned while documents come.
  const fitting = () => Math.max(16, Math.min(maxTokens, withinMargin(limit, target?.tokenMargin ?? 1)));
  const cutter = (context: RunContext): ((document: Document) => Source<Chunk | undefined>) => {
    const within = () => ({ ...splitting, maxTokens: fitting() });
    if (strategy !== "semantic") return (document) => splitInSteps(document, within(), strategy);
    const embed = sentenceEmbedding(comparing!, context);
    return (document) => semanticChunks(document, within(), embed, comparing!);
  };
  // Another thread has no counter but the default one, and no embedder.
  const apart =
    strategy === "semantic" || splitting.tokens !== defaultTokens
      ? undefined
      : {
          settings: () => ({ maxTokens: fitting(), overlapTokens, parentTokens, strategy }),
          here: (document: Document) => splitInSteps(document, { ...splitting, maxTokens: fitting() }, strategy),
        };

  return stage(
    "chunk",
    async function* (source, context) {
      const { signal, report } = context;
      let turnedAt = performance.now();
      for await (const { document, chunks } of cutDocuments(source, context, cutter(context), apart)) {
        let count = 0;
        for await (const each of chunks) {
          signal.throwIfAborted();
          if (each) {
            // In this order: behind the spread, V8 makes a hidden class for each object.
            yield { document, ...each };
            count++;
          }
          if (performance.now() - turnedAt > longestTurnMs) {
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

interface CutDocument {
  readonly document: Document;
  readonly chunks: Source<Chunk | undefined>;
}

/** Documents with their chunks: the first few made here, and where there are more, the others apart. */
async function* cutDocuments(
  source: AsyncIterable<Document>,
  context: RunContext,
  here: (document: Document) => Source<Chunk | undefined>,
  apart: SplitApartOptions | undefined,
): AsyncGenerator<CutDocument> {
  const reader = source[Symbol.asyncIterator]();
  let thread: SplittingThread | undefined;
  try {
    let length = 0;
    for (let next = await reader.next(); !next.done; next = await reader.next()) {
      const document = next.value;
      length += document.text.length;
      if (apart && length > shortestWithThread) thread ??= new SplittingThread();
      if (apart && thread && length > longestHere) {
        yield* splitApart(behind(document, reader), { ...apart, thread }, context);
      } else yield { document, chunks: here(document) };
    }
  } finally {
    await thread?.end();
    await reader.return?.();
  }
}

async function* behind<Item>(first: Item, rest: AsyncIterator<Item>): AsyncGenerator<Item> {
  yield first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

async function* semanticChunks(
  document: Document,
  options: SplitOptions,
  embed: EmbedTexts,
  limit: SentenceLimit,
): AsyncGenerator<Chunk | undefined> {
  if (document.text.trim() === "") return;
  const measuring = measureText(document, options.tokens);
  let step = measuring.next();
  for (; !step.done; step = measuring.next()) yield undefined;
  const turns = await findTurns(document.text, step.value, embed, limit);
  yield* splitBy(document, options, new SemanticCuts(document, step.value, options, turns));
}

function isEmbedder(value: unknown): value is Embedder {
  return typeof value === "object" && value !== null && "embed" in value && typeof value.embed === "function";
}

function isChunkTarget(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { maxInputTokens, tokens } = value as Partial<Record<keyof ChunkTarget, unknown>>;
  const counts =
    typeof tokens === "object" && tokens !== null && "count" in tokens && typeof tokens.count === "function";
  return typeof maxInputTokens === "number" && maxInputTokens >= 16 && counts;
}
