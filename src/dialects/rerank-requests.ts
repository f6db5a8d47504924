import { z } from "zod";

const Document = z.union([z.string(), z.record(z.string(), z.unknown())], "must be a string or an object with fields");

/**
 * A rerank request as clients of Cohere's two versions and of Jina's API send it; the same path takes all three. Null means
 * absent.
 */
export const NeighbourRerankRequest = z.object({
  /** Default: the first reranker that is published. */
  model: z.string().nullish(),
  query: z.string(),
  documents: z.array(Document).min(1),
  top_n: z.int().min(1).nullish(),
  /** Fields of documents that are objects, to be read one after the other. Default: `text`. */
  rank_fields: z.array(z.string()).nullish(),
  /** Default: Jina's in its version 1 path, true; Cohere's in version 2, false. */
  return_documents: z.boolean().nullish(),
  max_chunks_per_doc: z.int().min(1).nullish(),
});
export type NeighbourRerankRequest = z.output<typeof NeighbourRerankRequest>;

/** A rerank request of a text-embeddings-inference server, which knows one model. */
export const TextsRerankRequest = z.object({
  model: z.string().nullish(),
  query: z.string(),
  texts: z.array(z.string()).min(1),
  return_text: z.boolean().nullish(),
});
export type TextsRerankRequest = z.output<typeof TextsRerankRequest>;
