import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { failure, transportFor } from "../../support/transport-for.js";

const request = { model: "test/rerank", query: "q", documents: ["a", "b", "c"] };
const scored = (...scores: readonly number[]) => scores.map((score, index) => ({ index, relevance_score: score }));

describe("every naming is read (R1, R2)", () => {
  test.each([
    [
      "sample",
      {
        results: [{ index: 0, relevance_score: 0.9, document: { text: "a" } }],
        tokens: { input_tokens: 7, output_tokens: 1 },
      },
      "a",
    ],
    [
      "described",
      { results: [{ index: 0, score: 0.9, document: "a" }], tokens: { prompt_tokens: 7, total_tokens: 7 } },
      "a",
    ],
    [
      "live",
      { results: [{ index: 0, relevance_score: 0.9, document: null }], meta: { tokens: { input_tokens: 7 } } },
      undefined,
    ],
    [
      "billed",
      { results: [{ index: 0, relevance_score: 0.9 }], meta: { billed_units: { input_tokens: 7 } } },
      undefined,
    ],
    ["usage", { results: [{ index: 0, relevance_score: 0.9 }], usage: { total_tokens: 7 } }, undefined],
  ])("%s", async (_, json, document) => {
    const { transport } = await transportFor([{ json: { id: "r1", ...json } }]);
    const result = await transport.rerank({ ...request, return_documents: true });
    expect(result.results).toEqual([{ index: 0, score: 0.9, ...(document !== undefined && { document }) }]);
    expect(result).toMatchObject({ usage: { inputTokens: 7 }, requestId: "r1" });
  });

  test("a bare list", async () => {
    const { transport } = await transportFor([{ json: [{ index: 1, score: 0.2 }] }]);
    expect((await transport.rerank(request)).results).toEqual([{ index: 1, score: 0.2 }]);
  });
});

describe("what is sent (R3, R4, R6)", () => {
  test.each([
    [{ top_n: 99 }, { top_n: 3 }],
    [{ top_n: 2 }, { top_n: 2 }],
    [{}, {}],
    [{ return_documents: false, max_chunks_per_doc: 1024, overlap_tokens: 80 }, {}],
    [
      { return_documents: true, max_chunks_per_doc: 8, overlap_tokens: 0 },
      { return_documents: true, max_chunks_per_doc: 8, overlap_tokens: 0 },
    ],
  ])("%j is sent as %j", async (asked, sent) => {
    const { transport, upstream } = await transportFor([{ json: { results: scored(1, 2, 3) } }]);
    await transport.rerank({ ...request, ...asked });
    expect(upstream.requests[0]).toMatchObject({ path: "/llm/v1/rerank" });
    expect(upstream.requests[0]!.body).toEqual({ ...request, ...sent });
  });

  test("no documents: no results and no call", async () => {
    const { transport, upstream } = await transportFor([]);
    expect((await transport.rerank({ ...request, documents: [] })).results).toEqual([]);
    expect(upstream.requests).toHaveLength(0);
  });

  test("top_n below 1 is refused before it is sent", async () => {
    const { transport, upstream } = await transportFor([]);
    expect(String(await failure(transport.rerank({ ...request, top_n: 0 })))).toMatch(/top_n.*0/);
    expect(upstream.requests).toHaveLength(0);
  });
});

describe("results are ours to order (R7, R8)", () => {
  test("by falling score of any scale, ties by index, for any order they come in", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc
          .array(fc.integer({ min: -9, max: 9 }), { minLength: 1, maxLength: 8 })
          .chain((scores) =>
            fc.tuple(fc.constant(scores), fc.shuffledSubarray(scored(...scores), { minLength: scores.length })),
          ),
        async ([scores, shuffled]) => {
          const { transport } = await transportFor([{ json: { results: shuffled } }]);
          const { results } = await transport.rerank({ ...request, documents: scores.map(String) });
          const expected = scores.map((score, index) => ({ index, score }));
          for (let done = false; !done;) {
            done = true;
            for (let at = 1; at < expected.length; at++) {
              if (expected[at]!.score > expected[at - 1]!.score) {
                [expected[at - 1], expected[at]] = [expected[at]!, expected[at - 1]!];
                done = false;
              }
            }
          }
          expect(results).toEqual(expected);
        },
      ),
      { numRuns: 25 },
    );
  });

  test("no more than were asked for", async () => {
    const { transport } = await transportFor([{ json: { results: scored(1, 3, 2) } }]);
    expect((await transport.rerank({ ...request, top_n: 2 })).results.map(({ index }) => index)).toEqual([1, 2]);
  });

  test.each([
    ["an index beyond the documents", [{ index: 3, score: 1 }], /index 3, but 3 documents/],
    ["an index below 0", [{ index: -1, score: 1 }], /results\.0\.index/],
    [
      "an index twice",
      [
        { index: 1, score: 1 },
        { index: 1, score: 2 },
      ],
      /two results have index 1/,
    ],
    ["no score", [{ index: 1 }], /document 1 has no score/],
  ])("%s is refused", async (_, results, message) => {
    const { transport } = await transportFor([{ json: { results } }]);
    const error = await failure(transport.rerank(request));
    expect(error).toMatchObject({ code: "reply", operation: "rerank" });
    expect(String(error)).toMatch(message);
  });
});

test("an entity that is too large comes with status 200 and is an error (E4)", async () => {
  const { transport } = await transportFor([{ json: { code: 20042, message: "entity too large", data: null } }]);
  expect(await failure(transport.rerank(request))).toMatchObject({
    code: "too-large",
    serviceCode: "20042",
    status: 200,
  });
});
