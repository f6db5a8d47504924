import { z } from "zod";
import { optionsOf } from "../core/options.js";
import type { Operation } from "./operation.js";
import { amount, optional, position, text } from "./reply-fields.js";

const Text = z.string().min(1, "must not be empty");

/** Maximum texts in one request at the public services of this shape. The contract states no number. */
export const defaultMaxBatchTexts = 32;

export interface EmbeddingsRequest {
  /** Id of an embedding model. */
  readonly model: string;
  /**
   * A text, or one at least; none empty. Each at most 8192 tokens for the model whose id ends in `m3`, 512 for all others, which
   * `embedder()` holds by counting. `transport.embeddings()` sends what it is given: only the service knows the exact count of
   * its model, and refuses a longer text with 413.
   */
  readonly input: string | readonly string[];
  /** `float` (the service's default) or `base64`: little-endian float32. */
  readonly encoding_format?: "float" | "base64";
  /** Beyond the contract: length of the vectors, for models that have several. */
  readonly dimensions?: number;
}

export const EmbeddingsRequest = optionsOf<EmbeddingsRequest>()({
  model: z.string().min(1),
  input: z.union([Text, z.array(Text).min(1)], "must be a text, or a list of at least one"),
  encoding_format: z.enum(["float", "base64"]).optional(),
  dimensions: z.int().min(1).optional(),
});

/**
 * Vectors are left as they came, numbers or base64: one loop over the decoded array checks thousands of numbers about
 * eight times as fast as a schema.
 * @internal
 */
export const EmbeddingsReply = z.object({
  model: text,
  data: z.array(z.object({ index: position.nullish(), embedding: z.unknown() })),
  usage: optional(z.object({ prompt_tokens: amount, total_tokens: amount })),
});

/** @internal */
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
