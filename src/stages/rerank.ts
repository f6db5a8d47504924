import { z } from "zod";
import { TransportError } from "../errors.js";
import { resolve } from "../options.js";
import { mapStage, type RunContext, type Stage } from "../pipeline.js";
import type { Reranker, Reranking } from "../ports.js";
import { embeddingText } from "../text/chunk-identity.js";
import type { FailedAttempt, Hit, Retrieved, TraceStep } from "../types.js";
import { givenUp } from "./given-up.js";
import { modelRequest } from "./model-request.js";
import { isPassing } from "./passing-failure.js";
import { remainingTime } from "./remaining-time.js";
import { unlessAborted } from "../stream.js";

export const RerankOptions = z.strictObject({
  /** Most hits that stay. 1 to 1000; default 6. */
  topN: z.int().min(1).max(1000).default(6),
  /** Most hits that are sent, best first. Default: all. */
  candidates: z.int().min(1).optional(),
  /**
   * What happens when the reranker cannot be reached in time: go on in the order of the search, with a warning, or end
   * the run. A key or a model that the service does not accept always ends it. Default `keep-order`.
   */
  onFailure: z.enum(["keep-order", "throw"]).default("keep-order"),
  /** Time that is left to the stages behind when the run has a deadline, in milliseconds. Default 2,000. */
  reserveMs: z.number().min(0).default(2000),
});
export type RerankOptions = z.input<typeof RerankOptions>;

interface Ranked {
  readonly ranked: readonly Hit[];
  readonly note?: string;
  /** Absent where nothing was answered. */
  readonly tokens?: number;
  readonly failedAttempts?: readonly FailedAttempt[];
}

/** Orders hits by what a reranker says of their text, context included, and keeps the best. */
export function rerank(reranker: Reranker, options: RerankOptions = {}): Stage<Retrieved, Retrieved> {
  const { topN, candidates, onFailure, reserveMs } = resolve("rerank", RerankOptions, options);
  return mapStage(
    "rerank",
    async (retrieved, context) => {
      context.signal.throwIfAborted();
      const started = performance.now();
      const sent = retrieved.hits.slice(0, candidates);
      const { ranked, note, tokens, failedAttempts = [] } = await rankOrKeep(retrieved.question, sent, context);
      const hits = ranked.slice(0, topN);
      const step: TraceStep = {
        step: "rerank",
        kept: hits.map(({ chunk }) => chunk.id),
        dropped: [
          ...ranked.slice(topN).map((hit, index) => ({
            chunkId: hit.chunk.id,
            reason: `ranked ${topN + index + 1}, and topN is ${topN}`,
          })),
          ...missing(sent, ranked).map((chunkId) => ({ chunkId, reason: "not among the reranker's results" })),
          ...missing(retrieved.hits, sent).map((chunkId) => ({
            chunkId,
            reason: `not sent: candidates is ${sent.length}`,
          })),
        ],
        ...(note !== undefined && { note }),
        milliseconds: performance.now() - started,
      };
      const usage = tokens === undefined ? undefined : { inputTokens: tokens, outputTokens: 0 };
      const asked = usage !== undefined || failedAttempts.length > 0;
      const requests = asked && [modelRequest({ step: "rerank", by: reranker, usage, started, failedAttempts })];
      return {
        ...retrieved,
        hits,
        trace: [...retrieved.trace, step],
        ...(requests && { requests: [...(retrieved.requests ?? []), ...requests] }),
      };
    },
    { gives: { hits: topN } },
  );

  async function rankOrKeep(question: string, sent: readonly Hit[], context: RunContext): Promise<Ranked> {
    if (sent.length === 0) return { ranked: sent };
    const keepOrder = (why: string, failedAttempts: readonly FailedAttempt[] = []) => {
      const note = `${why}: order left as it was`;
      context.report({ type: "warning", message: `rerank: ${note}` });
      return { ranked: sent, note, failedAttempts };
    };
    const reservedMs = onFailure === "keep-order" ? reserveMs : 0;
    const leftMs = Math.floor((context.deadlineAt ?? Infinity) - performance.now() - reservedMs);
    if (onFailure === "keep-order" && leftMs < 1) return keepOrder("no time left to rerank");
    // A reranker that does not look at its deadline must not use up what is reserved for the stages behind.
    const late = onFailure === "keep-order" && leftMs < Infinity ? AbortSignal.timeout(leftMs) : undefined;
    const signal = late ? AbortSignal.any([context.signal, late]) : context.signal;
    const failedAttempts: FailedAttempt[] = [];
    try {
      const texts = sent.map(({ chunk }) => embeddingText(chunk));
      const onFailedAttempt = (attempt: FailedAttempt) => void failedAttempts.push(attempt);
      const call = { ...remainingTime(context, reservedMs), signal, onFailedAttempt };
      const reranking = await unlessAborted(reranker.rerank(question, texts, call), signal);
      return { ranked: inOrderOf(reranking, sent), tokens: reranking.tokens, failedAttempts };
    } catch (error) {
      context.signal.throwIfAborted();
      if (late?.aborted)
        return keepOrder(`${reranker.model} took more than the ${leftMs} ms it had`, givenUp(failedAttempts));
      if (onFailure === "throw" || !isPassing(error)) throw error;
      return keepOrder(`${reranker.model} failed (${error.code}: ${error.message})`, failedAttempts);
    }
  }
}

/** @throws TransportError (`reply`) when a result names a document that was not sent, or names one twice. */
function inOrderOf({ results }: Reranking, sent: readonly Hit[]): Hit[] {
  const left = new Map(sent.entries());
  return results.map(({ index, score }, position) => {
    const hit = left.get(index);
    if (!hit || !left.delete(index)) {
      throw new TransportError("reply", `The reranker's result ${position} names document ${index} of ${sent.length}`);
    }
    return { ...hit, score, placements: [...hit.placements, { by: "rerank", rank: position + 1, score }] };
  });
}

function missing(all: readonly Hit[], present: readonly Hit[]): string[] {
  const ids = new Set(present.map(({ chunk }) => chunk.id));
  return all.map(({ chunk }) => chunk.id).filter((id) => !ids.has(id));
}
