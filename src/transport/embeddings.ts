import { type EmbeddingsRequest, embeddings as operation } from "../contract/embeddings.js";
import { TransportError } from "../errors.js";
import type { CallOptions } from "../ports.js";
import type { Usage } from "../types.js";
import { requestIdOf } from "./refusal.js";
import { checkRequest, requireRequest } from "./prepare.js";
import { readReply } from "./read-reply.js";
import { longStringsReader, readJson } from "./reply-json.js";
import type { Call, Upstream } from "./upstream.js";
import { vectorsOf } from "./vectors.js";

export interface EmbeddingsResult {
  /** One per input, in the order of the inputs; all of one length, every number finite. */
  readonly vectors: Float32Array[];
  /** The model that answered, as the service named it. */
  readonly model: string;
  readonly usage: Usage;
  readonly requestId?: string;
  /** The reply as it came. */
  readonly raw: unknown;
}

/**
 * Asks for base64, which spares most of the work of reading a reply. A service that refuses it is asked for numbers,
 * and from then on for nothing else.
 */
export async function embeddings(
  upstream: Upstream,
  request: EmbeddingsRequest,
  call: CallOptions,
): Promise<EmbeddingsResult> {
  requireRequest(operation.name, request);
  checkRequest(operation, request, upstream, "embedding");
  const { model, encoding_format: wanted = "base64" } = request;
  const { encodings } = upstream;
  const scope = upstream.open({ operation, model }, call);
  try {
    if (wanted === "float" || encodings.get(model) === "float")
      return await upstream.attempt(embed(request, "float"), scope);
    try {
      const result = await upstream.attempt(embed(request, "base64"), scope);
      encodings.set(model, "base64");
      return result;
    } catch (error) {
      if (encodings.get(model) === "base64" || !mayRefuseBase64(error)) throw error;
      const result = await upstream.attempt(embed(request, "float"), scope);
      encodings.set(model, "float");
      return result;
    }
  } finally {
    upstream.end(scope);
  }
}

/** 400 and 422 are what services answer to a value that they do not take; few name the field. */
function mayRefuseBase64(error: unknown): boolean {
  return error instanceof TransportError && error.code === "refused" && (error.status === 400 || error.status === 422);
}

const readVectors = longStringsReader("embedding");

function embed({ model, input, dimensions }: EmbeddingsRequest, encoding: "float" | "base64"): Call<EmbeddingsResult> {
  const count = typeof input === "string" ? 1 : input.length;
  return {
    operation,
    model,
    body: {
      model,
      input,
      ...(encoding === "base64" && { encoding_format: encoding }),
      ...(dimensions !== undefined && { dimensions }),
    },
    accept: "application/json",
    read: async (exchange) => {
      const { reply, raw } = await readReply(operation, exchange, encoding === "base64" ? readVectors : readJson);
      const requestId = requestIdOf(exchange.headers);
      return {
        vectors: vectorsOf(reply.data, count, dimensions),
        model: reply.model ?? model,
        usage: { inputTokens: reply.usage?.prompt_tokens ?? reply.usage?.total_tokens ?? 0, outputTokens: 0 },
        ...(requestId !== undefined && { requestId }),
        raw,
      };
    },
    learned: (result) => result,
  };
}
