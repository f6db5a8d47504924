import { randomUUID } from "node:crypto";
import type { CohereEmbedRequest } from "../../dialects/cohere-requests.js";
import { openAiMaxInputs } from "../../dialects/openai-embeddings.js";
import { invalidRequest } from "../failure/request-failure.js";
import { serveEmbeddings } from "../http/embeddings-route.js";
import type { RouteContext } from "../route.js";
import type { NeighbourReply } from "./neighbour-route.js";

interface Embedded {
  readonly data: readonly { readonly index: number; readonly embedding: readonly number[] | string }[];
  readonly usage?: { readonly prompt_tokens?: number };
}

/** Embeds texts for clients of Cohere's second version, once for each form in which they want the numbers. */
export async function serveCohereEmbed(body: CohereEmbedRequest, context: RouteContext): Promise<NeighbourReply> {
  const texts = textsOf(body);
  const types = new Set(body.embedding_types ?? (["float"] as const));
  const embeddings: Record<string, readonly unknown[]> = {};
  let tokens = 0;
  for (const type of types) {
    const reply = await serveEmbeddings(
      {
        model: body.model,
        input: texts,
        encoding_format: type,
        ...(body.output_dimension && { dimensions: body.output_dimension }),
      },
      { ...context, maxBatchTexts: openAiMaxInputs },
    );
    if ("events" in reply) throw new Error("Vectors do not come as events");
    if ("response" in reply && !reply.response.ok) return reply;
    const { data, usage } = ("json" in reply ? reply.json : await reply.response.json()) as Embedded;
    embeddings[type] = data.toSorted((one, other) => one.index - other.index).map(({ embedding }) => embedding);
    tokens = usage?.prompt_tokens ?? tokens;
  }
  return {
    json: {
      id: randomUUID(),
      embeddings,
      texts,
      meta: { api_version: { version: "2" }, billed_units: { input_tokens: tokens } },
      response_type: "embeddings_by_type",
    },
  };
}

function textsOf({ texts, inputs }: CohereEmbedRequest): string[] {
  const given = [...(texts ?? []), ...(inputs ?? []).map(({ content }) => content.map(({ text }) => text).join("\n"))];
  if (given.length === 0) throw invalidRequest("texts: is required; pictures are not embedded here", "texts");
  const empty = given.indexOf("");
  if (empty >= 0) throw invalidRequest(`texts.${empty}: must not be empty`, "texts");
  return given;
}
