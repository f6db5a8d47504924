import type { z } from "zod";
import { type RerankReply, type RerankRequest, rerank as operation } from "../../contract/rerank.js";
import type { CallOptions } from "../../core/ports.js";
import type { Usage } from "../../core/types.js";
import type { Caller } from "../calls/caller.js";
import { badReply } from "../failures/failure.js";
import { checkRequest, requireRequest, withoutDefaults } from "./check-request.js";
import { readReply } from "./read-reply.js";

export interface RerankedDocument {
  /** Into `documents` of the request. */
  readonly index: number;
  /** In the model's own scale; higher is better. */
  readonly score: number;
  /** The document's text, when `return_documents` asked for it. */
  readonly document?: string;
}

export interface RerankResult {
  /** By falling score, ties by index; each index at most once. A service may return fewer than were asked for. */
  readonly results: RerankedDocument[];
  readonly usage: Usage;
  readonly requestId?: string;
  /** The reply as it came, a list when there were several; `undefined` when no documents needed no call. */
  readonly raw: unknown;
}

const defaults = { return_documents: false, max_chunks_per_doc: 1024, overlap_tokens: 80 };

/** No documents: no results, and no call. `top_n` beyond the number of documents means all of them. */
export async function rerank(caller: Caller, request: RerankRequest, options: CallOptions): Promise<RerankResult> {
  requireRequest(operation.name, request);
  const { documents } = request;
  if (Array.isArray(documents) && documents.length === 0) {
    options.signal?.throwIfAborted();
    return { results: [], usage: { inputTokens: 0, outputTokens: 0 }, raw: undefined };
  }
  checkRequest(operation, request, caller, "rerank");
  const { maxDocumentsPerRequest: maxDocuments = Infinity } = caller.settings;
  if (documents.length > maxDocuments) return rerankInParts(caller, request, maxDocuments, options);
  return rerankInOne(caller, request, options);
}

async function rerankInOne(caller: Caller, request: RerankRequest, options: CallOptions): Promise<RerankResult> {
  const { documents, model } = request;
  const topN = Math.min(request.top_n ?? documents.length, documents.length);
  return caller.perform<RerankResult>(
    {
      operation,
      model,
      body: withoutDefaults({ ...request, ...(request.top_n !== undefined && { top_n: topN }) }, defaults),
      accept: "application/json",
      read: async (exchange) => {
        const { reply, received } = await readReply(operation, exchange);
        const results = ranked(reply.results, documents.length).slice(0, topN);
        const identity = typeof reply.id === "string" ? { requestId: reply.id } : {};
        return { results, usage: usageOf(reply), ...identity, ...received };
      },
      facts: ({ usage }) => ({ usage }),
    },
    options,
  );
}

/** Sends all parts at once, as many as the cap admits; a part that fails ends the others, since documents would be missing. */
async function rerankInParts(
  caller: Caller,
  request: RerankRequest,
  maxDocuments: number,
  { signal, ...options }: CallOptions,
): Promise<RerankResult> {
  const { documents, top_n: topN = documents.length } = request;
  const failed = new AbortController();
  const ended = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal;
  const rerankFrom = async (from: number): Promise<RerankResult> => {
    const part = { ...request, documents: documents.slice(from, from + maxDocuments) };
    const { results, ...rest } = await rerankInOne(caller, part, { ...options, signal: ended });
    return { ...rest, results: results.map((found) => ({ ...found, index: found.index + from })) };
  };
  const starts = Array.from({ length: Math.ceil(documents.length / maxDocuments) }, (_, at) => at * maxDocuments);
  const parts = starts.map(rerankFrom);
  try {
    const done = await Promise.all(parts);
    const requestId = done.find((part) => part.requestId !== undefined)?.requestId;
    const results = done.flatMap((part) => part.results).toSorted(byScore);
    return {
      results: results.slice(0, topN),
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
  const counts = [tokens, meta?.tokens, meta?.billed_units, usage].filter(
    (each) => each !== undefined && each !== null,
  );
  const first = (...names: readonly (keyof NonNullable<typeof tokens>)[]) =>
    counts.flatMap((each) => names.map((name) => each[name])).find((count) => typeof count === "number") ?? 0;
  return {
    inputTokens: first("input_tokens", "prompt_tokens", "total_tokens"),
    outputTokens: first("output_tokens"),
  };
}
