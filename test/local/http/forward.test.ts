import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startLocalService, type LocalService } from "../../../src/local/service.js";
import { eventData, paths, post } from "../conformance.js";

let upstream: LocalService;
let front: LocalService;
beforeAll(async () => {
  const others = [
    { id: "other/embedding", type: "embedding", dimension: 8 },
    { id: "other/rerank", type: "rerank" },
    { id: "other/chat", type: "llm" },
  ] as const;
  upstream = await startLocalService({ models: others, faults: {}, maxBatchTexts: 2 });
  const target = { baseUrl: `${upstream.url}/llm/v1/`, apiKey: upstream.apiKey };
  front = await startLocalService({
    forward: {
      embeddings: { ...target, model: "other/embedding" },
      rerank: { ...target, model: "other/rerank" },
      chat: { ...target, model: "other/chat" },
    },
  });
});
afterAll(async () => {
  await front.close();
  await upstream.close();
});

const messages = [{ role: "user", content: "Context: Keys expire after 90 days.\n\nQuestion: When do keys expire?" }];

describe("forwarding", () => {
  test("an operation is forwarded with the configured model", async () => {
    const request = { input: ["a", "b"] };
    const through = await post(front, paths.embeddings, { model: "citewell/local-lexical", ...request });
    const direct = await post(upstream, paths.embeddings, { model: "other/embedding", ...request });
    expect(through).toMatchObject({ status: 200, body: direct.body });
    const ranking = { query: "apple", documents: ["a pear", "an apple"] };
    const ranked = await post(front, paths.rerank, { model: "citewell/local-lexical-rerank", ...ranking });
    expect(ranked).toMatchObject({ status: 200, body: { results: [{ index: 1 }, { index: 0 }] } });
  });

  test("a stream is forwarded event by event, and the default for streaming is this service's", async () => {
    const { headers, text } = await post(front, paths.chat, { model: "citewell/local-extractive", messages });
    expect(headers.get("content-type")).toMatch(/^text\/event-stream/);
    expect(eventData(text).at(-1)).toBe("[DONE]");
    const contents = eventData(text)
      .slice(0, -1)
      .map((data) => JSON.parse(data) as { choices: { delta: { content?: string } }[] })
      .map(({ choices }) => choices[0]?.delta.content ?? "");
    expect(contents.join("")).toMatch(/\n\nKeys expire after 90 days\.$/);
  });

  test("a refusal of the other service is passed through unchanged", async () => {
    const answer = await post(front, paths.embeddings, { model: "citewell/local-lexical", input: ["a", "b", "c"] });
    expect(answer).toMatchObject({ status: 413, body: { message: expect.stringContaining("3 > maximum") } });
  });

  test("an invalid request never reaches the other service", async () => {
    const answer = await post(front, paths.embeddings, { model: "citewell/local-lexical", input: "" });
    expect(answer).toMatchObject({ status: 400, body: { code: 20_015 } });
  });

  test("an unreachable service gives a 502 that does not contain the key", async () => {
    const gone = await startLocalService();
    await gone.close();
    const lost = await startLocalService({ forward: { chat: { baseUrl: gone.url, apiKey: "very-secret" } } });
    try {
      const answer = await post(lost, paths.chat, { model: "citewell/local-extractive", messages });
      expect(answer).toMatchObject({ status: 502, body: { message: expect.stringContaining("ECONNREFUSED") } });
      expect(answer.text).not.toContain("very-secret");
    } finally {
      await lost.close();
    }
  });
});
