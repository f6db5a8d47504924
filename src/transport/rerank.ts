import type { z } from "zod";
import { type RerankReply, type RerankRequest, rerank as operation } from "../contract/rerank.js";
import type { CallOptions } from "../ports.js";
import type { Usage } from "../types.js";
import { badReply } from "./failure.js";
import { checkRequest, withoutDefaults } from "./prepare.js";
import { readReply } from "./read-reply.js";
import { requestIdOf } from "./refusal.js";
import type { Upstream } from "./upstream.js";

export interface RerankedDocument {
  /** Into `documents` of the request. */
  readonly index: number;
  /** In the model's own scale; higher is better. */
  readonly score: number;
  /** The document's text, where `return_documents` asked for it. */
  readonly document?: string;
}

export interface RerankResult {
  /** By falling score, ties by index; each index at most once. A service may return fewer than were asked for. */
  readonly results: RerankedDocument[];
  readonly usage: Usage;
  readonly requestId?: string;
  /** The reply as it came; `undefined` where no documents needed no call. */
  readonly raw: unknown;
}

const defaults = { return_documents: false, max_chunks_per_doc: 1024, overlap_tokens: 80 };

/** No documents: no results, and no call. `top_n` beyond the number of documents means all of them. */
export async function rerank(upstream: Upstream, request: RerankRequest, call: CallOptions): Promise<RerankResult> {
  const { documents, model } = request;
  if (Array.isArray(documents) && documents.length === 0) {
    call.signal?.throwIfAborted();
    return { results: [], usage: { inputTokens: 0, outputTokens: 0 }, raw: undefined };
  }
  checkRequest(operation, request, upstream.models, "rerank");
  const topN = Math.min(request.top_n ?? documents.length, documents.length);
  const body = withoutDefaults({ ...request, ...(request.top_n !== undefined && { top_n: topN }) }, defaults);
  return upstream.perform(
    {
      operation,
      model,
      body,
      accept: "application/json",
      read: async (exchange) => {
        const { reply, raw } = await readReply(operation, exchange);
        const requestId = requestIdOf(exchange.headers) ?? reply.id ?? undefined;
        return {
          results: ranked(reply.results, documents.length).slice(0, topN),
          usage: usageOf(reply),
          ...(requestId !== undefined && { requestId }),
          raw,
        };
      },
      learned: (result) => result,
    },
    call,
  );
}

type Reply = z.output<typeof RerankReply>;

function ranked(results: Reply["results"], count: number): RerankedDocument[] {
  const seen = new Set<number>();
  const read = results.map(({ index, relevance_score, score: plainScore, document }): RerankedDocument => {
    const score = relevance_score ?? plainScore;
    if (index >= count) throw badReply(`a result has index ${index}, but ${count} documents were sent`);
    if (seen.has(index)) throw badReply(`two results have index ${index}`);
    if (typeof score !== "number") throw badReply(`the result for document ${index} has no score`);
    seen.add(index);
    const text = typeof document === "string" ? document : document?.text;
    return { index, score, ...(text !== undefined && { document: text }) };
  });
  return read.toSorted((a, b) => b.score - a.score || a.index - b.index);
}

/** Services of this shape put their counts in different places under different names. */
function usageOf({ tokens, meta, usage }: Reply): Usage {
  return {
    inputTokens:
      tokens?.input_tokens ??
      tokens?.prompt_tokens ??
      meta?.tokens?.input_tokens ??
      meta?.billed_units?.input_tokens ??
      usage?.prompt_tokens ??
      usage?.total_tokens ??
      0,
    outputTokens:
      tokens?.output_tokens ??
      meta?.tokens?.output_tokens ??
      meta?.billed_units?.output_tokens ??
      usage?.output_tokens ??
      0,
  };
}
