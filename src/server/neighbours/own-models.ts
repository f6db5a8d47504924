import { randomUUID } from "node:crypto";
import { OpenAiEmbeddingsRequest, openAiMaxInputs } from "../../dialects/openai-embeddings.js";
import { NeighbourRerankRequest } from "../../dialects/rerank-requests.js";
import { resolve } from "../../core/options.js";
import type { Embedder, Reranker } from "../../core/ports.js";
import { textOfTokens } from "../../text/tokens/tokens.js";
import type { RouteContext } from "../api/route.js";
import { Refusal } from "../guard/refusal.js";

/** `POST /v1/embeddings`: vectors as those of the documents are made. */
export async function serveEmbeddings(body: unknown, context: RouteContext): Promise<Response> {
  const request = resolve("embeddings", OpenAiEmbeddingsRequest, body as never);
  const { embedder } = context.kb;
  requireOwn(request.model, embedder.space);
  const texts = textsOf(request.input);
  checkTexts(texts, embedder);
  const requireDimension = (dimension: number) => {
    if ((request.dimensions ?? dimension) === dimension) return;
    throw invalid(`dimensions: the vectors of ${embedder.space} have ${dimension} numbers: leave it out`);
  };
  // Some embedders know it from their first vector on.
  if (embedder.dimension !== undefined) requireDimension(embedder.dimension);
  const release = context.answers.admit();
  try {
    const { signal } = context.request;
    const vectors: Float32Array[] = [];
    let tokens = 0;
    for (let start = 0; start < texts.length; start += embedder.maxBatchTexts) {
      const batch = texts.slice(start, start + embedder.maxBatchTexts);
      const made = await embedder.embed(batch, { signal });
      vectors.push(...made.vectors);
      tokens += made.tokens ?? countIn(batch, embedder);
    }
    context.spent(tokens);
    requireDimension(vectors[0]!.length);
    const isBase64 = request.encoding_format === "base64";
    return Response.json({
      id: `embd-${randomUUID()}`,
      object: "list",
      model: embedder.space,
      data: vectors.map((vector, index) => ({
        object: "embedding",
        index,
        embedding: isBase64 ? base64Of(vector) : Array.from(vector),
      })),
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    });
  } finally {
    release();
  }
}

/** `POST /v1/rerank`, in the shape of Cohere's first version and Jina's API. */
export async function serveRerank(body: unknown, context: RouteContext): Promise<Response> {
  const request = resolve("rerank", NeighbourRerankRequest, body as never);
  const { reranker } = context.kb;
  if (!reranker) throw new Refusal(404, "model_not_found", "This collection has no reranker");
  if (typeof request.model === "string") requireOwn(request.model, reranker.model);
  const documents = request.documents.map((document, index) => textOf(document, index, request));
  const { query, top_n: topN, return_documents: returns = true } = request;
  if (query === "") throw invalid("query: must not be empty");
  const release = context.answers.admit();
  try {
    const { results, tokens } = await reranker.rerank(query, documents, {
      signal: context.request.signal,
      ...(typeof topN === "number" && { topN }),
    });
    const counted = tokens ?? countIn([query, ...documents], context.kb.embedder);
    context.spent(counted);
    return Response.json({
      id: randomUUID(),
      model: reranker.model,
      results: results.slice(0, topN ?? undefined).map(({ index, score }) => ({
        index,
        relevance_score: score,
        ...(returns !== false && { document: { text: documents[index] } }),
      })),
      usage: { prompt_tokens: counted, total_tokens: counted },
    });
  } finally {
    release();
  }
}

/** Ids of the models that are shared. */
export function sharedModels({
  embedder,
  reranker,
}: {
  readonly embedder: Embedder;
  readonly reranker: Reranker | undefined;
}): string[] {
  return [embedder.space, ...(reranker ? [reranker.model] : [])];
}

function requireOwn(asked: string, own: string): void {
  if (asked === own) return;
  throw new Refusal(404, "model_not_found", `The model ${JSON.stringify(asked)} is not served here: ask for "${own}"`);
}

function invalid(message: string): Refusal {
  return new Refusal(400, "options", message);
}

function textsOf(input: OpenAiEmbeddingsRequest["input"]): readonly string[] {
  if (typeof input === "string") return [input];
  if (typeof input[0] === "number") return [decoded(input as readonly number[])];
  return (input as readonly (string | readonly number[])[]).map((item) =>
    typeof item === "string" ? item : decoded(item),
  );
}

function decoded(ids: readonly number[]): string {
  const text = textOfTokens(ids);
  if (text === undefined) throw invalid("input: has an id that is no token of cl100k_base");
  return text;
}

function checkTexts(texts: readonly string[], { tokens, maxInputTokens }: Embedder): void {
  if (texts.length > openAiMaxInputs) throw invalid(`input: has ${texts.length} texts, at most ${openAiMaxInputs}`);
  for (const [index, text] of texts.entries()) {
    if (text === "") throw invalid(`input.${index}: must not be empty`);
    const count = tokens.count(text);
    if (count > maxInputTokens) {
      const message = `input.${index}: has ${count} tokens, and the model takes ${maxInputTokens}`;
      throw new Refusal(400, "context_length_exceeded", message);
    }
  }
}

function countIn(texts: readonly string[], { tokens }: Embedder): number {
  return texts.reduce((sum, text) => sum + tokens.count(text), 0);
}

function base64Of({ buffer, byteOffset, byteLength }: Float32Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

function textOf(
  document: NeighbourRerankRequest["documents"][number],
  index: number,
  { rank_fields: fields }: NeighbourRerankRequest,
): string {
  if (typeof document === "string") return document;
  const texts = (fields ?? ["text"]).map((field) => document[field]).filter((value) => typeof value === "string");
  if (texts.length === 0) throw invalid(`documents.${index}: has no text to rank by`);
  return texts.join("\n");
}
