import { checkPort, shown } from "../../core/check-port.js";
import { z } from "zod";
import { OptionsError, TransportError } from "../../core/errors.js";
import { isRecord } from "../../core/json.js";
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
  /** Maximum number of hits to send, best first, 1 or more. Default: all. */
  readonly candidates?: number;
  /**
   * Behaviour when reranking fails, for whatever reason: keep the order of the search, with a warning that also stands in
   * `Answer.warnings`, or end the run. An abort always ends it. Default `keep-order`.
   */
  readonly onFailure?: "keep-order" | "throw";
  /**
   * How much the search's own score counts beside the reranker's, each as a share of its best; 0 or more. A reranker
   * that only compares words should not overrule the search. Default: 0, the reranker decides.
   */
  readonly searchWeight?: number;
  /**
   * Number of hits, best by the search, that may change places; the others keep the search's order behind them. A reranker that knows
   * little more than the search orders the best, but brings none among them. 1 or more. Default: all.
   */
  readonly depth?: number;
  /** Time reserved for later stages when the run has a deadline, in milliseconds. Default 2,000. */
  readonly reserveMs?: number;
}

export const rerankOptions = optionsOf<RerankOptions>()({
  topN: z.int().min(1).max(1000).default(6),
  candidates: z.int().min(1).optional(),
  onFailure: z.enum(["keep-order", "throw"]).default("keep-order"),
  searchWeight: z.number().min(0).default(0),
  depth: z.int().min(1).optional(),
  reserveMs: z.number().min(0).default(2000),
});

interface Ranked {
  readonly ranked: readonly Hit[];
  readonly note?: string;
  readonly answered: boolean;
  readonly tokens?: number | undefined;
  readonly failedAttempts: readonly FailedAttempt[];
}

/**
 * Orders hits by a reranker's score of their text, context included, and keeps the best. Where reranking fails the order of the
 * search stays, and `warnings` say so.
 *
 * @example
 * ```ts
 * import { Pipeline, rerank, search, type Question, type Reranker, type Store } from "citewell";
 * export const searching = (store: Store, reranker: Reranker) =>
 *   Pipeline.from<Question>()
 *     .pipe(search(store, { mode: "lexical", count: 40 }))
 *     .pipe(rerank(reranker, { topN: 6 }));
 * ```
 */
export function rerank(reranker: Reranker, options: RerankOptions = {}): Stage<Retrieved, Retrieved> {
  const {
    topN,
    candidates,
    onFailure,
    searchWeight,
    depth = Infinity,
    reserveMs,
  } = resolve("rerank", rerankOptions, options);
  checkPort("rerank", "reranker", reranker);
  if (options.topN !== undefined && topN > (candidates ?? Infinity)) {
    throw new OptionsError(
      "options",
      `topN is ${topN}, but only ${candidates} candidates are sent. Set topN to ${candidates} or less, or candidates to ${topN} or more`,
      { call: "rerank", option: "topN" },
    );
  }
  return mapStage(
    "rerank",
    async (retrieved, context) => {
      context.signal.throwIfAborted();
      const started = performance.now();
      const sent = retrieved.hits.slice(0, candidates);
      const { ranked, note, answered, tokens, failedAttempts } = await rankOrKeep(
        retrieved.searchedFor ?? retrieved.question,
        sent,
        context,
      );
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
      const warnings = note !== undefined && [...(retrieved.warnings ?? []), `rerank: ${note}`];
      const requests = asked && [
        modelRequest({ step: "rerank", by: reranker, answered, usage, started, failedAttempts }),
      ];
      return {
        ...retrieved,
        hits,
        trace: [...retrieved.trace, step],
        ...(warnings && { warnings }),
        ...(requests && { requests: [...(retrieved.requests ?? []), ...requests] }),
      };
    },
    { gives: { hits: topN } },
  );

  async function rankOrKeep(question: string, sent: readonly Hit[], context: RunContext): Promise<Ranked> {
    if (sent.length === 0) return { ranked: sent, answered: false, failedAttempts: [] };
    const texts = sent.map(({ chunk }) => embeddingText(chunk));
    const rank = async (call: CallOptions) => {
      const reranking = checkReranking(reranker.model, await reranker.rerank(question, texts, call), sent.length);
      const reranked = inOrderOf(reranking, sent);
      return { ranked: blended(reranked, { searchWeight, depth }), answered: true, tokens: reranking.tokens };
    };
    if (onFailure === "throw") {
      const failedAttempts: FailedAttempt[] = [];
      const onFailedAttempt = (attempt: FailedAttempt) => void failedAttempts.push(attempt);
      const call = { ...remainingTime(context), signal: context.signal, onFailedAttempt };
      return { ...(await unlessAborted(rank(call), context.signal)), failedAttempts };
    }
    const reply = await optionalCall(reranker.model, { reserveMs }, context, rank, () => true);
    const { failedAttempts } = reply;
    if (!("problem" in reply)) return { ...reply.value, failedAttempts };
    const note = `${reply.problem}: the order of the search was kept`;
    context.report({ type: "warning", message: `rerank: ${note}` });
    return { ranked: sent, note, answered: false, failedAttempts };
  }
}

/**
 * Hits in the order of the reranker's and the search's scores together, which is their new score; behind them, in the order of the
 * search, those beyond `depth`. Without a positive score on either side there is nothing to blend.
 */
function blended(reranked: readonly Reranked[], { searchWeight, depth }: Blending): readonly Hit[] {
  const movable = reranked.filter(({ position }) => position < depth);
  const others = reranked.filter(({ position }) => position >= depth).toSorted((a, b) => a.position - b.position);
  const bestSearch = Math.max(...reranked.map(({ searchScore }) => searchScore));
  const bestRerank = Math.max(...movable.map(({ hit }) => hit.score));
  if (searchWeight === 0 || !(bestSearch > 0 && bestRerank > 0)) return [...movable, ...others].map(({ hit }) => hit);
  const blend = (share: number, { hit, searchScore }: Reranked): Hit => ({
    ...hit,
    score: (share + searchWeight * (searchScore / bestSearch)) / (1 + searchWeight),
  });
  const ordered = movable
    .map((candidate) => blend(candidate.hit.score / bestRerank, candidate))
    .toSorted((a, b) => b.score - a.score);
  return [...ordered, ...others.map((candidate) => blend(0, candidate))];
}

interface Blending {
  readonly searchWeight: number;
  readonly depth: number;
}

interface Reranked {
  readonly hit: Hit;
  readonly searchScore: number;
  /** Place in the order of the search, from 0. */
  readonly position: number;
}

/** Hits by falling score, ties in the order of the search, independent of the order of the results. */
function inOrderOf({ results }: Reranking, sent: readonly Hit[]): Reranked[] {
  return results
    .toSorted((a, b) => b.score - a.score || a.index - b.index)
    .map(({ index, score }, rank) => {
      const hit = sent[index]!;
      const placements = [...hit.placements, { by: "rerank", rank: rank + 1, score }];
      return { hit: { ...hit, score, placements }, searchScore: hit.score, position: index };
    });
}

/** @throws TransportError (`reply`) that names the result and the field which is not what `Reranking` says. */
function checkReranking(model: string, reply: unknown, sent: number): Reranking {
  const refuse = (problem: string): never => {
    throw new TransportError("reply", `The reranker ${model} returned ${problem}`);
  };
  const { results, tokens } = isRecord(reply) ? reply : refuse(`${shown(reply)}, not { results }`);
  if (!Array.isArray(results)) return refuse(`results that are no list (got ${shown(results)})`);
  const seen = new Set<unknown>();
  for (const [place, result] of (results as readonly unknown[]).entries()) {
    const { index, score } = isRecord(result)
      ? result
      : refuse(`results[${place}] that is ${shown(result)}, not { index, score }`);
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= sent) {
      refuse(`results[${place}].index ${shown(index)}, but ${sent} documents were sent, 0 to ${sent - 1}`);
    }
    if (seen.has(index)) refuse(`results[${place}].index ${shown(index)} for a second time`);
    seen.add(index);
    if (typeof score !== "number" || !Number.isFinite(score)) {
      refuse(`results[${place}].score ${shown(score)}, which is no finite number`);
    }
  }
  if (tokens !== undefined && !(typeof tokens === "number" && tokens >= 0 && Number.isFinite(tokens))) {
    refuse(`tokens ${shown(tokens)}, which is no number of 0 or more`);
  }
  return reply as Reranking;
}

function missing(all: readonly Hit[], present: readonly Hit[], reason: string): TraceStep["dropped"] {
  const ids = new Set(present.map(({ chunk }) => chunk.id));
  return all.filter(({ chunk }) => !ids.has(chunk.id)).map(({ chunk }) => ({ chunkId: chunk.id, reason }));
}
