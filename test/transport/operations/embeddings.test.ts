import fc from "fast-check";
import { embedder } from "../../../src/models/embedder.js";
import { describe, expect, test } from "vitest";
import type { ScriptedReply } from "../../support/scripted-upstream.js";
import { failure, transportFor, vectors } from "../../support/transport-for.js";

const request = (...input: string[]) => ({ model: "test/embed", input });
const reply = (data: readonly object[], more: object = {}): ScriptedReply => ({
  json: { object: "list", data, ...more },
});

/** Base64 the slow way: number by number, little-endian. */
function base64(numbers: readonly number[]): string {
  const view = new DataView(new ArrayBuffer(numbers.length * 4));
  for (const [index, value] of numbers.entries()) view.setFloat32(index * 4, value, true);
  return Buffer.from(view.buffer).toString("base64");
}

const float32 = fc.float({ noNaN: true, noDefaultInfinity: true });

describe("how vectors travel (M6)", () => {
  test("base64 is asked for", async () => {
    const { transport, upstream } = await transportFor([vectors(1)]);
    await transport.embeddings(request("a"));
    expect(upstream.requests[0]).toMatchObject({
      path: "/llm/v1/embeddings",
      body: { model: "test/embed", input: ["a"], encoding_format: "base64" },
    });
  });

  test("what arrives decides how it is read, and both ways agree to the bit", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc
          .integer({ min: 1, max: 40 })
          .chain((length) =>
            fc.array(fc.array(float32, { minLength: length, maxLength: length }), { minLength: 1, maxLength: 4 }),
          ),
        async (wanted) => {
          const asText = wanted.map((numbers, index) => ({ index, embedding: base64(numbers) }));
          const asNumbers = wanted.map((numbers, index) => ({ index, embedding: numbers }));
          const { transport } = await transportFor([reply(asText), reply(asNumbers)]);
          const texts = wanted.map(() => "a");
          const expected = wanted.map((numbers) => Float32Array.from(numbers, (value) => value + 0));
          for (const _ of ["base64", "float"]) {
            const { vectors: read } = await transport.embeddings(request(...texts));
            expect(read.map((vector) => [...vector].map((value) => value + 0))).toEqual(
              expected.map((vector) => [...vector]),
            );
            for (const vector of read) expect(vector.byteOffset % 4).toBe(0);
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  test("a vector owns its memory: it can be handed to a worker", async () => {
    const { transport } = await transportFor([reply([{ index: 0, embedding: base64([1, 2]) }])]);
    const {
      vectors: [vector],
    } = await transport.embeddings(request("a"));
    expect(vector!.buffer.byteLength).toBe(8);
  });

  test("a service that refuses base64 is asked for numbers, and from then on for nothing else", async () => {
    const { transport, upstream } = await transportFor(({ body }) =>
      "encoding_format" in (body as object)
        ? { status: 400, json: { code: 20015, message: "encoding_format is not supported" } }
        : vectors(1),
    );
    for (const _ of [1, 2]) expect((await transport.embeddings(request("a"))).vectors).toHaveLength(1);
    expect(upstream.requests.map(({ body }) => (body as { encoding_format?: string }).encoding_format)).toEqual([
      "base64",
      undefined,
      undefined,
    ]);
  });

  test("where base64 has worked, a refusal is about something else", async () => {
    const { transport, upstream } = await transportFor([
      vectors(1),
      { status: 400, json: { code: 20015, message: "bad" } },
    ]);
    await transport.embeddings(request("a"));
    expect(await failure(transport.embeddings(request("b")))).toMatchObject({ code: "refused", attempts: 1 });
    expect(upstream.requests).toHaveLength(2);
  });
});

describe("a reply is checked against what was asked (M8)", () => {
  test("vectors are in the order of the texts, whatever order they come in", async () => {
    const { transport } = await transportFor([
      reply([
        { index: 2, embedding: [2] },
        { index: 0, embedding: [0] },
        { index: 1, embedding: [1] },
      ]),
    ]);
    const result = await transport.embeddings(request("a", "b", "c"));
    expect(result.vectors.map(([first]) => first)).toEqual([0, 1, 2]);
  });

  test("without index, their own order holds", async () => {
    const { transport } = await transportFor([reply([{ embedding: [0] }, { embedding: [1] }])]);
    expect((await transport.embeddings(request("a", "b"))).vectors.map(([first]) => first)).toEqual([0, 1]);
  });

  test.each([
    ["too few", [{ index: 0, embedding: [1] }], /sent 2 texts, got 1 vectors/],
    ["too many", [0, 1, 2].map((index) => ({ index, embedding: [1] })), /sent 2 texts, got 3/],
    [
      "one twice",
      [
        { index: 1, embedding: [1] },
        { index: 1, embedding: [1] },
      ],
      /two vectors have index 1/,
    ],
    [
      "one of nothing sent",
      [
        { index: 0, embedding: [1] },
        { index: 2, embedding: [1] },
      ],
      /index 2, but 2 texts/,
    ],
    [
      "two lengths",
      [
        { index: 0, embedding: [1] },
        { index: 1, embedding: [1, 2] },
      ],
      /0 has 1, number 1 has 2/,
    ],
    [
      "null for a number",
      [
        { index: 0, embedding: [1] },
        { index: 1, embedding: [null] },
      ],
      /vector 1 has no finite/,
    ],
    [
      "a text for a number",
      [
        { index: 0, embedding: [1] },
        { index: 1, embedding: ["1"] },
      ],
      /vector 1 has no finite/,
    ],
    [
      "what float32 cannot hold",
      [
        { index: 0, embedding: [1e39] },
        { index: 1, embedding: [1] },
      ],
      /vector 0 has no finite/,
    ],
    [
      "NaN in base64",
      [
        { index: 0, embedding: base64([NaN]) },
        { index: 1, embedding: [1] },
      ],
      /vector 0 has no finite/,
    ],
    [
      "half a number",
      [
        { index: 0, embedding: "AAAA" },
        { index: 1, embedding: [1] },
      ],
      /vector 0 is not base64/,
    ],
    [
      "no base64",
      [
        { index: 0, embedding: "not base64!!" },
        { index: 1, embedding: [1] },
      ],
      /vector 0 is not base64/,
    ],
    [
      "empty ones",
      [
        { index: 0, embedding: [] },
        { index: 1, embedding: "" },
      ],
      /vector 0 is empty/,
    ],
    ["none at all", [{ index: 0 }, { index: 1, embedding: [1] }], /data\.0\.embedding/],
  ])("%s is refused", async (_, data, message) => {
    const { transport, upstream } = await transportFor([reply(data)]);
    const error = await failure(transport.embeddings(request("a", "b")));
    expect(error).toMatchObject({ code: "reply", operation: "embeddings", retryable: false });
    expect(String(error)).toMatch(message);
    expect(upstream.requests).toHaveLength(1);
  });
});

describe("what never leaves", () => {
  test.each([
    ["an empty text", request("a", ""), /input\.1|input/],
    ["no text", request(), /input/],
    ["a field the contract lacks", { ...request("a"), dimensions: 4 }, /dimensions/],
  ])("%s (M4, M5, M7)", async (_, bad, message) => {
    const { transport, upstream } = await transportFor([]);
    const error = await failure(transport.embeddings(bad));
    expect(error).toMatchObject({ code: "request", attempts: 0, operation: "embeddings" });
    expect(String(error)).toMatch(message);
    expect(upstream.requests).toHaveLength(0);
  });

  test("a length that the model is not known to have (M7)", async () => {
    const { transport, upstream } = await transportFor([], {
      models: [{ id: "test/embed", type: "embedding", dimensions: [2, 4] }],
    });
    const error = await failure(transport.embeddings({ ...request("a"), dimensions: 3 }));
    expect(String(error)).toMatch(/dimensions: must be one of 2, 4 for test\/embed \(got 3\)/);
    expect(upstream.requests).toHaveLength(0);
  });

  test("more than 64 MB (E11)", async () => {
    const { transport, upstream } = await transportFor([]);
    const error = await failure(transport.embeddings(request("x".repeat(64 * 1024 * 1024))));
    expect(error).toMatchObject({ code: "too-large", attempts: 0 });
    expect(upstream.requests).toHaveLength(0);
  });
});

test("a batch that is refused names the limit (M3)", async () => {
  const message = "input batch size 132 > maximum allowed batch size 64";
  const { transport } = await transportFor([{ status: 413, json: { code: 20042, message, data: null } }]);
  expect(await failure(transport.embeddings(request("a")))).toMatchObject({
    code: "too-large",
    maxBatchTexts: 64,
    serviceCode: "20042",
    attempts: 1,
  });
});

test.each([
  [
    { prompt_tokens: 7, total_tokens: 7, completion_tokens: 0 },
    { inputTokens: 7, outputTokens: 0 },
  ],
  [{ prompt_tokens: 7 }, { inputTokens: 7, outputTokens: 0 }],
  [null, undefined],
])("usage %j is read as %j; model and request id are the reply's (M9, C20)", async (usage, read) => {
  const { transport } = await transportFor([
    { ...reply([{ index: 0, embedding: [1] }], { usage, model: "test/embed-2" }), headers: { "x-request-id": "r1" } },
  ]);
  expect(await transport.embeddings(request("a"))).toMatchObject({
    usage: read,
    model: "test/embed-2",
    requestId: "r1",
    raw: { object: "list" },
  });
});

describe("a model of several lengths (M7)", () => {
  const models = [{ id: "test/embed", type: "embedding" as const, dimensions: [2, 4] }];

  test("is asked for the one that is wanted", async () => {
    const { transport, upstream } = await transportFor([vectors(1)], { models });
    const [vector] = (await transport.embeddings({ ...request("a"), dimensions: 2 })).vectors;
    expect(vector).toHaveLength(2);
    expect(upstream.requests[0]!.body).toMatchObject({ dimensions: 2 });
  });

  test("and its answer is refused where it has another", async () => {
    const { transport } = await transportFor([vectors(1)], { models });
    const error = await failure(transport.embeddings({ ...request("a"), dimensions: 4 }));
    expect(error).toMatchObject({ code: "reply", message: expect.stringContaining("of 4 numbers, got 2") as string });
  });

  test("gives an embedder the length of its option", async () => {
    const { transport, upstream } = await transportFor([vectors(1)], { models });
    await embedder(transport, { model: "test/embed", dimension: 2 }).embed(["a"]);
    expect(upstream.requests[0]!.body).toMatchObject({ dimensions: 2 });
  });
});
