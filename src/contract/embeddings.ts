import { z } from "zod";
import type { Operation } from "./operation.js";

const Text = z.string().min(1, "must not be empty");

/** Maximum texts in one request at the public services of this shape. The contract states no number. */
export const defaultMaxBatchTexts = 32;

export const EmbeddingsRequest = z.strictObject({
  model: z.string().min(1),
  /** Each at most 8192 tokens for the model whose id ends in `m3`, 512 for all others; none empty. */
  input: z.union([Text, z.array(Text).min(1)], "must be a text, or a list of at least one"),
  /** `float` (the service's default) or `base64`: little-endian float32. */
  encoding_format: z.enum(["float", "base64"]).optional(),
  /** Beyond the contract: length of the vectors, for models that have several. */
  dimensions: z.int().min(1).optional(),
});
export type EmbeddingsRequest = z.input<typeof EmbeddingsRequest>;

/**
 * Vectors are left as they came, numbers or base64: one loop over the decoded array checks thousands of numbers about
 * eight times as fast as a schema.
 */
export const EmbeddingsReply = z.object({
  model: z.string().optional(),
  data: z.array(z.object({ index: z.int().min(0).optional(), embedding: z.unknown() })),
  usage: z.object({ prompt_tokens: z.number().optional(), total_tokens: z.number().optional() }).nullish(),
});

export const embeddings = {
  name: "embeddings",
  method: "POST",
  path: "/llm/v1/embeddings",
  request: EmbeddingsRequest,
  reply: EmbeddingsReply,
  rules: ({ dimensions }, { id, dimensions: known = [] }) => {
    if (dimensions === undefined || known.includes(dimensions)) return [];
    const message = known.length > 0 ? `must be one of ${known.join(", ")} for ${id}` : `${id} is not known to take it`;
    return [{ field: "dimensions", message, rule: "model" }];
  },
  repeat: "always",
  readTimeoutMs: 120_000,
} as const satisfies Operation<typeof EmbeddingsRequest, typeof EmbeddingsReply>;
