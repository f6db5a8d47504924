import { afterAll, beforeAll, expect, test } from "vitest";
import { startLocalService, type LocalService } from "../../../src/local/service.js";
import { post } from "../conformance.js";

let service: LocalService;
beforeAll(async () => {
  service = await startLocalService();
});
afterAll(() => service.close());

const query = "When do keys expire?";
const texts = ["Locks rust in the rain.", "Keys expire after 90 days."];
const model = "citewell/local-lexical-rerank";
const score = expect.any(Number) as number;

test("Cohere's first version takes documents as objects, and needs no model", async () => {
  const documents = [{ text: texts[0] }, { title: "Keys", body: "They expire after 90 days.", text: "none" }, texts[1]];
  const { status, body } = await post(service, "/v1/rerank", {
    query,
    documents,
    rank_fields: ["title", "body", "text"],
    return_documents: false,
    model: null,
  });
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      id: expect.any(String),
      model,
      results: [
        { index: expect.any(Number), relevance_score: score },
        { index: expect.any(Number), relevance_score: score },
        { index: 0, relevance_score: score },
      ],
      meta: { api_version: { version: "1" }, billed_units: { search_units: 1 } },
      usage: { prompt_tokens: expect.any(Number), total_tokens: expect.any(Number) },
    },
  });
  const nothing = await post(service, "/v1/rerank", { query, documents: [{ title: "Keys" }] });
  expect(nothing).toMatchObject({ status: 400, body: { error: { param: "documents.0" } } });
});

test("Jina's API returns the documents unless told not to, and Cohere's second version when told to", async () => {
  const request = { model, query, documents: texts, top_n: 1 };
  const first = { index: 1, relevance_score: score };
  const withText = { ...first, document: { text: texts[1] } };
  expect((await post(service, "/v1/rerank", request)).body).toMatchObject({ results: [withText] });
  const second = await post(service, "/v2/rerank", { ...request, max_tokens_per_doc: 100 });
  expect(second.body).toMatchObject({ results: [first], meta: { api_version: { version: "2" } } });
  expect(second.text).not.toContain("document");
  expect(second.headers.get("x-citewell-ignored")).toBe("max_tokens_per_doc");
  const told = await post(service, "/v2/rerank", { ...request, return_documents: true });
  expect(told.body).toMatchObject({ results: [withText] });
});

test("text-embeddings-inference answers with a bare list", async () => {
  const request = { query, texts, raw_scores: false, truncate: true };
  const plain = await post(service, "/rerank", request);
  expect(plain.body).toEqual([
    { index: 1, score },
    { index: 0, score },
  ]);
  expect(plain.headers.get("x-citewell-ignored")).toBe("raw_scores, truncate");
  const told = await post(service, "/rerank", { ...request, return_text: true });
  expect(told.body).toMatchObject([{ text: texts[1] }, { text: texts[0] }]);
});

test.each([
  ["/v1/rerank", { query, documents: [] }, 400, "documents"],
  ["/v2/rerank", { query: "", documents: texts }, 400, "query"],
  ["/v2/rerank", { query, documents: texts, model: "rerank-v3.5" }, 404, "model"],
  ["/rerank", { query }, 400, "texts"],
])("%s refuses %j with the field and a sentence", async (path, body, status, param) => {
  const message = expect.stringMatching(/\w+ \w+/);
  expect(await post(service, path, body)).toMatchObject({ status, body: { error: { message, param } } });
});
