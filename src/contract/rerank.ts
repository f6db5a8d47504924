import { z } from "zod";
import type { Operation } from "./operation.js";

export const RerankRequest = z.strictObject({
  model: z.string().min(1),
  query: z.string().min(1, "must not be empty"),
  documents: z.array(z.string()).min(1, "must hold at least one document"),
  /** Results to return, best first. Default: all documents. More than there are documents means all. */
  top_n: z.int().min(1).optional(),
  /** Whether results carry the documents' text. Default: false. */
  return_documents: z.boolean().optional(),
  /** Pieces a long document may be cut into; its best piece scores for it. The service's default is 1024. */
  max_chunks_per_doc: z.int().min(1).optional(),
  /** Tokens that neighbouring pieces share. The service's default is 80, which is also the maximum. */
  overlap_tokens: z.int().min(0).max(80).optional(),
});
export type RerankRequest = z.input<typeof RerankRequest>;

const count = z.number().nullish();
const Tokens = z
  .object({ input_tokens: count, output_tokens: count, prompt_tokens: count, total_tokens: count })
  .nullish();

/** Covers both namings of the contract, and all places where services of this shape put their token counts. */
export const RerankReply = z.object({
  id: z.string().nullish(),
  results: z.array(
    z.object({
      index: z.int().min(0),
      relevance_score: z.number().nullish(),
      score: z.number().nullish(),
      document: z.union([z.string(), z.object({ text: z.string() })]).nullish(),
    }),
  ),
  tokens: Tokens,
  meta: z.object({ tokens: Tokens, billed_units: Tokens }).nullish(),
  usage: Tokens,
});

export const rerank = {
  name: "rerank",
  method: "POST",
  path: "/llm/v1/rerank",
  request: RerankRequest,
  reply: RerankReply,
  repeat: "always",
  readTimeoutMs: 120_000,
} as const satisfies Operation<typeof RerankRequest, typeof RerankReply>;
