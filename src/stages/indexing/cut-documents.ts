import type { RunContext } from "../../core/pipeline.js";
import type { Budget, Embedder, TokenCounter } from "../../core/ports.js";
import { batch, type Source } from "../../core/stream.js";
import type { Chunk, Document } from "../../core/types.js";
import type { SplitOptions } from "../../text/chunking/cuts.js";
import { measureText } from "../../text/chunking/measure-text.js";
import {
  type EmbedTexts,
  SemanticCuts,
  sentenceDistances,
  type SentenceLimit,
} from "../../text/chunking/semantic-cuts.js";
import { splitBy, splitInSteps, type Strategy } from "../../text/chunking/split.js";
import { defaultTokens } from "../../text/tokens/tokens.js";
import { sentenceEmbedding } from "./embed-sentences.js";
import { splitOnWorker, SplittingThread } from "./splitting/split-on-worker.js";

/**
 * How much text of one run is split on the main thread, in UTF-16 code units: splitting this takes about as long as a
 * worker needs to start and load its vocabulary.
 */
export const maxInlineCharacters = 1 << 17;

/** The worker starts before it is needed. */
const workerStartCharacters = maxInlineCharacters / 4;

/** Files are read one by one: what comes after each other without a pause of this length is looked at before it is split. */
const pauseMs = 25;

interface CutDocument {
  readonly document: Document;
  readonly chunks: Source<Chunk | undefined>;
}

/** How the documents of a run are cut. */
export interface CuttingSettings {
  readonly strategy: Strategy | "semantic";
  readonly tokens: TokenCounter;
  /** Computed for each document anew, since the token margin is learned while documents are embedded. */
  readonly current: () => Omit<SplitOptions, "tokens">;
  /** Compares sentences; present for `semantic`. */
  readonly comparing: Embedder | undefined;
  /** Pays for the sentences. Absent: there is no limit. */
  readonly budget: Budget | undefined;
}

/**
 * Pairs documents with their chunks. A run of little text is split inline. A longer run is split on a worker, from its
 * first document on if the documents come at once, so that this thread need not load a vocabulary and compile the
 * splitter.
 */
export async function* cutDocuments(
  source: AsyncIterable<Document>,
  { strategy, tokens, current, comparing, budget }: CuttingSettings,
  context: RunContext,
): AsyncGenerator<CutDocument> {
  if (strategy === "semantic") {
    const embed = sentenceEmbedding(comparing!, context, budget);
    for await (const document of source) {
      yield { document, chunks: semanticChunks(document, { ...current(), tokens }, embed, comparing!) };
    }
    return;
  }
  const inline = (document: Document) => splitInSteps(document, { ...current(), tokens }, strategy);
  // A worker has only the default token counter.
  const worker = tokens === defaultTokens && { settings: () => ({ ...current(), strategy }), inline };
  let thread: SplittingThread | undefined;
  let length = 0;
  const read = async function* () {
    for await (const document of source) {
      length += document.text.length;
      if (worker && length > workerStartCharacters) thread ??= new SplittingThread();
      yield document;
    }
  };
  const weigh = ({ text }: Document) => text.length;
  const groups = batch(read(), { count: Infinity, weight: 2 * maxInlineCharacters, weigh, waitMs: pauseMs });
  try {
    for await (const group of groups) {
      if (worker && thread && length > maxInlineCharacters) {
        yield* splitOnWorker(startingWith(group, groups), { ...worker, thread }, context);
      } else for (const document of group) yield { document, chunks: inline(document) };
    }
  } finally {
    await thread?.end();
  }
}

async function* startingWith<Item>(first: readonly Item[], rest: AsyncIterable<readonly Item[]>): AsyncGenerator<Item> {
  yield* first;
  for await (const items of rest) yield* items;
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
  const distances = await sentenceDistances(document.text, step.value, embed, limit);
  yield* splitBy(document, options, new SemanticCuts(document, step.value, options, distances));
}
