import { describe, expect, test } from "vitest";
import { localDefaults } from "../../src/contract/catalogue.js";
import { chatModel } from "../../src/models/chat-model.js";
import { embedder } from "../../src/models/embedder.js";
import { reranker } from "../../src/models/reranker.js";
import { collect } from "../../src/core/stream.js";
import { createTransport } from "../../src/transport/transport.js";
import { localUpstream } from "../support/local-upstream.js";
import { failure } from "../support/transport-for.js";

// Client and server know the contract and not each other: where they agree, both have read it alike.
const local = localUpstream();

describe("the local service and the transport read the contract alike", () => {
  test("base64 and float give the same vectors, of the catalogue's dimension (M6)", async () => {
    const texts = ["How do I rotate a key?", "怎样轮换密钥？"];
    const [asText, asNumbers] = await Promise.all(
      (["base64", "float"] as const).map((encoding) =>
        embedder(local.transport, { model: localDefaults.embedding, encoding }).embed(texts),
      ),
    );
    expect(asText!.vectors).toEqual(asNumbers!.vectors);
    expect(asText!.vectors.map(({ length }) => length)).toEqual([1024, 1024]);
    expect(asText!.tokens).toBeGreaterThan(0);
  });

  test("the document that is about the query comes first (R1, R7)", async () => {
    const documents = ["Bread is baked at 220 degrees.", "Rotate a key every 90 days."];
    const { results } = await reranker(local.transport, { model: localDefaults.rerank }).rerank(
      "rotate a key",
      documents,
    );
    expect(results.map(({ index }) => index)).toEqual([1, 0]);
  });

  test.each(["citewell/local-extractive", "citewell/local-extractive-q3", "citewell/local-extractive-d"])(
    "%s answers whole and streamed with the same text, thinking off (C2, C9)",
    async (model) => {
      const messages = [{ role: "user" as const, content: "Say: rotate a key every 90 days." }];
      const whole = await local.transport.chat({ model, messages });
      const events = await collect(chatModel(local.transport, { model, thinking: false }).stream({ messages }));
      const text = events.map((event) => (event.type === "text-delta" ? event.text : "")).join("");
      expect(text).toBe(whole.text);
      expect(text).not.toBe("");
      expect(events.at(-1)).toMatchObject({ type: "finish", reason: "stop", model });
    },
  );

  test("a model that is not published (E2)", async () => {
    const error = await failure(local.transport.embeddings({ model: "nobody/knows", input: ["a"] }));
    expect(error).toMatchObject({ code: "unsupported-model", attempts: 1 });
  });

  test("a key of another data center (E9)", async () => {
    const stranger = createTransport({ baseUrl: local.transport.baseUrl, apiKey: "sk-elsewhere" });
    const error = await failure(stranger.embeddings({ model: localDefaults.embedding, input: ["a"] }));
    expect(error).toMatchObject({ code: "unauthorized", status: 401 });
    await stranger.close();
  });

  test("too many and too long inputs are told apart, with their limits (M2, M3)", async () => {
    const model = "citewell/local-lexical";
    const many = await failure(local.transport.embeddings({ model, input: Array.from({ length: 33 }, () => "a") }));
    expect(many).toMatchObject({ code: "too-large", maxBatchTexts: 32 });
    const long = await failure(local.transport.embeddings({ model, input: ["word ".repeat(600)] }));
    expect(long).toMatchObject({ code: "too-large", maxInputTokens: 512 });
  });
});
