import { z } from "zod";
import { callOptions } from "../core/call-options.js";
import { optionsOf, resolve } from "../core/options.js";
import type { RerankCall, Reranker } from "../core/ports.js";
import { checkTransport, type Transport } from "../transport/transport.js";

export interface RerankerOptions {
  /** Id of the model. */
  readonly model: string;
  /** Tokens that neighbouring pieces of a long document share. 0 to 80; default: the service's, 80. */
  readonly overlapTokens?: number;
  /** Pieces a long document may be cut into; its best piece scores for it. At least 1; default: the service's, 1024. */
  readonly maxChunksPerDoc?: number;
}

const rerankerOptions = optionsOf<RerankerOptions>()({
  model: z.string().min(1),
  overlapTokens: z.int().min(0).max(80).optional(),
  maxChunksPerDoc: z.int().min(1).optional(),
});

const rerankCall = optionsOf<RerankCall>()({ ...callOptions.shape, topN: z.int().min(1).optional() });

/**
 * Ranks documents by their relevance to a query, over the transport.
 *
 * @example
 * ```ts
 * import { createTransport, rerank, reranker } from "citewell";
 * const transport = createTransport({ baseUrl: "https://api.example.com/v1", apiKey: "…" });
 * const best = rerank(reranker(transport, { model: "…" }), { topN: 6 });
 * ```
 */
export function reranker(transport: Transport, options: RerankerOptions): Reranker {
  checkTransport("reranker", transport);
  const { model, overlapTokens, maxChunksPerDoc } = resolve("reranker", rerankerOptions, options);
  return {
    model,
    ...(transport.prices[model] && { price: transport.prices[model] }),
    rerank: async (query, documents, given = {}) => {
      const { topN, ...call } = resolve("rerank", rerankCall, given);
      const request = {
        model,
        query,
        documents: [...documents],
        ...(topN !== undefined && { top_n: topN }),
        ...(overlapTokens !== undefined && { overlap_tokens: overlapTokens }),
        ...(maxChunksPerDoc !== undefined && { max_chunks_per_doc: maxChunksPerDoc }),
      };
      const { results, usage } = await transport.rerank(request, call);
      return { results: results.map(({ index, score }) => ({ index, score })), tokens: usage?.inputTokens };
    },
  };
}
