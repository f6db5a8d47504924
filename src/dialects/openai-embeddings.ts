import { z } from "zod";

/** Maximum inputs in one request. */
export const openAiMaxInputs = 2048;

const TokenIds = z.array(z.int().min(0)).min(1);

/** An embeddings request as clients of OpenAI's API send it: texts, or texts as tokens of cl100k_base. Null means absent. */
export const OpenAiEmbeddingsRequest = z.object({
  model: z.string(),
  input: z.union(
    [z.string(), z.array(z.string()).min(1), TokenIds, z.array(TokenIds).min(1)],
    "must be a text, a list of texts, a list of token ids, or a list of such lists",
  ),
  encoding_format: z.enum(["float", "base64"]).nullish(),
  /** Length of the vectors: the model's own or less. */
  dimensions: z.int().min(1).nullish(),
  /** Has no effect: nothing is told from one user to another. */
  user: z.string().nullish(),
});
export type OpenAiEmbeddingsRequest = z.output<typeof OpenAiEmbeddingsRequest>;
