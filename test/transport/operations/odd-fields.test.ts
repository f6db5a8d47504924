import { describe, expect, test } from "vitest";
import { collect } from "../../../src/core/stream.js";
import { chunk, failure, transportFor } from "../../support/transport-for.js";

const texts = { model: "test/embed", input: ["a", "b"] };
const documents = { model: "test/rerank", query: "q", documents: ["a", "b"] };
const ask = { model: "test/chat", messages: [{ role: "user" as const, content: "?" }] };

describe("a reply that was paid for is kept although a field beside its content is odd", () => {
  const vectors = (zero: unknown, one: unknown, more: object = {}) => ({
    data: [
      { index: zero, embedding: [0] },
      { index: one, embedding: [1] },
    ],
    ...more,
  });

  test.each([
    ["no model", vectors(0, 1, { model: null })],
    ["a model that is a number", vectors(0, 1, { model: 7 })],
    ["usage null", vectors(0, 1, { usage: null })],
    ["usage that is a text", vectors(0, 1, { usage: "none" })],
    ["counts null", vectors(0, 1, { usage: { prompt_tokens: null, total_tokens: null } })],
    ["places null", vectors(null, null)],
    ["places in text", { data: vectors("0", "1").data.toReversed() }],
  ])("vectors with %s", async (_, json) => {
    const { transport } = await transportFor([{ json }]);
    const result = await transport.embeddings(texts);
    expect(result.vectors.map(([first]) => first)).toEqual([0, 1]);
    expect(result).toMatchObject({ model: "test/embed", usage: undefined });
  });

  test.each(["x", "1.5", "-1", "", 1.5, -1, {}])("but not vectors whose place is %j", async (place) => {
    const { transport } = await transportFor([{ json: vectors(0, place) }]);
    expect(await failure(transport.embeddings(texts))).toMatchObject({ code: "reply" });
  });

  test("counts in text", async () => {
    const { transport } = await transportFor([{ json: vectors(0, 1, { usage: { prompt_tokens: "7" } }) }]);
    expect((await transport.embeddings(texts)).usage).toEqual({ inputTokens: 7, outputTokens: 0 });
  });

  test.each([
    ["scores and places in text", { results: [{ index: "1", relevance_score: "0.75" }] }],
    ["a document without text", { results: [{ index: 1, score: 0.75, document: { text: null } }] }],
    [
      "tokens, usage and meta that are no objects",
      { results: [{ index: 1, score: 0.75 }], tokens: 7, usage: [], meta: "" },
    ],
    ["an id that is a number", { id: 7, results: [{ index: 1, score: 0.75 }] }],
  ])("a ranking with %s", async (_, json) => {
    const { transport } = await transportFor([{ json }]);
    expect((await transport.rerank(documents)).results).toEqual([{ index: 1, score: 0.75 }]);
  });

  const odd = { id: 7, model: false, created: "soon", usage: { prompt_tokens: "7", completion_tokens_details: 3 } };

  test("a whole chat", async () => {
    const choices = [{ index: "0", message: { role: 1, content: "Hi" }, finish_reason: 5 }];
    const { transport } = await transportFor([{ json: { ...odd, choices } }]);
    const result = await transport.chat(ask);
    expect(result).toMatchObject({ text: "Hi", finishReason: "stop", id: "", model: "test/chat" });
    expect(result.usage).toEqual({ inputTokens: 7, outputTokens: 0 });
    expect(result).not.toHaveProperty("createdAt");
  });

  test("a streamed chat", async () => {
    const { transport } = await transportFor([
      { sse: [{ ...chunk({ content: "Hi" }), ...odd }, chunk({}, { finish_reason: "stop" }), "[DONE]"] },
    ]);
    const events = await collect(transport.chatStream(ask));
    expect(events.at(-1)).toMatchObject({ result: { text: "Hi", usage: { inputTokens: 7 } } });
  });
});

describe("what the service says of a reply is passed on", () => {
  const counts = {
    prompt_tokens: 5,
    completion_tokens: 9,
    total_tokens: 14,
    completion_tokens_details: { reasoning_tokens: 4 },
  };
  const usage = { inputTokens: 5, outputTokens: 9, totalTokens: 14, reasoningTokens: 4 };
  const createdAt = new Date("2025-12-12T03:34:35Z");
  const head = { id: "c1", created: 1_765_510_475, usage: counts };

  test("when it was made, and the tokens of the thinking and of all, whole", async () => {
    const choices = [{ index: 0, message: { content: "Hi" }, finish_reason: "stop" }];
    const { transport } = await transportFor([{ json: { ...head, choices } }]);
    expect(await transport.chat(ask)).toMatchObject({ createdAt, usage });
  });

  test("and streamed, where the first time and the last counts are valid", async () => {
    const { transport } = await transportFor([
      {
        sse: [
          { ...chunk({ content: "Hi" }, { finish_reason: "stop" }), created: head.created },
          { ...head, created: 1, choices: [] },
          "[DONE]",
        ],
      },
    ]);
    expect((await collect(transport.chatStream(ask))).at(-1)).toMatchObject({ result: { createdAt, usage } });
  });

  test("a time that no date can hold is none", async () => {
    const choices = [{ index: 0, message: { content: "Hi" }, finish_reason: "stop" }];
    const { transport } = await transportFor([{ json: { choices, created: 1e300 } }]);
    expect(await transport.chat(ask)).not.toHaveProperty("createdAt");
  });

  test("the tokens of all, of vectors and of a ranking", async () => {
    const { transport } = await transportFor([
      { json: { data: [{ embedding: [0] }, { embedding: [1] }], usage: { prompt_tokens: 2, total_tokens: 3 } } },
      { json: { results: [{ index: 0, score: 1 }], tokens: { prompt_tokens: 2, total_tokens: 3 } } },
    ]);
    expect((await transport.embeddings(texts)).usage).toEqual({ inputTokens: 2, outputTokens: 0, totalTokens: 3 });
    expect((await transport.rerank(documents)).usage).toEqual({ inputTokens: 2, outputTokens: 0, totalTokens: 3 });
  });
});
