import type { NeighbourRerankRequest, TextsRerankRequest } from "../../dialects/rerank-requests.js";
import { invalidFields } from "../failure/request-failure.js";
import { rank, type Ranking } from "../http/rerank-route.js";
import type { RouteContext } from "../route.js";
import type { NeighbourReply } from "./neighbour-route.js";

/** Cohere's first version and Jina's API, whose replies have each other's fields here. Jina's returns documents by default. */
export function serveRerankV1(body: NeighbourRerankRequest, context: RouteContext): Promise<NeighbourReply> {
  return serve({ ...body, return_documents: body.return_documents ?? true }, context, "1");
}

/** Cohere's second version. */
export function serveRerankV2(body: NeighbourRerankRequest, context: RouteContext): Promise<NeighbourReply> {
  return serve(body, context, "2");
}

async function serve(body: NeighbourRerankRequest, context: RouteContext, version: string): Promise<NeighbourReply> {
  const documents = body.documents.map((document, index) =>
    documentText(document, index, body.rank_fields ?? ["text"]),
  );
  const { top_n, max_chunks_per_doc, return_documents } = body;
  const ranking = await ranked(body.query, documents, context, {
    ...(top_n && { top_n }),
    ...(max_chunks_per_doc && { max_chunks_per_doc }),
    ...(return_documents === true && { return_documents }),
  });
  if ("response" in ranking) return ranking;
  const { id, results, tokens } = ranking;
  return {
    json: {
      id,
      model: context.model.id,
      results: results.map(({ index, score }) => ({
        index,
        relevance_score: score,
        ...(return_documents === true && { document: { text: documents[index] } }),
      })),
      meta: { api_version: { version }, billed_units: { search_units: 1 } },
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    },
  };
}

/** A text-embeddings-inference server, which answers with a bare list. */
export async function serveTextsRerank(
  { query, texts, return_text }: TextsRerankRequest,
  context: RouteContext,
): Promise<NeighbourReply> {
  const ranking = await ranked(query, texts, context, {});
  if ("response" in ranking) return ranking;
  return {
    json: ranking.results.map(({ index, score }) => ({
      index,
      score,
      ...(return_text === true && { text: texts[index] }),
    })),
  };
}

function ranked(
  query: string,
  documents: string[],
  context: RouteContext,
  wishes: object,
): Promise<Ranking | { readonly response: Response }> {
  if (query === "") throw invalidFields([{ field: "query", message: "must not be empty" }]);
  return rank({ model: context.model.id, query, documents, ...wishes }, context);
}

function documentText(
  document: NeighbourRerankRequest["documents"][number],
  index: number,
  fields: readonly string[],
): string {
  if (typeof document === "string") return document;
  const texts = fields.map((field) => document[field]).filter((value) => typeof value === "string");
  if (texts.length > 0) return texts.join("\n");
  const message = `has none of the fields to rank by as text: ${fields.join(", ")}`;
  throw invalidFields([{ field: `documents.${index}`, message }]);
}
