import { randomUUID } from "node:crypto";
import type { ModelInfo } from "../contract/catalogue.js";
import type { RerankRequest } from "../contract/rerank.js";
import { defaultTokens } from "../text/tokens.js";
import { tooLarge } from "./failure/refusal.js";
import type { FaultSettings } from "./faults/fault-options.js";
import { forwardRequest } from "./forward.js";
import { pauses } from "./pause.js";
import type { RouteContext, RouteReply } from "./route.js";

/** What the service does when a request leaves a field out. */
const defaults = { maxChunksPerDocument: 1024, overlapTokens: 80 };

export async function serveRerank(
  request: RerankRequest,
  model: ModelInfo,
  { engines, faults, forward, admit, signal }: RouteContext,
): Promise<RouteReply> {
  const queryTokens = defaultTokens.count(request.query);
  if (model.maxInputTokens !== undefined && queryTokens > model.maxInputTokens) {
    throw tooLarge(`query must have less than ${model.maxInputTokens} tokens`);
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
  const ranked = scores
    .map((score, index) => ({ index, score }))
    .toSorted((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, request.top_n);
  const results = ranked.map(({ index, score }) => ({
    index,
    score,
    text: request.return_documents === true ? (request.documents[index] ?? "") : undefined,
  }));
  return { json: { id: randomUUID(), ...named(faults.settings.rerank.naming, results, tokens) } };
}

interface Result {
  readonly index: number;
  readonly score: number;
  /** Of the document, where it was asked for. */
  readonly text: string | undefined;
}

/** Results and token counts under the names that the contract shows, and those that services of its shape send. */
function named(naming: FaultSettings["rerank"]["naming"], results: readonly Result[], tokens: number): object {
  const sample = { input_tokens: tokens, output_tokens: 0 };
  const described = { prompt_tokens: tokens, total_tokens: tokens };
  const each = (name: (result: Result) => object) => results.map(name);
  const textObject = (text: string | undefined) => (text === undefined ? {} : { document: { text } });
  const namings = {
    sample: () => ({
      results: each(({ index, score, text }) => ({ ...textObject(text), index, relevance_score: score })),
      tokens: sample,
    }),
    described: () => ({
      results: each(({ index, score, text }) => ({ ...(text !== undefined && { document: text }), index, score })),
      tokens: described,
    }),
    meta: () => ({
      results: each(({ index, score, text }) => ({
        document: null,
        ...textObject(text),
        index,
        relevance_score: score,
      })),
      meta: { billed_units: { ...sample, search_units: 0, classifications: 0 }, tokens: sample },
    }),
    both: () => ({
      results: each(({ index, score, text }) => ({ ...textObject(text), index, relevance_score: score, score })),
      tokens: { ...sample, ...described },
    }),
  };
  return namings[naming]();
}
