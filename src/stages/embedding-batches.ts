import type { Embedder } from "../ports.js";
import { embeddingText, keyOfText } from "../text/chunk-identity.js";
import type { Chunk, Embedded } from "../types.js";
import { JsonBytes } from "./json-bytes.js";

/** What became of a text: its vector, why it has none, or nothing yet. Shared by all chunks with that text. */
export interface TextOutcome {
  vector?: Float32Array;
  error?: Error;
}

/** A text on its way to the embedder. */
export interface PendingText {
  readonly text: string;
  readonly tokens: number;
  readonly outcome: TextOutcome;
}

export interface EmbeddingBatch<C> {
  /** In order of the source. `fresh`: this batch is the one that sends the chunk's text. */
  readonly chunks: readonly { readonly chunk: C; readonly outcome: TextOutcome; readonly fresh: boolean }[];
  /** The texts to send; may be empty. */
  readonly texts: readonly PendingText[];
}

export interface BatchLimits {
  readonly texts: number;
  readonly tokens: number;
  /** Of the texts as JSON in UTF-8. */
  readonly bytes: number;
}

/** What the embedder takes in one call, or less where less is wanted. */
export function batchLimits(
  embedder: Pick<Embedder, "maxBatchTexts" | "maxBatchTokens">,
  wanted: {
    readonly batchTexts?: number | undefined;
    readonly batchTokens?: number | undefined;
    readonly batchBytes: number;
  },
): BatchLimits {
  return {
    texts: Math.min(wanted.batchTexts ?? Infinity, embedder.maxBatchTexts),
    tokens: Math.min(wanted.batchTokens ?? Infinity, embedder.maxBatchTokens ?? Infinity),
    bytes: wanted.batchBytes,
  };
}

export interface PackOptions {
  readonly limits: BatchLimits;
  readonly space: string;
  /** Texts whose outcome is remembered, so that an equal text is not sent again. */
  readonly rememberTexts: number;
}

/**
 * Chunks in batches that keep all three limits; a text beyond a limit goes alone. A chunk that has a vector of the space
 * already, or whose text is on its way, rides along without weight.
 */
export async function* packBatches<C extends Chunk>(
  source: AsyncIterable<C>,
  { limits, space, rememberTexts }: PackOptions,
): AsyncGenerator<EmbeddingBatch<C>> {
  const remembered = new Map<string, TextOutcome>();
  // Riders cost memory though they cost no call, so there is an end to them too.
  const mostChunks = Math.max(256, 4 * Math.min(limits.texts, 2048));
  let chunks: { chunk: C; outcome: TextOutcome; fresh: boolean }[] = [];
  let texts: PendingText[] = [];
  let tokens = 0;
  let bytes = new JsonBytes();
  const take = (): EmbeddingBatch<C> => {
    const full = { chunks, texts };
    chunks = [];
    texts = [];
    tokens = 0;
    bytes = new JsonBytes();
    return full;
  };

  for await (const chunk of source) {
    if (chunks.length >= mostChunks) yield take();
    if (hasVector(chunk, space)) {
      chunks.push({ chunk, outcome: { vector: chunk.vector }, fresh: false });
      continue;
    }
    const text = embeddingText(chunk);
    const key = keyOfText(text);
    const known = remembered.get(key);
    if (known) {
      chunks.push({ chunk, outcome: known, fresh: false });
      continue;
    }
    const fits = tokens + chunk.tokens <= limits.tokens && bytes.staysWithin(limits.bytes, text);
    if (!fits && texts.length > 0) yield take();
    const outcome: TextOutcome = {};
    if (rememberTexts > 0) remembered.set(key, outcome);
    if (remembered.size > rememberTexts) remembered.delete(remembered.keys().next().value!);
    chunks.push({ chunk, outcome, fresh: true });
    texts.push({ text, tokens: chunk.tokens, outcome });
    tokens += chunk.tokens;
    bytes.add(text);
    // Not held back until the next chunk comes: that may take a while.
    if (texts.length >= limits.texts) yield take();
  }
  if (chunks.length > 0) yield take();
}

function hasVector<C extends Chunk>(chunk: C, space: string): chunk is C & Embedded<C> {
  return "vector" in chunk && "space" in chunk && chunk.space === space && chunk.vector instanceof Float32Array;
}
