import type { z } from "zod";
import { type RerankReply, type RerankRequest, rerank as operation } from "../contract/rerank.js";
import type { CallOptions } from "../ports.js";
import type { Usage } from "../types.js";
import { badReply } from "./failure.js";
import { checkRequest, requireRequest, withoutDefaults } from "./prepare.js";
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
  /** The reply as it came, a list where there were several; `undefined` where no documents needed no call. */
  readonly raw: unknown;
}

const defaults = { return_documents: false, max_chunks_per_doc: 1024, overlap_tokens: 80 };

/** No documents: no results, and no call. `top_n` beyond the number of documents means all of them. */
export async function rerank(upstream: Upstream, request: RerankRequest, call: CallOptions): Promise<RerankResult> {
  requireRequest(operation.name, request);
  const { documents } = request;
  if (Array.isArray(documents) && documents.length === 0) {
    call.signal?.throwIfAborted();
    return { results: [], usage: { inputTokens: 0, outputTokens: 0 }, raw: undefined };
  }
  checkRequest(operation, request, upstream, "rerank");
  const { maxDocumentsPerRequest: most } = upstream.settings;
  if (most !== undefined && Array.isArray(documents) && documents.length > most)
    return inParts(upstream, request, most, call);
  return inOne(upstream, request, call);
}

async function inOne(upstream: Upstream, request: RerankRequest, call: CallOptions): Promise<RerankResult> {
  const { documents, model } = request;
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

/** All parts at once, as many as the cap lets; one that fails ends the others, since its documents would be missing. */
async function inParts(
  upstream: Upstream,
  request: RerankRequest,
  most: number,
  { signal, ...call }: CallOptions,
): Promise<RerankResult> {
  const { documents, top_n: topN = documents.length } = request;
  const failed = new AbortController();
  const ended = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal;
  const parts: Promise<RerankResult>[] = [];
  for (let from = 0; from < documents.length; from += most) {
    const part = inOne(
      upstream,
      { ...request, documents: documents.slice(from, from + most) },
      { ...call, signal: ended },
    );
    parts.push(
      part.then((result) => ({
        ...result,
        results: result.results.map((found) => ({ ...found, index: found.index + from })),
      })),
    );
  }
  try {
    const done = await Promise.all(parts);
    const requestId = done.find((part) => part.requestId !== undefined)?.requestId;
    return {
      results: done
        .flatMap(({ results }) => results)
        .toSorted(byScore)
        .slice(0, topN),
      usage: {
        inputTokens: done.reduce((sum, { usage }) => sum + usage.inputTokens, 0),
        outputTokens: done.reduce((sum, { usage }) => sum + usage.outputTokens, 0),
      },
      ...(requestId !== undefined && { requestId }),
      raw: done.map(({ raw }) => raw),
    };
  } catch (error) {
    failed.abort();
    await Promise.allSettled(parts);
    throw error;
  }
}

function byScore(a: RerankedDocument, b: RerankedDocument): number {
  return b.score - a.score || a.index - b.index;
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
  return read.toSorted(byScore);
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
