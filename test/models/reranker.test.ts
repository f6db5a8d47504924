import { expect, test } from "vitest";
import { reranker } from "../../src/models/reranker.js";
import { failure, transportFor } from "../support/transport-for.js";

const reply = {
  json: {
    results: [
      { index: 0, relevance_score: 0.1 },
      { index: 1, relevance_score: 0.9, document: { text: "b" } },
    ],
    tokens: { input_tokens: 7 },
  },
};

test("results are index and score, best first, with the tokens that were counted", async () => {
  const { transport } = await transportFor([reply]);
  expect(await reranker(transport, { model: "m" }).rerank("q", ["a", "b"])).toEqual({
    results: [
      { index: 1, score: 0.9 },
      { index: 0, score: 0.1 },
    ],
    tokens: 7,
  });
});

test("options go out only when they are set (R6)", async () => {
  const { transport, upstream } = await transportFor([reply, reply]);
  await reranker(transport, { model: "m" }).rerank("q", ["a", "b"]);
  await reranker(transport, { model: "m", overlapTokens: 20, maxChunksPerDoc: 4 }).rerank("q", ["a", "b"], { topN: 1 });
  const request = { model: "m", query: "q", documents: ["a", "b"] };
  expect(upstream.requests.map(({ body }) => body)).toEqual([
    request,
    { ...request, top_n: 1, overlap_tokens: 20, max_chunks_per_doc: 4 },
  ]);
});

test("no documents need no request (R4)", async () => {
  const { transport, upstream } = await transportFor([]);
  expect(await reranker(transport, { model: "m" }).rerank("q", [])).toEqual({ results: [], tokens: 0 });
  expect(upstream.requests).toHaveLength(0);
});

test("more than 80 shared tokens are refused where they are written", async () => {
  const { transport } = await transportFor([]);
  expect(() => reranker(transport, { model: "m", overlapTokens: 81 })).toThrow(/overlapTokens.*80.*got 81/);
});

test("a deadline reaches the request", async () => {
  const { transport } = await transportFor([{ hang: true }]);
  const error = await failure(reranker(transport, { model: "m" }).rerank("q", ["a"], { deadlineMs: 40 }));
  expect(error).toMatchObject({ code: "timeout", operation: "rerank" });
});
