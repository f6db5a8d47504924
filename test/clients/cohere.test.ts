import { CohereRerank } from "@langchain/cohere";
import { CohereClient, CohereClientV2, CohereError } from "cohere-ai";
import { Document } from "@langchain/core/documents";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLocalService, type LocalService } from "../../src/local/service.js";

let service: LocalService;
beforeAll(async () => {
  service = await startLocalService();
});
afterAll(() => service.close());

const model = "citewell/local-lexical-rerank";
const query = "When do keys expire?";
const documents = ["Locks rust in the rain.", "Keys expire after 90 days.", "Doors open at nine."];
const connection = () => ({ environment: service.url, token: service.apiKey, maxRetries: 0 });

test("cohere-ai version 1 ranks texts and objects, and returns them when asked to", async () => {
  const client = new CohereClient(connection());
  const { results, meta } = await client.rerank({ query, documents, topN: 2, model, returnDocuments: true });
  expect(results).toHaveLength(2);
  expect(results[0]).toEqual({ index: 1, relevanceScore: expect.any(Number), document: { text: documents[1] } });
  expect(meta?.apiVersion?.version).toBe("1");
  const objects = documents.map((body, at) => ({ title: `${at}`, body }));
  const fields = await client.rerank({
    query,
    documents: objects,
    rankFields: ["title", "body"],
    returnDocuments: false,
  });
  expect(fields.results[0]).toEqual({ index: 1, relevanceScore: expect.any(Number) });
});

test("cohere-ai version 2 ranks texts", async () => {
  const client = new CohereClientV2(connection());
  const { results, meta } = await client.rerank({ query, documents, topN: 1, model, maxTokensPerDoc: 100 });
  expect(results).toEqual([{ index: 1, relevanceScore: expect.any(Number) }]);
  expect(meta?.apiVersion?.version).toBe("2");
});

test("cohere-ai shows what is wrong", async () => {
  const refused = new CohereClientV2(connection()).rerank({ query, documents, model: "rerank-v3.5" });
  await expect(refused).rejects.toBeInstanceOf(CohereError);
  await expect(refused).rejects.toThrow('The model \\"rerank-v3.5\\" is not published here');
});

test("@langchain/cohere orders documents", async () => {
  // It brings a version of the client of its own, whose types are not those of ours.
  const reranker = new CohereRerank({ model, topN: 2, client: new CohereClient(connection()) as never });
  const texts = documents.map((pageContent) => new Document({ pageContent }));
  const ordered = await reranker.compressDocuments(texts, query);
  expect(ordered.map(({ pageContent }) => pageContent)[0]).toBe(documents[1]);
  expect(ordered).toHaveLength(2);
  expect(await reranker.rerank(documents, query, { topN: 1 })).toEqual([
    { index: 1, relevanceScore: expect.any(Number) },
  ]);
});
