import { z } from "zod";
import { asError, TransportError } from "../errors.js";
import { resolve } from "../options.js";
import { stage, type Budget, type RunContext, type Stage } from "../pipeline.js";
import type { Embedder } from "../ports.js";
import { mapConcurrent } from "../stream.js";
import type { Chunk, Embedded } from "../types.js";
import { batchLimits, packBatches, type EmbeddingBatch, type PendingText } from "./embedding-batches.js";
import { RefusalIsolator } from "./refused-texts.js";
import { remainingTime } from "./remaining-time.js";
import { TokenBudget } from "./token-budget.js";
import { withVector } from "./with-vector.js";

export const EmbedChunksOptions = z.strictObject({
  /** Most calls in flight at once. 1 to 256; default 8. */
  concurrency: z.int().min(1).max(256).default(8),
  /** Most texts in one call. Default: what the embedder takes, which it also never exceeds. */
  batchTexts: z.int().min(1).optional(),
  /** Most tokens in one call. Default: what the embedder takes, which it also never exceeds. */
  batchTokens: z.int().min(1).optional(),
  /** Most bytes of text in one call, as JSON in UTF-8. Default 4 MiB. */
  batchBytes: z
    .int()
    .min(1)
    .default(4 * 1024 * 1024),
  /**
   * Most tokens to spend in one run, as the service counts them. The run ends with a `BudgetError` before the call that
   * would pass it. Where the run has a budget, that is what is spent from. Default: no limit.
   */
  maxTokens: z.int().min(1).optional(),
  /**
   * Most texts in one call to begin with, as `onBatchTexts` told an earlier run; calls grow again while the service takes
   * them. Default: `batchTexts`.
   */
  firstBatchTexts: z.int().min(1).optional(),
  /** Is told, when the service refuses a call for its size or takes larger ones again, how many texts a call now has at most. */
  onBatchTexts: z.custom<(count: number) => void>((value) => typeof value === "function").optional(),
  /**
   * Latest texts whose vectors are remembered, so that an equal text is not sent again; 4,096 vectors of 1,024 dimensions
   * take 16 MB. What is stored meanwhile, `skipKnown` finds there. Default: 4,096, or more where more can be on their way.
   */
  rememberTexts: z.int().min(0).optional(),
});
export type EmbedChunksOptions = z.input<typeof EmbedChunksOptions>;

/**
 * Gives every chunk its vector, in the order of the source. Chunks that have one of the embedder's space pass as they
 * are, and equal texts are sent once.
 *
 * A text that the service refuses fails its own document, in `context.failures`, and costs no other. An error that is
 * not about the text ends the run: calls in flight are then still waited for, what they brought is handed out, documents
 * that lack a part are marked as failed, and the error is thrown. So does a budget that is used up.
 *
 * Reports `chunks` that left with a vector, `reused` those of them that needed no sending, `tokens` as the service
 * counted them, and `requests`.
 */
export function embedChunks<Space extends string, C extends Chunk = Chunk>(
  embedder: Embedder<Space>,
  options: EmbedChunksOptions = {},
): Stage<C, Embedded<C, Space>> {
  const { concurrency, maxTokens, firstBatchTexts, onBatchTexts, ...wanted } = resolve(
    "embedChunks",
    EmbedChunksOptions,
    options,
  );
  const { space, dimension, maxInputTokens } = embedder;
  const whole = batchLimits(embedder, wanted);
  // Sent or waiting in their order, and as many again that wait to be written.
  const rememberTexts = wanted.rememberTexts ?? Math.max(4096, 4 * concurrency * Math.min(whole.texts, 2048));
  // A budget smaller than a batch still buys what fits it.
  const limits = { ...whole, tokens: Math.min(whole.tokens, maxTokens ?? Infinity) };
  return stage(
    "embed-chunks",
    async function* (source, context) {
      const { signal, report, failures } = context;
      const budget = context.budget ?? (maxTokens === undefined ? undefined : new TokenBudget(maxTokens));
      const isolator = new RefusalIsolator<PendingText>((texts) => embedTexts(embedder, texts, budget, context), {
        mostItems: whole.texts,
        firstItems: firstBatchTexts,
        onChange: onBatchTexts,
      });
      // Ends the reading of the source, not the calls in flight: what is paid for is waited for.
      const ending = new AbortController();
      let ended: { readonly thrown: unknown; readonly error: Error } | undefined;
      const embedBatch = async (batch: EmbeddingBatch<C>): Promise<EmbeddingBatch<C>> => {
        try {
          if (ended) throw ended.thrown;
          for (const { item, error } of await isolator.send(batch.texts)) item.outcome.error = error;
        } catch (thrown) {
          ended ??= { thrown, error: asError(thrown) };
          ending.abort();
          for (const { outcome } of batch.texts) if (!outcome.vector) outcome.error ??= ended.error;
        }
        return batch;
      };

      const batches = packBatches(sendable(source, maxInputTokens, context), { limits, space, rememberTexts });
      const stopReading = AbortSignal.any([signal, ending.signal]);
      try {
        for await (const { chunks } of mapConcurrent(batches, embedBatch, {
          concurrency,
          signal: stopReading,
          readAhead: 1,
        })) {
          const landed = chunks.filter(({ outcome }) => outcome.vector);
          progress(report, "chunks", landed.length);
          progress(report, "reused", landed.filter(({ fresh }) => !fresh).length);
          for (const { chunk, outcome } of chunks) {
            if (outcome.vector) yield withVector(chunk, outcome.vector, space);
            else if (outcome.error !== ended?.error) fail(chunk, outcome.error!, context);
            else if (!failures.has(chunk.documentId)) failures.set(chunk.documentId, outcome.error!);
          }
        }
      } catch (error) {
        // Reading was ended by ourselves: the error is the one that made us.
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

async function embedTexts(
  embedder: Embedder,
  texts: readonly PendingText[],
  budget: Budget | undefined,
  context: Pick<RunContext, "signal" | "deadlineAt" | "report">,
): Promise<void> {
  const { signal, report } = context;
  const sent = texts.map(({ text }) => text);
  const countedTokens = texts.reduce((sum, { tokens: each }) => sum + each, 0);
  const call = () => {
    signal.throwIfAborted();
    progress(report, "requests", 1);
    return embedder.embed(sent, { ...remainingTime(context), purpose: "document", signal, countedTokens });
  };
  const { vectors, tokens } = await (budget ? budget.spend(countedTokens, call) : call());
  if (vectors.length !== texts.length) {
    throw new TransportError("reply", `Sent ${texts.length} texts to ${embedder.space}, got ${vectors.length} vectors`);
  }
  progress(report, "tokens", tokens);
  for (const [index, { outcome }] of texts.entries()) {
    const vector = vectors[index]!;
    if (vector.some((component) => component !== 0)) outcome.vector = vector;
    else
      outcome.error = new TransportError("reply", `${embedder.space} gave it a vector of zeros, without a direction`);
  }
}

/** Leaves out what cannot end well: chunks of documents that have failed already, and chunks over the embedder's limit. */
async function* sendable<C extends Chunk>(
  source: AsyncIterable<C>,
  maxInputTokens: number,
  context: Pick<RunContext, "failures" | "report">,
): AsyncGenerator<C> {
  for await (const chunk of source) {
    if (context.failures.has(chunk.documentId)) continue;
    if (chunk.tokens <= maxInputTokens) yield chunk;
    else fail(chunk, new TransportError("request", tooLong(chunk, maxInputTokens)), context);
  }
}

function tooLong({ tokens }: Chunk, maxInputTokens: number): string {
  return `it has ${tokens} tokens, and the embedder takes ${maxInputTokens}: cut smaller with chunk({ for: embedder })`;
}

function fail(chunk: Chunk, cause: Error, { failures, report }: Pick<RunContext, "failures" | "report">): void {
  const { documentId, start, end } = chunk;
  if (failures.has(documentId)) return;
  const message = `${documentId}: the chunk at ${start} to ${end} could not be embedded: ${cause.message}`;
  const error = cause instanceof TransportError ? retold(cause, message) : cause;
  failures.set(documentId, error);
  report({ type: "document", uri: documentId, outcome: "failed", chunks: 0, error });
}

function retold(cause: TransportError, message: string): TransportError {
  const { code, operation, status, serviceCode, requestId, attempts, retryable } = cause;
  return new TransportError(code, message, { operation, status, serviceCode, requestId, attempts, retryable, cause });
}

function progress(report: RunContext["report"], what: string, count: number): void {
  if (count > 0) report({ type: "progress", what, count });
}
