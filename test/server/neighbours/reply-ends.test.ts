import { setTimeout } from "node:timers/promises";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { collect } from "../../../src/core/stream.js";
import { begun } from "../../../src/server/neighbours/openai-answer.js";
import { embeddingReply } from "../../support/embedding-service.js";
import { served } from "../../support/served.js";
import { chunk, transportFor } from "../../support/transport-for.js";

const documents = [{ uri: "keys", title: "Keys", text: "API keys expire after 90 days. Ada renews them." }];
const question = { role: "user", content: "When do API keys expire?" } as const;

/** A server whose model says these deltas, and what was asked of it. */
async function withModel(deltas: readonly object[], reason: string, answer: object = {}) {
  const { transport, upstream } = await transportFor((request) =>
    request.path.endsWith("/embeddings")
      ? embeddingReply(request)
      : { sse: [...deltas.map((delta) => chunk(delta)), chunk({}, { finish_reason: reason }), "[DONE]"] },
  );
  const models = { embedding: "test/embed", chat: "test/chat" };
  const server = await served(documents, { ask: { answer } }, { transport, models });
  const openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "any", maxRetries: 0 });
  const limits = () =>
    upstream.requests
      .filter(({ path }) => path.endsWith("/chat/completions"))
      .map(({ body }) => (body as { readonly max_tokens: number }).max_tokens);
  return { ...server, openai, limits };
}

const said = [{ content: 'Keys expire after 90 days [1: "expire after 90 days"].' }];

describe("the tokens that a client allows", () => {
  test.each([
    [{ max_tokens: 100 }, {}, 100],
    [{ max_completion_tokens: 7, max_tokens: 100 }, {}, 7],
    [{ max_tokens: 1 }, {}, 1],
    [{ max_tokens: 100 }, { maxReplyTokens: 50 }, 50],
    [{ max_tokens: 100 }, { answerTokens: 20, thinkingTokens: 0 }, 20],
    [{ max_tokens: 1_000_000 }, { answerTokens: 300, thinkingTokens: 0 }, 300],
    [{}, { answerTokens: 300, thinkingTokens: 10 }, 310],
  ])("%j with the server's %j are at most %i of the model's", async (wanted, answer, limit) => {
    const { openai, limits } = await withModel(said, "stop", answer);
    await openai.chat.completions.create({ model: "citewell", messages: [question], ...wanted });
    expect(limits()).toEqual([limit]);
  });
});

describe("the end of a reply is the model's own:", () => {
  const reasoning = [{ reasoning_content: "Let me think about the keys." }];
  test.each([
    ["stop", said, "stop", "stop"],
    ["length", said, "length", "length"],
    ["length", reasoning, "length", undefined],
    ["content_filter", [], "content_filter", undefined],
    ["abuse", said, "stop", "other"],
  ])("%s after %j is %s", async (reason, deltas, expected, own) => {
    const { openai, events } = await withModel(deltas, reason);
    const asked = { model: "citewell", messages: [question] };
    const whole = await openai.chat.completions.create(asked);
    expect(whole.choices[0]!.finish_reason).toBe(expected);
    const reasons: unknown[] = [];
    let text = "";
    for await (const { choices } of await openai.chat.completions.create({ ...asked, stream: true })) {
      text += choices[0]?.delta.content ?? "";
      if (choices[0]?.finish_reason) reasons.push(choices[0].finish_reason);
    }
    expect(reasons).toEqual([expected]);
    expect(text).toBe(whole.choices[0]!.message.content);
    const last = (await events("/api/ask", { question: question.content })).at(-1)!;
    expect(last.type === "finish" ? last.finishReason : undefined).toBe(own);
  });
});

test("useChat is told that an answer was cut off", async () => {
  const { send } = await withModel(said, "length");
  const messages = [{ id: "m", role: "user", parts: [{ type: "text", text: question.content }] }];
  const parts = await (await send("POST", "/api/chat", { id: "chat", messages })).text();
  expect(parts).toContain('{"type":"finish","finishReason":"length"}');
});

test("a model that fails at once is an error with a status in streams, too, and not one within a stream that looks well", async () => {
  const { transport } = await transportFor((request) =>
    request.path.endsWith("/embeddings") ? embeddingReply(request) : { status: 400, json: { message: "No such luck" } },
  );
  const models = { embedding: "test/embed", chat: "test/chat" };
  const { send } = await served(documents, {}, { transport, models });
  const asked = { model: "citewell", stream: true };
  for (const [path, body] of [
    ["/v1/chat/completions", { ...asked, messages: [question] }],
    ["/v1/responses", { ...asked, input: question.content }],
  ] as const) {
    const reply = await send("POST", path, body);
    expect([path, reply.status]).toEqual([path, 502]);
    expect(((await reply.json()) as { error: { message: string } }).error.message).toContain("No such luck");
  }
});

test("a stream begins when its model is silent for long, with all its events", async () => {
  const event = (text: string) => ({ type: "text-delta", text }) as const;
  async function* slow() {
    yield { type: "retrieved" as const, passages: [] };
    await setTimeout(50);
    yield event("late");
    yield event(" but whole");
  }
  const early = await begun(slow(), 5);
  expect(await collect(early)).toEqual([{ type: "retrieved", passages: [] }, event("late"), event(" but whole")]);
});

test("tokens that the model took from its cache, and those of its thinking, reach clients of both APIs", async () => {
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 20,
    total_tokens: 120,
    prompt_tokens_details: { cached_tokens: 64 },
    completion_tokens_details: { reasoning_tokens: 7 },
  };
  const { transport } = await transportFor((request) =>
    request.path.endsWith("/embeddings")
      ? embeddingReply(request)
      : { sse: [...said.map((delta) => chunk(delta)), { ...chunk({}, { finish_reason: "stop" }), usage }, "[DONE]"] },
  );
  const { url } = await served(documents, {}, { transport, models: { embedding: "test/embed", chat: "test/chat" } });
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: "any", maxRetries: 0 });
  const whole = await openai.chat.completions.create({ model: "citewell", messages: [question] });
  expect(whole.usage).toEqual(usage);
  const { usage: ofResponse } = await openai.responses.create({ model: "citewell", input: question.content });
  expect(ofResponse).toEqual({
    input_tokens: 100,
    output_tokens: 20,
    total_tokens: 120,
    input_tokens_details: { cached_tokens: 64 },
    output_tokens_details: { reasoning_tokens: 7 },
  });
});
