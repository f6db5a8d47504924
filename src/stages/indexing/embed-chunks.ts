import { checkPort } from "../../core/check-port.js";
import { z } from "zod";
import { asError, TransportError } from "../../core/errors.js";
import { optionsOf, resolve } from "../../core/options.js";
import { stage, type RunContext, type Stage } from "../../core/pipeline.js";
import type { Budget, Embedder } from "../../core/ports.js";
import { mapConcurrent } from "../../core/stream.js";
import type { Chunk, Embedded } from "../../core/types.js";
import { embedTexts } from "../calls/embed-texts.js";
import { type Payments, paymentsOption } from "../calls/payments.js";
import { batchLimits, packBatches, type EmbeddingBatch, type PendingText } from "./batches/embedding-batches.js";
import { RefusalIsolator } from "./batches/refusal-isolator.js";
import { TokenBudget } from "./token-budget.js";

export interface EmbedChunksOptions {
  /** Maximum calls in flight at once. 1 to 256; default 8. */
  readonly concurrency?: number;
  /** Maximum texts in one call, 1 or more. Default: the embedder's limit, which always holds. */
  readonly batchTexts?: number;
  /** Maximum tokens in one call, 1 or more. Default: the embedder's limit, which always holds. */
  readonly batchTokens?: number;
  /** Maximum bytes of text in one call, as JSON in UTF-8. Default 4 MiB. */
  readonly batchBytes?: number;
  /**
   * Maximum tokens to spend in one run, 1 or more, as the service counts them. The run ends with a `BudgetError` before the call that
   * would exceed it. Default: no limit.
   */
  readonly maxTokens?: number;
  /**
   * Budget and paid vectors of the run, as `ingest` hands them to a pipeline of your own; its limit holds in place of
   * `maxTokens`. Default: none.
   */
  readonly payments?: Payments;
  /**
   * Maximum texts in the first calls, 1 or more, as `onBatchTexts` reported in an earlier run; calls grow again while the service
   * accepts them. Default: `batchTexts`.
   */
  readonly firstBatchTexts?: number;
  /**
   * Called with the maximum number of texts in a call whenever it changes, that is when the service refuses a call for its
   * size or accepts larger ones again.
   */
  readonly onBatchTexts?: (count: number) => void;
  /**
   * Number of recent texts whose vectors are remembered, so that an equal text is not sent again; 4,096 vectors of
   * 1,024 dimensions take 16 MB. Texts that are stored by then are found by `skipKnown`. Default: 4,096, or more when
   * more can be in flight.
   */
  readonly rememberTexts?: number;
}

export const embedChunksOptions = optionsOf<EmbedChunksOptions>()({
  concurrency: z.int().min(1).max(256).default(8),
  batchTexts: z.int().min(1).optional(),
  batchTokens: z.int().min(1).optional(),
  batchBytes: z
    .int()
    .min(1)
    .default(4 * 1024 * 1024),
  maxTokens: z.int().min(1).optional(),
  payments: paymentsOption,
  firstBatchTexts: z.int().min(1).optional(),
  onBatchTexts: z.custom<(count: number) => void>((value) => typeof value === "function").optional(),
  rememberTexts: z.int().min(0).optional(),
});

/**
 * Embeds every chunk, in the order of the source. Chunks that have a vector of the embedder's space pass unchanged, and
 * equal texts are sent once.
 *
 * A text that the service refuses fails its own document, in `context.failures`, and costs no other. An error that is
 * not about the text ends the run, and so does an exhausted budget: calls in flight are then still waited for, their
 * vectors are handed out, documents that lack a part are marked as failed, and the error is thrown.
 *
 * Reports `chunks` that left with a vector, `reused` for chunks among them that needed no sending, `tokens` as the
 * service counted them, or by the embedder's own counter if it reports none, and `requests`.
 *
 * @example
 * ```ts
 * import { chunk, embedChunks, Pipeline, skipKnown, store } from "citewell";
 * import type { Document, Embedder, Store } from "citewell";
 * export const indexing = (kb: Store<"my-model">, embedder: Embedder<"my-model">) =>
 *   Pipeline.from<Document>()
 *     .pipe(chunk({ for: embedder }))
 *     .pipe(skipKnown(kb))
 *     .pipe(embedChunks(embedder, { concurrency: 4 }))
 *     .pipe(store(kb));
 * ```
 */
export function embedChunks<Space extends string, C extends Chunk = Chunk>(
  embedder: Embedder<Space>,
  options: EmbedChunksOptions = {},
): Stage<C, Embedded<C, Space>> {
  const settings = resolve("embedChunks", embedChunksOptions, options);
  const { concurrency, maxTokens, payments, firstBatchTexts, onBatchTexts } = settings;
  checkPort("embedChunks", "embedder", embedder);
  const { space, dimension, maxInputTokens } = embedder;
  const full = batchLimits(embedder, settings);
  // All texts in flight or waiting for their turn, and as many again that wait to be written.
  const rememberTexts = settings.rememberTexts ?? Math.max(4096, 4 * concurrency * Math.min(full.texts, 2048));
  return stage(
    "embed-chunks",
    async function* (source, context) {
      const { signal, report, failures } = context;
      const budget = payments ?? (maxTokens === undefined ? undefined : new TokenBudget(maxTokens));
      // A budget smaller than a batch still buys as much as it can pay for.
      const limits = { ...full, tokens: Math.min(full.tokens, budget?.maxTokens ?? Infinity) };
      const paying = { budget, payments };
      const isolator = new RefusalIsolator<PendingText>((texts) => embedPending(embedder, texts, paying, context), {
        maxItems: full.texts,
        initialItems: firstBatchTexts,
        onChange: onBatchTexts,
      });
      // Stops reading the source, not the calls in flight: they are paid for.
      const ending = new AbortController();
      let ended: { readonly thrown: unknown; readonly error: Error } | undefined;
      const embedBatch = async (batch: EmbeddingBatch<C>): Promise<EmbeddingBatch<C>> => {
        try {
          if (ended) throw ended.thrown;
          const { refused } = await isolator.send(batch.texts);
          for (const { item, error } of refused) item.outcome.error = error;
        } catch (thrown) {
          ended ??= { thrown, error: asError(thrown) };
          ending.abort();
          for (const { outcome } of batch.texts) if (!outcome.vector) outcome.error ??= ended.error;
        }
        return batch;
      };

      const batches = packBatches(sendable(source, maxInputTokens, context), { limits, space, rememberTexts });
      const stopReading = AbortSignal.any([signal, ending.signal]);
      const mapping = { concurrency, signal: stopReading, readAhead: 1 };
      try {
        for await (const { chunks } of mapConcurrent(batches, embedBatch, mapping)) {
          const embedded = chunks.filter(({ outcome }) => outcome.vector);
          progress(report, "chunks", embedded.length);
          progress(report, "reused", embedded.filter(({ fresh, outcome }) => !fresh || outcome.isReused).length);
          for (const { chunk, outcome } of chunks) {
            if (outcome.vector) yield withVector(chunk, outcome.vector, space);
            else if (outcome.error !== ended?.error) fail(chunk, outcome.error!, context);
            else if (!failures.has(chunk.documentId)) failures.set(chunk.documentId, outcome.error!);
          }
        }
      } catch (error) {
        // If reading was stopped here, the error to throw is the one that stopped it.
        if (!ended || signal.aborted) throw error;
      }
      signal.throwIfAborted();
      if (ended) throw ended.thrown;
    },
    {
      takes: { chunkTokens: maxInputTokens },
      gives: dimension === undefined ? { space } : { space, dimension },
    },
  );
}

async function embedPending(
  embedder: Embedder,
  pending: readonly PendingText[],
  { budget, payments }: { readonly budget: Budget | undefined; readonly payments: Payments | undefined },
  context: Pick<RunContext, "signal" | "deadlineAt" | "report">,
): Promise<void> {
  const missing = payments ? await withoutStored(pending, payments) : pending;
  if (missing.length === 0) return;
  const texts = missing.map(({ text }) => text);
  const countedTokens = missing.reduce((sum, { tokens }) => sum + tokens, 0);
  const { vectors } = await embedTexts(embedder, texts, { purpose: "document", countedTokens }, context, budget);
  const landed = new Map<string, Float32Array>();
  for (const [index, { key, outcome }] of missing.entries()) {
    const vector = vectors[index]!;
    const problem = problemOf(vector);
    if (problem !== undefined) {
      outcome.error = new TransportError("reply", `${embedder.space} returned a vector ${problem} for it`);
      continue;
    }
    outcome.vector = vector;
    if (payments) landed.set(key, vector);
  }
  payments?.landed(landed);
}

/** Why a vector has no direction: the store would refuse it, and with it the run. */
function problemOf(vector: Float32Array): string | undefined {
  // A function call for each of a thousand components would take longer than sending and reading the vector.
  let squared = 0;
  for (let index = 0; index < vector.length; index++) squared += vector[index]! ** 2;
  if (!Number.isFinite(squared)) return "with a number that is not finite";
  return squared > 0 ? undefined : "of zeros";
}

/** Gives texts that are stored by now their vectors, and returns the others. */
async function withoutStored(pending: readonly PendingText[], payments: Payments): Promise<readonly PendingText[]> {
  const stored = await payments.stored(pending.map(({ key }) => key));
  return pending.filter(({ key, outcome }) => {
    const vector = stored.get(key);
    if (vector) Object.assign(outcome, { vector, isReused: true });
    return !vector;
  });
}

/** Leaves out what cannot succeed: chunks of documents that have failed already, and chunks over the embedder's limit. */
async function* sendable<C extends Chunk>(
  source: AsyncIterable<C>,
  maxInputTokens: number,
  context: Pick<RunContext, "failures" | "report">,
): AsyncGenerator<C> {
  for await (const chunk of source) {
    if (context.failures.has(chunk.documentId)) continue;
    if (chunk.tokens <= maxInputTokens) {
      yield chunk;
      continue;
    }
    const problem = `it has ${chunk.tokens} tokens, and the embedder takes ${maxInputTokens}: cut smaller with chunk({ for: embedder })`;
    fail(chunk, new TransportError("request", problem), context);
  }
}

function fail(chunk: Chunk, cause: Error, { failures, report }: Pick<RunContext, "failures" | "report">): void {
  const { documentId, start, end } = chunk;
  if (failures.has(documentId)) return;
  const message = `${documentId}: the chunk at ${start} to ${end} could not be embedded: ${cause.message}`;
  const error = cause instanceof TransportError ? withMessage(cause, message) : cause;
  failures.set(documentId, error);
  report({ type: "document", uri: documentId, outcome: "failed", chunks: 0, error });
}

function withMessage(cause: TransportError, message: string): TransportError {
  const { code, operation, status, serviceCode, requestId, attempts, retryable } = cause;
  return new TransportError(code, message, { operation, status, serviceCode, requestId, attempts, retryable, cause });
}

function progress(report: RunContext["report"], what: string, count: number): void {
  if (count > 0) report({ type: "progress", what, count });
}

/**
 * Adds a vector to a chunk, in place of any that it has. New fields come before the spread: after it, V8 makes a hidden
 * class for each object, which takes five times as long and stays until the next full collection.
 */
export function withVector<C extends Chunk, Space extends string>(
  chunk: C,
  vector: Float32Array,
  space: Space,
): Embedded<C, Space> {
  return "vector" in chunk || "space" in chunk ? { ...chunk, vector, space } : { vector, space, ...chunk };
}
