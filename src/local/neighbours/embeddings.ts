import { randomUUID } from "node:crypto";
import type { OpenAiEmbeddingsRequest } from "../../dialects/openai-embeddings.js";
import { openAiMaxInputs } from "../../dialects/openai-embeddings.js";
import { textOfTokens } from "../../text/tokens/tokens.js";
import { invalidRequest } from "../failure/request-failure.js";
import { serveEmbeddings } from "../http/embeddings-route.js";
import type { RouteContext } from "../route.js";
import type { NeighbourReply } from "./neighbour-route.js";

/** Embeds texts, or texts that come as tokens, in batches as large as OpenAI takes. */
export async function serveOpenAiEmbeddings(
  body: OpenAiEmbeddingsRequest,
  context: RouteContext,
): Promise<NeighbourReply> {
  const { encoding_format, dimensions } = body;
  const texts = textsOf(body.input);
  const empty = texts.indexOf("");
  if (empty >= 0) throw invalidRequest(`input.${empty}: must not be empty`, "input");
  const own = context.model.dimension;
  if (dimensions && own !== undefined && dimensions > own) {
    throw invalidRequest(`dimensions: is ${dimensions}, ${context.model.id} makes at most ${own}`, "dimensions");
  }
  const reply = await serveEmbeddings(
    {
      model: body.model,
      input: texts,
      ...(encoding_format && { encoding_format }),
      ...(dimensions && { dimensions }),
    },
    { ...context, maxBatchTexts: openAiMaxInputs },
  );
  // OpenAI's replies have no id, and clients of Mistral's do not read one without it.
  return "json" in reply ? { ...reply, json: { id: `embd-${randomUUID()}`, ...(reply.json as object) } } : reply;
}

function textsOf(input: OpenAiEmbeddingsRequest["input"]): string[] {
  if (typeof input === "string") return [input];
  const isIds = (items: readonly unknown[]): items is readonly number[] => typeof items[0] === "number";
  if (isIds(input)) return [textOf(input)];
  return input.map((item) => (typeof item === "string" ? item : textOf(item)));
}

function textOf(ids: readonly number[]): string {
  const text = textOfTokens(ids);
  if (text === undefined) throw invalidRequest("input: has an id that is no token of cl100k_base", "input");
  return text;
}
