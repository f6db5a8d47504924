import type { z } from "zod";
import { type RerankReply, type RerankRequest, rerank as operation } from "../../contract/rerank.js";
import type { CallOptions } from "../../core/ports.js";
import type { Usage } from "../../core/types.js";
import type { Caller } from "../calls/caller.js";
import { rankingBytes } from "../calls/reply-size.js";
import { badReply } from "../failures/failure.js";
import { checkRequest } from "./check-request.js";
import { jsonCall } from "./json-call.js";
import { rerankShape as shape } from "../service-shape.js";

export interface RerankedDocument {
  /** Index into `documents` of the request. */
  readonly index: number;
  /** Score in the model's own scale; higher is better. */
  readonly score: number;
  /** The document's text, when `return_documents` asked for it. */
  readonly document?: string;
}

export interface RerankResult {
  /** Sorted by descending score, ties by index; an index occurs at most once. A service may return fewer than requested. */
  readonly results: RerankedDocument[];
  /** Tokens as the service counted them; `undefined` where it reports none. */
  readonly usage: Usage | undefined;
  /** Id that the service gave the request. */
  readonly requestId?: string;
  /** The reply as it came, a list when there were several; `undefined` when no documents needed no call. */
  readonly raw: unknown;
}

/** No documents: no results, and no call. `top_n` beyond the number of documents means all of them. @internal */
export async function rerank(caller: Caller, request: RerankRequest, options: CallOptions): Promise<RerankResult> {
  const documents = (request as RerankRequest | undefined)?.documents;
  if (Array.isArray(documents) && documents.length === 0) {
    options.signal?.throwIfAborted();
    return { results: [], usage: { inputTokens: 0, outputTokens: 0 }, raw: undefined };
  }
  checkRequest(caller.serviceRequests?.rerank ?? operation, request, caller, "rerank");
  const { maxDocumentsPerRequest: maxDocuments = Infinity } = caller.settings;
  if (request.documents.length > maxDocuments) return rerankInParts(caller, request, maxDocuments, options);
  return rerankInOne(caller, request, options);
}

async function rerankInOne(caller: Caller, request: RerankRequest, options: CallOptions): Promise<RerankResult> {
  const { documents, model } = request;
  const topN = Math.min(request.top_n ?? documents.length, documents.length);
  const body = shape.body({ ...request, ...(request.top_n !== undefined && { top_n: topN }) }, caller.settings);
  // A service may return fewer than were asked for, but not none.
  const isShort = ({ results: found }: z.output<typeof RerankReply>) => found.length === 0;
  const sent = { model, body, envelope: shape.envelope, isShort };
  const call = jsonCall(operation, sent, (reply, received): RerankResult => {
    const { results, ...facts } = shape.read(reply);
    const best = ranked(results, documents.length).slice(0, topN);
    return { results: caller.serviceRequests ? withDocuments(best, request) : best, ...facts, ...received };
  });
  return caller.perform({ ...call, replyBytes: rankingBytes(documents), facts: ({ usage }) => ({ usage }) }, options);
}

/** `undefined` as soon as one is: the sum of the others would look like all. */
function sumOf(usages: readonly (Usage | undefined)[]): Usage | undefined {
  const known = usages.filter((usage) => usage !== undefined);
  if (known.length < usages.length) return undefined;
  return {
    inputTokens: known.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    outputTokens: known.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
  };
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
  const starts = Array.from(
    { length: Math.ceil(documents.length / maxDocuments) },
    (_, position) => position * maxDocuments,
  );
  const parts = starts.map(rerankFrom);
  try {
    const done = await Promise.all(parts);
    const requestId = done.find((part) => part.requestId !== undefined)?.requestId;
    const results = done.flatMap((part) => part.results).toSorted(byScore);
    return {
      results: results.slice(0, topN),
      usage: sumOf(done.map(({ usage }) => usage)),
      ...(requestId !== undefined && { requestId }),
      raw: done.map(({ raw }) => raw),
    };
  } catch (error) {
    failed.abort();
    await Promise.allSettled(parts);
    throw error;
  }
}

/** Services differ in whether and how they send documents back, so that they are taken from the request. */
function withDocuments(results: readonly RerankedDocument[], request: RerankRequest): RerankedDocument[] {
  const { documents, return_documents: wanted } = request;
  return results.map(({ index, score }) => ({ index, score, ...(wanted && { document: documents[index]! }) }));
}

function byScore(a: RerankedDocument, b: RerankedDocument): number {
  return b.score - a.score || a.index - b.index;
}

function ranked(found: ReturnType<typeof shape.read>["results"], count: number): RerankedDocument[] {
  const seen = new Set<number>();
  const read = found.map(({ index, score, document }): RerankedDocument => {
    if (index >= count) throw badReply(`a result has index ${index}, but ${count} documents were sent`);
    if (seen.has(index)) throw badReply(`two results have index ${index}`);
    if (score === undefined) throw badReply(`the result for document ${index} has no score`);
    seen.add(index);
    return { index, score, ...(document !== undefined && { document }) };
  });
  return read.toSorted(byScore);
}
