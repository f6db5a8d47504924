import { checkPort } from "../../core/check-port.js";
import { z } from "zod";
import { TransportError } from "../../core/errors.js";
import { optionsOf, resolve } from "../../core/options.js";
import { mapStage, type RunContext, type Stage } from "../../core/pipeline.js";
import type { CallOptions, Reranker, Reranking } from "../../core/ports.js";
import { unlessAborted } from "../../core/stream.js";
import type { FailedAttempt, Hit, Retrieved, TraceStep } from "../../core/types.js";
import { embeddingText } from "../../text/chunking/chunk-identity.js";
import { inputUsage, modelRequest } from "../calls/model-request.js";
import { optionalCall, remainingTime } from "../calls/timed-calls.js";

export interface RerankOptions {
  /** Maximum number of hits to keep. 1 to 1000; default 6. */
  readonly topN?: number;
  /** Maximum number of hits to send, best first. Default: all. */
  readonly candidates?: number;
  /**
   * What happens when the reranker cannot be reached in time: keep the order of the search, with a warning, or end the
   * run. A key or model that the service rejects always ends it. Default `keep-order`.
   */
  readonly onFailure?: "keep-order" | "throw";
  /**
   * How much the search's own score counts beside the reranker's, each as a share of its best; 0 or more. A reranker that knows
   * no more than words should not overrule the search. Default: 0, the reranker decides.
   */
  readonly searchWeight?: number;
  /** Time reserved for later stages when the run has a deadline, in milliseconds. Default 2,000. */
  readonly reserveMs?: number;
}

export const rerankOptions = optionsOf<RerankOptions>()({
  topN: z.int().min(1).max(1000).default(6),
  candidates: z.int().min(1).optional(),
  onFailure: z.enum(["keep-order", "throw"]).default("keep-order"),
  searchWeight: z.number().min(0).default(0),
  reserveMs: z.number().min(0).default(2000),
});

interface Ranked {
  readonly ranked: readonly Hit[];
  readonly note?: string;
  readonly answered: boolean;
  readonly tokens?: number | undefined;
  readonly failedAttempts: readonly FailedAttempt[];
}

/** Orders hits by a reranker's score of their text, context included, and keeps the best. */
export function rerank(reranker: Reranker, options: RerankOptions = {}): Stage<Retrieved, Retrieved> {
  const { topN, candidates, onFailure, searchWeight, reserveMs } = resolve("rerank", rerankOptions, options);
  checkPort("rerank", "reranker", reranker);
  return mapStage(
    "rerank",
    async (retrieved, context) => {
      context.signal.throwIfAborted();
      const started = performance.now();
      const sent = retrieved.hits.slice(0, candidates);
      const { ranked, note, answered, tokens, failedAttempts } = await rankOrKeep(retrieved.question, sent, context);
      const hits = ranked.slice(0, topN);
      const step: TraceStep = {
        step: "rerank",
        kept: hits.map(({ chunk }) => chunk.id),
        dropped: [
          ...ranked.slice(topN).map((hit, index) => ({
            chunkId: hit.chunk.id,
            reason: `ranked ${topN + index + 1}, and topN is ${topN}`,
          })),
          ...missing(sent, ranked, "not among the reranker's results"),
          ...missing(retrieved.hits, sent, `not sent: candidates is ${sent.length}`),
        ],
        ...(note !== undefined && { note }),
        milliseconds: performance.now() - started,
      };
      const usage = inputUsage(tokens);
      const asked = answered || failedAttempts.length > 0;
      const requests = asked && [
        modelRequest({ step: "rerank", by: reranker, answered, usage, started, failedAttempts }),
      ];
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
    if (sent.length === 0) return { ranked: sent, answered: false, failedAttempts: [] };
    const texts = sent.map(({ chunk }) => embeddingText(chunk));
    const rank = async (call: CallOptions) => {
      const reranking = await reranker.rerank(question, texts, call);
      return { ranked: blended(inOrderOf(reranking, sent), searchWeight), answered: true, tokens: reranking.tokens };
    };
    if (onFailure === "throw") {
      const failedAttempts: FailedAttempt[] = [];
      const onFailedAttempt = (attempt: FailedAttempt) => void failedAttempts.push(attempt);
      const call = { ...remainingTime(context), signal: context.signal, onFailedAttempt };
      return { ...(await unlessAborted(rank(call), context.signal)), failedAttempts };
    }
    const reply = await optionalCall(reranker.model, { reserveMs }, context, rank);
    const { failedAttempts } = reply;
    if (!("problem" in reply)) return { ...reply.value, failedAttempts };
    const note = `${reply.problem}: the order of the search was kept`;
    context.report({ type: "warning", message: `rerank: ${note}` });
    return { ranked: sent, note, answered: false, failedAttempts };
  }
}

/**
 * Hits in the order of the reranker's and the search's scores together, which is their new score. Without a positive score on
 * either side there is nothing to blend.
 */
function blended(reranked: readonly Reranked[], searchWeight: number): readonly Hit[] {
  const bestSearch = Math.max(...reranked.map(({ searchScore }) => searchScore));
  const bestRerank = Math.max(...reranked.map(({ hit }) => hit.score));
  if (searchWeight === 0 || !(bestSearch > 0 && bestRerank > 0)) return reranked.map(({ hit }) => hit);
  return reranked
    .map(({ hit, searchScore }) => {
      const score = (hit.score / bestRerank + searchWeight * (searchScore / bestSearch)) / (1 + searchWeight);
      return { ...hit, score };
    })
    .toSorted((a, b) => b.score - a.score);
}

interface Reranked {
  readonly hit: Hit;
  readonly searchScore: number;
}

/** @throws TransportError (`reply`) when a result names a document that was not sent, or names one twice. */
function inOrderOf({ results }: Reranking, sent: readonly Hit[]): Reranked[] {
  const left = new Map(sent.entries());
  return results.map(({ index, score }, position) => {
    const hit = left.get(index);
    if (!hit || !left.delete(index)) {
      throw new TransportError("reply", `The reranker's result ${position} names document ${index} of ${sent.length}`);
    }
    const placements = [...hit.placements, { by: "rerank", rank: position + 1, score }];
    return { hit: { ...hit, score, placements }, searchScore: hit.score };
  });
}

function missing(all: readonly Hit[], present: readonly Hit[], reason: string): TraceStep["dropped"] {
  const ids = new Set(present.map(({ chunk }) => chunk.id));
  return all.filter(({ chunk }) => !ids.has(chunk.id)).map(({ chunk }) => ({ chunkId: chunk.id, reason }));
}
