import { randomUUID } from "node:crypto";
import type { ModelInfo } from "../contract/catalogue.js";
import type { RerankRequest } from "../contract/rerank.js";
import { defaultTokens } from "../text/tokens.js";
import { pauses } from "./pause.js";
import { tooLarge } from "./refusal.js";
import type { RouteContext, RouteReply } from "./route.js";

/** What the service does when a request leaves a field out. */
const defaults = { maxChunksPerDocument: 1024, overlapTokens: 80 };

export async function serveRerank(
  request: RerankRequest,
  model: ModelInfo,
  { engines, signal }: RouteContext,
): Promise<RouteReply> {
  const queryTokens = defaultTokens.count(request.query);
  if (model.maxInputTokens !== undefined && queryTokens > model.maxInputTokens) {
    throw tooLarge(`query must have less than ${model.maxInputTokens} tokens`);
  }
  const scores = await engines.rerank.score(request.query, request.documents, {
    model,
    signal,
    maxChunksPerDocument: request.max_chunks_per_doc ?? defaults.maxChunksPerDocument,
    overlapTokens: request.overlap_tokens ?? defaults.overlapTokens,
  });
  const pause = pauses(signal);
  let tokens = queryTokens;
  for (const document of request.documents) {
    tokens += defaultTokens.count(document);
    await pause();
  }
  const ranked = scores
    .map((score, index) => ({ index, score }))
    .toSorted((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, request.top_n);
  return {
    json: {
      id: randomUUID(),
      results: ranked.map(({ index, score }) => ({
        ...(request.return_documents === true && { document: { text: request.documents[index] } }),
        index,
        relevance_score: score,
      })),
      tokens: { input_tokens: tokens, output_tokens: 0 },
    },
  };
}
