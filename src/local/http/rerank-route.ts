import { randomUUID } from "node:crypto";
import type { RerankRequest } from "../../contract/rerank.js";
import { defaultTokens } from "../../text/tokens/tokens.js";
import { RequestFailure } from "../failure/request-failure.js";
import type { FaultSettings } from "../faults/faults.js";
import { forwardRequest } from "./forward.js";
import { pauses } from "../engines/pause.js";
import type { ModelContext, RouteReply } from "../route.js";

/** Values of the fields that a request leaves out. */
const defaults = { maxChunksPerDocument: 1024, overlapTokens: 80 };

export async function serveRerank(request: RerankRequest, context: ModelContext): Promise<RouteReply> {
  const ranking = await rank(request, context);
  if ("response" in ranking) return ranking;
  const { id, results, tokens } = ranking;
  const documents = request.return_documents === true ? request.documents : [];
  return { json: { id, ...named(context.faults.settings.rerank.naming, results, documents, tokens) } };
}

/** Documents in order of relevance, before they are written in the shape that the caller reads. */
export interface Ranking {
  readonly id: string;
  readonly results: readonly Result[];
  /** Tokens of query and documents. */
  readonly tokens: number;
}

/** Ranks documents by their scores; or has another service answer, when the operation is forwarded. */
export async function rank(
  request: RerankRequest,
  { model, engines, forward, admit, signal }: ModelContext,
): Promise<Ranking | { readonly response: Response }> {
  const queryTokens = defaultTokens.count(request.query);
  if (model.maxInputTokens !== undefined && queryTokens > model.maxInputTokens) {
    throw new RequestFailure("too-large", `query must have at most ${model.maxInputTokens} tokens`);
  }
  const pause = pauses(signal);
  let tokens = queryTokens;
  for (const document of request.documents) {
    tokens += defaultTokens.count(document);
    await pause();
  }
  admit(model.id, tokens);
  if (forward.rerank) return { response: await forwardRequest("rerank", forward.rerank, request, signal) };
  const scores = await engines.rerank.score(request.query, request.documents, {
    model,
    signal,
    maxChunksPerDocument: request.max_chunks_per_doc ?? defaults.maxChunksPerDocument,
    overlapTokens: request.overlap_tokens ?? defaults.overlapTokens,
  });
  const results = scores
    .map((score, index) => ({ index, score }))
    .toSorted((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, request.top_n);
  return { id: randomUUID(), results, tokens };
}

interface Result {
  readonly index: number;
  readonly score: number;
}

/**
 * Results and token counts under the names that the contract shows, and those that services of its shape send.
 *
 * @param documents to be returned with the results; empty when not requested
 */
function named(
  naming: FaultSettings["rerank"]["naming"],
  ranked: readonly Result[],
  documents: readonly string[],
  tokens: number,
): object {
  const sample = { input_tokens: tokens, output_tokens: 0 };
  const described = { prompt_tokens: tokens, total_tokens: tokens };
  const results = ranked.map(({ index, score }) => {
    const text = documents[index];
    return {
      ...(naming === "meta" && { document: null }),
      ...(text !== undefined && { document: naming === "described" ? text : { text } }),
      index,
      ...(naming !== "described" && { relevance_score: score }),
      ...((naming === "described" || naming === "both") && { score }),
    };
  });
  if (naming === "meta") {
    return { results, meta: { billed_units: { ...sample, search_units: 0, classifications: 0 }, tokens: sample } };
  }
  return { results, tokens: { ...(naming !== "described" && sample), ...(naming !== "sample" && described) } };
}
