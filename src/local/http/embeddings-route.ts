import { endianness } from "node:os";
import { embeddingTokenLimit } from "../../contract/catalogue.js";
import type { EmbeddingsRequest } from "../../contract/embeddings.js";
import { defaultTokens } from "../../text/tokens/tokens.js";
import { pauses } from "../engines/pause.js";
import { RequestFailure } from "../failure/request-failure.js";
import { forwardRequest } from "./forward.js";
import type { ModelContext, RouteReply } from "../route.js";

/** Length of vectors where the catalogue names none. */
const defaultDimension = 1024;

export async function serveEmbeddings(
  request: EmbeddingsRequest,
  { model, engines, maxBatchTexts, faults, forward, admit, signal }: ModelContext,
): Promise<RouteReply> {
  const texts = typeof request.input === "string" ? [request.input] : request.input;
  const disturbed = faults.settings.embeddings;
  const most = disturbed.maxBatchTexts ?? maxBatchTexts;
  if (texts.length > most) {
    throw new RequestFailure("too-large", `input batch size ${texts.length} > maximum allowed batch size ${most}`);
  }
  const limit = model.maxInputTokens ?? embeddingTokenLimit(model.id);
  const pause = pauses(signal);
  let tokens = 0;
  for (const text of texts) {
    const count = defaultTokens.count(text);
    if (count > limit) throw new RequestFailure("too-large", `input must have at most ${limit} tokens`);
    tokens += count;
    await pause();
  }
  admit(model.id, tokens);
  if (forward.embeddings) {
    return { response: await forwardRequest("embeddings", forward.embeddings, request, signal) };
  }
  const dimension = request.dimensions ?? model.dimension ?? defaultDimension;
  const vectors = await engines.embedding.embed(texts, { model, dimension, signal });
  const encode =
    request.encoding_format === "base64" && !disturbed.alwaysFloat
      ? base64
      : (vector: Float32Array) => Array.from(vector);
  const data = vectors
    .slice(0, Math.max(0, vectors.length - disturbed.missingVectors))
    .map((vector) => shortened(vector, dimension))
    .map((vector) => vector.subarray(0, Math.max(0, vector.length - disturbed.missingNumbers)))
    .map((vector, index) => ({ object: "embedding", embedding: encode(vector), index }));
  return {
    json: {
      object: "list",
      model: model.id,
      data: disturbed.shuffle ? data.toReversed() : data,
      usage: { prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens },
    },
  };
}

/** The beginning of a vector, brought back to length 1, where an engine knows one dimension only. */
function shortened(vector: Float32Array, dimension: number): Float32Array {
  if (vector.length <= dimension) return vector;
  const start = vector.slice(0, dimension);
  const length = Math.sqrt(start.reduce((sum, value) => sum + value * value, 0));
  return length === 0 ? start : start.map((value) => value / length);
}

/** Little-endian float32, no header. */
function base64(vector: Float32Array): string {
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
  return (endianness() === "LE" ? bytes : Buffer.from(bytes).swap32()).toString("base64");
}
