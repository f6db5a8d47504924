import { describe, expect, expectTypeOf, test } from "vitest";
import { embedder } from "../../src/models/embedder.js";
import type { Embedder, TokenCounter } from "../../src/core/ports.js";
import { failure, transportFor, vectors } from "../support/transport-for.js";

/** Answers each text with a vector that holds its own number: `t7` gets [7, 1]. */
const numbered = ({ body }: { readonly body: unknown }) => {
  const { input } = body as { readonly input: readonly string[] };
  const data = input.map((text, index) => ({ index, embedding: [Number(text.slice(1)), 1] }));
  return { json: { data, usage: { prompt_tokens: input.length } } };
};
const words: TokenCounter = { name: "words", count: (text) => text.split(" ").filter((word) => word !== "").length };

test("the space is the model's id, in the type too", async () => {
  const { transport } = await transportFor([]);
  const embed = embedder(transport, { model: "test/embed-m3" });
  expect(embed.space).toBe("test/embed-m3");
  expectTypeOf(embed).toEqualTypeOf<Embedder<"test/embed-m3">>();
});

test.each([
  ["test/embed-m3", {}, 8192],
  ["test/EMBED-M3", {}, 8192],
  ["test/embed", {}, 512],
  ["described", {}, 2048],
  ["test/embed", { maxInputTokens: 100 }, 100],
  ["test/embed", { queryPrefix: "find: ", documentPrefix: "a text to find: ", tokens: words }, 508],
])("the limit of %s with %j is %d tokens", async (model, options, limit) => {
  const { transport } = await transportFor([], {
    models: [{ id: "described", type: "embedding", maxInputTokens: 2048 }],
  });
  expect(embedder(transport, { model, ...options }).maxInputTokens).toBe(limit);
});

test("a prefix that leaves no room is refused", async () => {
  const { transport } = await transportFor([]);
  const options = { model: "m", maxInputTokens: 2, queryPrefix: "one two", tokens: words };
  expect(() => embedder(transport, options)).toThrow(/prefix of 2 tokens.*2 tokens/);
});

test("more texts than fit one request become several, and come back in order (M1)", async () => {
  const { transport, upstream } = await transportFor(numbered);
  const embed = embedder(transport, { model: "m", batchSize: 4 });
  expect(embed.maxBatchTexts).toBe(4);
  const texts = Array.from({ length: 10 }, (_, index) => `t${index}`);
  const { vectors: found, tokens } = await embed.embed(texts);
  expect(found.map(([first]) => first)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(tokens).toBe(10);
  expect(upstream.requests.map(({ body }) => (body as { input: string[] }).input.length)).toEqual([4, 4, 2]);
});

test("no texts need no request", async () => {
  const { transport, upstream } = await transportFor([]);
  expect(await embedder(transport, { model: "m" }).embed([])).toEqual({ vectors: [], tokens: 0 });
  expect(upstream.requests).toHaveLength(0);
});

describe("prefixes", () => {
  test.each([
    [undefined, "passage: a"],
    ["document", "passage: a"],
    ["query", "query: a"],
  ] as const)("for the purpose %s the text goes out as %j", async (purpose, sent) => {
    const { transport, upstream } = await transportFor([vectors(1)]);
    const embed = embedder(transport, { model: "m", queryPrefix: "query: ", documentPrefix: "passage: " });
    await embed.embed(["a"], purpose === undefined ? {} : { purpose });
    expect(upstream.requests[0]!.body).toEqual({ model: "m", input: [sent], encoding_format: "base64" });
  });
});

test("vectors of another length than expected are refused, with both numbers", async () => {
  const { transport } = await transportFor([vectors(1)]);
  const embed = embedder(transport, { model: "m", dimension: 1024 });
  expect(embed.dimension).toBe(1024);
  const error = await failure(embed.embed(["a"]));
  expect(error).toMatchObject({ code: "reply" });
  expect(String(error)).toMatch(/2 dimensions, 1024 were expected/);
});

test("encoding float asks for the service's default", async () => {
  const { transport, upstream } = await transportFor([vectors(1)]);
  await embedder(transport, { model: "m", encoding: "float" }).embed(["a"]);
  expect(upstream.requests[0]!.body).toEqual({ model: "m", input: ["a"] });
});

test("a signal reaches the request", async () => {
  const { transport } = await transportFor([{ hang: true }]);
  const signal = AbortSignal.timeout(40);
  expect(await failure(embedder(transport, { model: "m" }).embed(["a"], { signal }))).toBe(signal.reason);
});
