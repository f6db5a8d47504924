import { z } from "zod";
import { optionsOf } from "../core/options.js";
import type { Operation } from "./operation.js";
import { amount, optional, position, text } from "./reply-fields.js";

export interface RerankRequest {
  /** Id of a reranking model. */
  readonly model: string;
  /** The query that the documents are ranked for; not empty. */
  readonly query: string;
  /** Texts, one at least. */
  readonly documents: readonly string[];
  /** Results to return, best first. Default: all documents. More than there are documents means all. */
  readonly top_n?: number;
  /** Whether results carry the documents' text. Default: false. */
  readonly return_documents?: boolean;
  /** Pieces a long document may be cut into; its best piece scores for it. The service's default is 1024. */
  readonly max_chunks_per_doc?: number;
  /** Tokens that neighbouring pieces share, 0 to 80. The service's default is 80. */
  readonly overlap_tokens?: number;
}

export const RerankRequest = optionsOf<RerankRequest>()({
  model: z.string().min(1),
  query: z.string().min(1, "must not be empty"),
  documents: z.array(z.string()).min(1, "must hold at least one document"),
  top_n: z.int().min(1).optional(),
  return_documents: z.boolean().optional(),
  max_chunks_per_doc: z.int().min(1).optional(),
  overlap_tokens: z.int().min(0).max(80).optional(),
});

const Tokens = optional(
  z.object({ input_tokens: amount, output_tokens: amount, prompt_tokens: amount, total_tokens: amount }),
);

/**
 * Covers both namings of the contract, and all places where services of this shape put their token counts.
 * @internal
 */
export const RerankReply = z.object({
  id: text,
  results: z.array(
    z.object({
      index: position,
      relevance_score: amount,
      score: amount,
      document: optional(z.union([z.string(), z.object({ text: z.string() })])),
    }),
  ),
  tokens: Tokens,
  meta: optional(z.object({ tokens: Tokens, billed_units: Tokens })),
  usage: Tokens,
});

/** @internal */
export const rerank = {
  name: "rerank",
  method: "POST",
  path: "/llm/v1/rerank",
  request: RerankRequest,
  reply: RerankReply,
  repeat: "always",
  readTimeoutMs: 120_000,
} as const satisfies Operation<typeof RerankRequest, typeof RerankReply>;
