import type { Embedder } from "../../../core/ports.js";
import { embeddingText, keyOfText } from "../../../text/chunking/chunk-identity.js";
import type { Chunk, Embedded } from "../../../core/types.js";

/** The result of embedding a text: its vector, the error, or neither yet. Shared by all chunks with that text. */
export interface TextOutcome {
  vector?: Float32Array;
  /** Whether the vector was stored by then, so that nothing was sent for it. */
  isReused?: boolean;
  error?: Error;
}

/** A text that waits to be sent to the embedder. */
export interface PendingText {
  readonly text: string;
  /** The text's `keyOfText`, which takes as long to compute as reading the text a few times. */
  readonly key: string;
  readonly tokens: number;
  readonly outcome: TextOutcome;
}

export interface EmbeddingBatch<C> {
  /** In the order of the source. `fresh`: this batch sends the chunk's text. */
  readonly chunks: readonly { readonly chunk: C; readonly outcome: TextOutcome; readonly fresh: boolean }[];
  /** The texts to send; may be empty. */
  readonly texts: readonly PendingText[];
}

export interface BatchLimits {
  readonly texts: number;
  readonly tokens: number;
  /** The size of the texts as a JSON array in UTF-8. */
  readonly bytes: number;
}

/** Limits of one call: the embedder's, or lower ones from the options. */
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
  /** How many texts to remember the outcome of, so that an equal text is not sent again. */
  readonly rememberTexts: number;
}

/**
 * Groups chunks into batches within all three limits; a text over a limit goes alone. A chunk that already has a vector of
 * the space, or whose text is already in a batch, adds nothing to be sent.
 */
export async function* packBatches<C extends Chunk>(
  source: AsyncIterable<C>,
  { limits, space, rememberTexts }: PackOptions,
): AsyncGenerator<EmbeddingBatch<C>> {
  const remembered = new Map<string, TextOutcome>();
  /** The remembered keys in a circle. A `Map` finds its oldest key by walking past all that were deleted before it. */
  const keys: string[] = [];
  let oldest = 0;
  // Chunks that need no sending cost memory all the same, so their number is limited too.
  const maxChunks = Math.max(256, 4 * Math.min(limits.texts, 2048));
  let chunks: { chunk: C; outcome: TextOutcome; fresh: boolean }[] = [];
  let texts: PendingText[] = [];
  let tokens = 0;
  /** At least the size of the batch, and exact once that matters: to write each text as JSON a second time takes long. */
  let bytes = 1;
  let isExact = false;
  const take = (): EmbeddingBatch<C> => {
    const full = { chunks, texts };
    chunks = [];
    texts = [];
    tokens = 0;
    bytes = 1;
    isExact = false;
    return full;
  };

  for await (const chunk of source) {
    if (chunks.length >= maxChunks) yield take();
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
    if (!isExact && bytes + maxJsonBytes(text) > limits.bytes) {
      bytes = texts.reduce((sum, { text: sent }) => sum + jsonBytes(sent), 1);
      isExact = true;
    }
    const size = isExact ? jsonBytes(text) : maxJsonBytes(text);
    const fits = tokens + chunk.tokens <= limits.tokens && bytes + size <= limits.bytes;
    if (!fits && texts.length > 0) yield take();
    const outcome: TextOutcome = {};
    if (rememberTexts > 0) {
      if (keys.length === rememberTexts) remembered.delete(keys[oldest]!);
      keys[oldest] = key;
      oldest = (oldest + 1) % rememberTexts;
      remembered.set(key, outcome);
    }
    chunks.push({ chunk, outcome, fresh: true });
    texts.push({ text, key, tokens: chunk.tokens, outcome });
    tokens += chunk.tokens;
    bytes += size;
    // A full batch leaves at once: the next chunk may take a while to come.
    if (texts.length >= limits.texts) yield take();
  }
  if (chunks.length > 0) yield take();
}

function hasVector<C extends Chunk>(chunk: C, space: string): chunk is C & Embedded<C> {
  return "vector" in chunk && "space" in chunk && chunk.space === space && chunk.vector instanceof Float32Array;
}

/** No text is larger: each of its code units takes six bytes at most, as an escape. */
function maxJsonBytes(text: string): number {
  return 6 * text.length + 3;
}

/** The size of a text in a JSON array in UTF-8, with the comma or bracket after it. */
function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) + 1;
}
