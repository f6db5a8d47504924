import { endianness } from "node:os";
import { z } from "zod";
import { type EmbeddingsReply, type EmbeddingsRequest, embeddings as operation } from "../../contract/embeddings.js";
import { callOptions } from "../../core/call-options.js";
import { TransportError } from "../../core/errors.js";
import { optionsOf, resolve } from "../../core/options.js";
import type { CallOptions } from "../../core/ports.js";
import type { Usage } from "../../core/types.js";
import type { Call, Caller } from "../calls/caller.js";
import { vectorsBytes } from "../calls/reply-size.js";
import { badReply } from "../failures/failure.js";
import { longStringsReader, readJson } from "../http/reply-json.js";
import type { TransportSettings } from "../options.js";
import { checkRequest } from "./check-request.js";
import { jsonCall } from "./json-call.js";
import { embeddingsShape as shape } from "../service-shape.js";

export interface EmbeddingsResult {
  /** One per input, in the order of the inputs; all of one length, every number finite. */
  readonly vectors: Float32Array[];
  /** The model that answered, as the service named it. */
  readonly model: string;
  /** Tokens as the service counted them; `undefined` where it reports none. */
  readonly usage: Usage | undefined;
  /** Id that the service gave the request. */
  readonly requestId?: string;
  /** The reply as it came. */
  readonly raw: unknown;
}

export interface EmbeddingsCallOptions extends CallOptions {
  /** Some services embed a question and a document differently; others ignore it. Default: `document`. */
  readonly purpose?: "document" | "query";
}

const embeddingsCallOptions = optionsOf<EmbeddingsCallOptions>()({
  ...callOptions.shape,
  purpose: z.enum(["document", "query"]).optional(),
});

/**
 * Asks for base64, where the service has it, which saves most of the work of reading a reply. A service that refuses it is asked for numbers, and
 * from then on for nothing else.
 * @internal
 */
export async function embeddings(
  caller: Caller,
  request: EmbeddingsRequest,
  given: EmbeddingsCallOptions,
): Promise<EmbeddingsResult> {
  const { purpose = "document", ...options } = resolve("embeddings", embeddingsCallOptions, given);
  const described = checkRequest(caller.serviceRequests?.embeddings ?? operation, request, caller, "embedding");
  const { dimension, dimensions = [] } = described;
  const longest = request.dimensions ?? dimension ?? (dimensions.length > 0 ? Math.max(...dimensions) : undefined);
  const { encodings, settings } = caller;
  const { model, encoding_format: asked = "base64" } = request;
  const wanted = shape.hasBase64(settings) ? asked : "float";
  const embed = (encoding: "float" | "base64") => embedCall(request, { longest, encoding, purpose }, settings);
  const ongoing = caller.open({ operation: operation.name, model }, options);
  try {
    if (wanted === "float" || encodings.get(model) === "float") {
      return await caller.attempt(embed("float"), ongoing);
    }
    try {
      const result = await caller.attempt(embed("base64"), ongoing);
      encodings.set(model, "base64");
      return result;
    } catch (error) {
      if (encodings.get(model) === "base64" || !mayRefuseBase64(error)) throw error;
      const result = await caller.attempt(embed("float"), ongoing);
      encodings.set(model, "float");
      return result;
    }
  } finally {
    caller.end(ongoing);
  }
}

/** Services answer 400 or 422 to a value that they do not take, and few name the field. */
function mayRefuseBase64(error: unknown): boolean {
  return error instanceof TransportError && error.code === "refused" && (error.status === 400 || error.status === 422);
}

const readVectors = longStringsReader("embedding");

function embedCall(
  request: EmbeddingsRequest,
  form: {
    readonly longest: number | undefined;
    readonly encoding: "float" | "base64";
    readonly purpose: "document" | "query";
  },
  settings: TransportSettings,
): Call<EmbeddingsResult> {
  const { model, input, dimensions } = request;
  const count = typeof input === "string" ? 1 : input.length;
  const parse = form.encoding === "base64" ? readVectors : readJson;
  const isShort = ({ data }: z.output<typeof EmbeddingsReply>) => data.length < count;
  const sent = { model, body: shape.body(request, form, settings), envelope: shape.envelope, isShort, parse };
  const call = jsonCall(operation, sent, (reply, received) => {
    const { items, model: answeredBy = model, usage } = shape.read(reply);
    return { vectors: vectorsOf(items, count, dimensions), model: answeredBy, usage, ...received };
  });
  return { ...call, replyBytes: vectorsBytes(count, form.longest), facts: (result) => result };
}

type Item = z.output<typeof EmbeddingsReply>["data"][number];

/** Puts the vectors in the order of the texts, and checks their number, their length and that every number is finite. */
function vectorsOf(items: readonly Item[], count: number, dimensions?: number): Float32Array[] {
  if (items.length !== count) throw badReply(`sent ${count} texts, got ${items.length} vectors`);
  const vectors: Float32Array[] = [];
  for (const [position, { index: written, embedding }] of items.entries()) {
    const index = written ?? position;
    if (index >= count) throw badReply(`a vector has index ${index}, but ${count} texts were sent`);
    if (vectors[index]) throw badReply(`two vectors have index ${index}`);
    vectors[index] = decodeVector(embedding, index);
  }
  const length = vectors[0]?.length;
  const odd = vectors.findIndex((vector) => vector.length !== length);
  if (odd !== -1) {
    const problem = `number 0 has ${length}, number ${odd} has ${vectors[odd]!.length}`;
    throw badReply(`vectors of one reply differ in length: ${problem}`);
  }
  if (dimensions !== undefined && length !== dimensions) {
    throw badReply(`asked for vectors of ${dimensions} numbers, got ${length}`);
  }
  return vectors;
}

/** Decodes what arrived, whatever was asked for: a text is base64 of little-endian float32, a list is numbers. */
function decodeVector(embedding: unknown, index: number): Float32Array {
  const refuse = (problem: string) => badReply(`vector ${index} ${problem}`);
  let vector: Float32Array | undefined;
  if (typeof embedding === "string") {
    vector = fromBase64(embedding);
    if (!vector) throw refuse("is not base64 of whole float32 numbers");
  } else if (Array.isArray(embedding)) {
    vector = new Float32Array(embedding.length);
    for (let position = 0; position < vector.length; position++) {
      const value: unknown = embedding[position];
      vector[position] = typeof value === "number" ? value : NaN;
    }
  } else throw refuse(`is ${embedding === null ? "null" : typeof embedding}, neither numbers nor base64`);
  if (vector.length === 0) throw refuse("is empty");
  // Float32 numbers never add up to more than a double holds, and an infinity or NaN stays in a sum: one check for all.
  let sum = 0;
  for (let offset = 0; offset < vector.length; offset++) sum += vector[offset]!;
  if (!Number.isFinite(sum)) {
    throw refuse(`has no finite float32 number at ${vector.findIndex((value) => !Number.isFinite(value))}`);
  }
  return vector;
}

/** Decodes straight into the vector's own memory: aligned, not pooled, and no number is copied by itself. */
function fromBase64(text: string): Float32Array | undefined {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const sizeBytes = Math.floor(((text.length - padding) * 3) / 4);
  if (sizeBytes % 4 !== 0) return undefined;
  const bytes = Buffer.allocUnsafeSlow(sizeBytes);
  if (bytes.write(text, "base64") !== sizeBytes) return undefined;
  if (endianness() === "BE") bytes.swap32();
  return new Float32Array(bytes.buffer);
}
