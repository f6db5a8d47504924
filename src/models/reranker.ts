import { z } from "zod";
import { resolve } from "../core/options.js";
import type { Reranker } from "../core/ports.js";
import type { Transport } from "../transport/transport.js";

export const RerankerOptions = z.strictObject({
  model: z.string().min(1),
  /** Tokens that neighbouring pieces of a long document share. 0 to 80; default: the service's, 80. */
  overlapTokens: z.int().min(0).max(80).optional(),
  /** Pieces a long document may be cut into; its best piece scores for it. At least 1; default: the service's, 1024. */
  maxChunksPerDoc: z.int().min(1).optional(),
});
export type RerankerOptions = z.input<typeof RerankerOptions>;

/** Ranks documents by their relevance to a query, over the transport. */
export function reranker(transport: Transport, options: RerankerOptions): Reranker {
  const { model, overlapTokens, maxChunksPerDoc } = resolve("reranker", RerankerOptions, options);
  return {
    model,
    ...(transport.prices[model] && { price: transport.prices[model] }),
    rerank: async (query, documents, { topN, ...call } = {}) => {
      const request = {
        model,
        query,
        documents: [...documents],
        ...(topN !== undefined && { top_n: topN }),
        ...(overlapTokens !== undefined && { overlap_tokens: overlapTokens }),
        ...(maxChunksPerDoc !== undefined && { max_chunks_per_doc: maxChunksPerDoc }),
      };
      const { results, usage } = await transport.rerank(request, call);
      return { results: results.map(({ index, score }) => ({ index, score })), tokens: usage.inputTokens };
    },
  };
}
