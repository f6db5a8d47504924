import { describe, expect, test } from "vitest";
import { collect } from "../../../src/core/stream.js";
import { failure, streamed, transportFor } from "../../support/transport-for.js";

const texts = { model: "test/embed", input: ["a", "b"] };
const documents = { model: "test/rerank", query: "q", documents: ["a", "b"] };
const ask = { model: "test/chat", messages: [{ role: "user" as const, content: "?" }] };
const said = { code: 20021, message: "withheld by moderation" };

describe("the words of the service beside an empty reply stand in the error", () => {
  test.each([
    ["no vectors", { ...said, data: [] }, "embeddings"],
    ["too few vectors", { error: said, data: [{ index: 0, embedding: [1] }] }, "embeddings"],
    ["no results", { ...said, results: [] }, "rerank"],
    ["no choices", { ...said, choices: [] }, "chat"],
    ["no choices and an error object", { error: said, choices: [] }, "chat"],
  ] as const)("with %s", async (_, json, operation) => {
    const { transport } = await transportFor([{ json }]);
    const calls = {
      embeddings: () => transport.embeddings(texts),
      rerank: () => transport.rerank(documents),
      chat: () => transport.chat(ask),
    };
    const error = await failure(calls[operation]());
    expect(error).toMatchObject({ code: "refused", serviceCode: "20021", status: 200 });
    expect(String(error)).toContain("withheld by moderation");
  });

  test("also where they came in a stream, before its counts", async () => {
    const usage = { choices: [], usage: { prompt_tokens: 3 } };
    const { transport } = await transportFor([{ sse: [{ choices: [], ...said }, usage, "[DONE]"] }]);
    const error = await failure(collect(transport.chatStream(ask)));
    expect(error).toMatchObject({ code: "refused", serviceCode: "20021" });
    expect(String(error)).toContain("withheld by moderation");
  });

  test("and decide whether it is asked for again", async () => {
    const busy = { sse: [{ choices: [], code: 50505, message: "busy" }, "[DONE]"] };
    const { transport, upstream } = await transportFor([busy, streamed("Hi")]);
    expect((await collect(transport.chatStream(ask))).at(-1)).toMatchObject({ result: { text: "Hi" } });
    expect(upstream.requests).toHaveLength(2);
  });
});

test("a code and a message of success are no error", async () => {
  const { transport } = await transportFor([
    { json: { code: 0, message: "success", results: [] } },
    { json: { code: 200, message: "fine", data: [] } },
  ]);
  expect((await transport.rerank(documents)).results).toEqual([]);
  expect(String(await failure(transport.embeddings(texts)))).toContain("sent 2 texts, got 0 vectors");
});
