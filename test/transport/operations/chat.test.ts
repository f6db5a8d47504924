import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { collect } from "../../../src/core/stream.js";
import type { ChatStreamEvent } from "../../../src/transport/operations/chat-result.js";
import type { ScriptedReply } from "../../support/scripted-upstream.js";
import { chunk, failure, streamed, transportFor } from "../../support/transport-for.js";

const ask = { model: "test/chat", messages: [{ role: "user" as const, content: "?" }] };
const whole = (message: object, more: object = {}): ScriptedReply => ({
  json: { id: "r1", model: "test/chat-2", choices: [{ index: 0, message, finish_reason: "stop", ...more }] },
});

async function read(reply: ScriptedReply, request: object = {}): Promise<ChatStreamEvent[]> {
  const { transport } = await transportFor([reply], { maxRetries: 0 });
  return collect(transport.chatStream({ ...ask, ...request }));
}

function resultOf(events: readonly ChatStreamEvent[]) {
  const last = events.at(-1);
  if (last?.type !== "finish") throw new Error("it did not finish");
  return last.result;
}

describe("what is sent", () => {
  test.each([
    ["chat", false],
    ["chatStream", true],
  ] as const)("%s always says stream and max_tokens (C1, C5)", async (method, stream) => {
    const { transport, upstream } = await transportFor([stream ? streamed("x") : whole({ content: "x" })]);
    if (method === "chat") await transport.chat(ask);
    else await collect(transport.chatStream(ask));
    expect(upstream.requests[0]).toMatchObject({
      method: "POST",
      path: "/llm/v1/chat/completions",
      body: { ...ask, stream, max_tokens: 4096 },
    });
  });

  test("a vision model gets 2048 (C5)", async () => {
    const { transport, upstream } = await transportFor([whole({ content: "x" })]);
    await transport.chat({ model: "test/see", messages: [{ role: "user", content: [{ type: "text", text: "?" }] }] });
    expect(upstream.requests[0]!.body).toMatchObject({ max_tokens: 2048 });
  });

  test("what the service does anyway is left out, all else goes out as it is (V17)", async () => {
    const { transport, upstream } = await transportFor([whole({ content: "x" })]);
    const defaults = { temperature: 0.7, top_p: 0.7, top_k: 50, frequency_penalty: 0.5, n: 1, stop: null };
    await transport.chat({
      ...ask,
      ...defaults,
      response_format: { type: "text" },
      presence_penalty: 0.5,
      max_tokens: 512,
    });
    expect(upstream.requests[0]!.body).toEqual({ ...ask, stream: false, max_tokens: 512, presence_penalty: 0.5 });
  });

  test("one stop sequence becomes a list (C16)", async () => {
    const { transport, upstream } = await transportFor([whole({ content: "x" })]);
    await transport.chat({ ...ask, stop: "END" });
    expect(upstream.requests[0]!.body).toMatchObject({ stop: ["END"] });
  });
});

describe("a streamed reply (C2, C3, C20)", () => {
  const order: ScriptedReply = {
    sse: [
      chunk({ role: "assistant", content: null, reasoning_content: null }),
      chunk({ content: null, reasoning_content: "Hm." }),
      chunk({ content: "Hel", reasoning_content: null }, { finish_reason: null }),
      { ...chunk({ content: "lo" }), usage: { prompt_tokens: 5, completion_tokens: 1 } },
      chunk({ tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "time", arguments: "{" } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: "}" } }] }),
      chunk({}, { finish_reason: "tool_calls" }),
      {
        id: "c1",
        model: "test/chat",
        choices: [],
        usage: { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 },
      },
      { id: "c1", choices: [], usage: null },
      "[DONE]",
      "not JSON, but behind the end",
    ],
    headers: { "x-request-id": "req-1" },
  };

  test("tells what comes as it comes, and ends once, with all of it", async () => {
    const events = await read(order);
    expect(events.map(({ type }) => type)).toEqual([
      "reasoning-delta",
      "text-delta",
      "text-delta",
      "tool-call-delta",
      "tool-call-delta",
      "tool-call",
      "finish",
    ]);
    expect(resultOf(events)).toMatchObject({
      text: "Hello",
      reasoning: "Hm.",
      toolCalls: [{ id: "c1", name: "time", arguments: "{}" }],
      finishReason: "tool-calls",
      // The last report counts, never the sum.
      usage: { inputTokens: 5, outputTokens: 9 },
      model: "test/chat",
      id: "c1",
      requestId: "req-1",
    });
  });

  test("is the same wherever its bytes break", async () => {
    const expected = await read(order);
    const bytes = Buffer.from(
      `: hi\r\n\r\n${order.sse!.map((item) => `data: ${typeof item === "string" ? item : JSON.stringify(item)}\r\n\r\n`).join("")}`,
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 }), async (places) => {
        const cuts = [...new Set(places)].toSorted((a, b) => a - b);
        const chunks = [0, ...cuts].map((from, index) => bytes.subarray(from, cuts[index] ?? bytes.length));
        expect(await read({ chunks, headers: order.headers! })).toEqual(expected);
      }),
      { numRuns: 25 },
    );
  });

  test.each([
    ["no delta", { id: "x", choices: [{ index: 0 }] }],
    ["no choices", { id: "x" }],
    ["a second choice", { id: "x", choices: [{ index: 1, delta: { content: "other" } }] }],
  ])("may hold a chunk with %s", async (_, odd) => {
    const events = await read({ sse: [odd, chunk({ content: "Hi" }), chunk({}, { finish_reason: "stop" }), "[DONE]"] });
    expect(resultOf(events).text).toBe("Hi");
  });

  test("needs no [DONE] when it said why it ended", async () => {
    expect(resultOf(await read({ sse: [chunk({ content: "Hi" }, { finish_reason: "stop" })] })).finishReason).toBe(
      "stop",
    );
  });

  test("uses its connection again when it was read to the end", async () => {
    const { transport, upstream } = await transportFor([streamed("a"), streamed("b")]);
    await collect(transport.chatStream(ask));
    expect(await upstream.requests[0]!.end).toBe("finished");
    // The client's pool takes a turn of the event loop to have the connection back.
    await sleep(20);
    await collect(transport.chatStream(ask));
    expect(upstream.connections).toBe(1);
  });
});

test.each([
  ["stop", "stop"],
  ["eos", "stop"],
  ["length", "length"],
  ["tool_calls", "tool-calls"],
  ["function_call", "tool-calls"],
  ["content_filter", "content-filter"],
  ["something_new", "other"],
])("the end %s is %s (C4)", async (written, reason) => {
  expect(resultOf(await read({ sse: [chunk({ content: "x" }, { finish_reason: written })] })).finishReason).toBe(
    reason,
  );
});

test("an end that is not known is kept as it was written (C4)", async () => {
  const { raw } = resultOf(await read({ sse: [chunk({ content: "x" }, { finish_reason: "something_new" })] }));
  expect(raw).toMatchObject({ choices: [{ finish_reason: "something_new" }] });
});

test.each(["insufficient_system_resource", "error"])("the end %s is an error, with what had come (C4)", async (end) => {
  const error = await failure(read({ sse: [chunk({ content: "Hel" }), chunk({}, { finish_reason: end }), "[DONE]"] }));
  expect(error).toMatchObject({ code: "upstream", retryable: true, partialText: "Hel" });
});

test("stop with tool calls means tool calls (C4)", async () => {
  const call = { index: 0, id: "c1", function: { name: "time", arguments: "{}" } };
  const events = await read({ sse: [chunk({ tool_calls: [call] }, { finish_reason: "stop" })] });
  expect(resultOf(events).finishReason).toBe("tool-calls");
});

describe("a stream that fails says so, with what had come (§4)", () => {
  test.each([
    ["an error object", { error: { message: "boom", code: "x" } }],
    ["an object that is an error", { object: "error", message: "boom", code: 500 }],
    ["code and message", { code: 50505, message: "boom" }],
    ["an error beside choices", { ...chunk({}, { finish_reason: "error" }), error: { message: "boom" } }],
  ])("as %s", async (_, broken) => {
    const error = await failure(read({ sse: [chunk({ content: "Hel" }), broken, chunk({ content: "lo" }), "[DONE]"] }));
    expect(error).toMatchObject({ name: "TransportError", partialText: "Hel", operation: "chat" });
    expect(String(error)).toContain("boom");
  });

  test("as an error event, JSON or not", async () => {
    const start = `data: ${JSON.stringify(chunk({ content: "Hel" }))}\n\n`;
    for (const data of ['{"message":"boom"}', "boom"]) {
      const error = await failure(read({ chunks: [start, `event: error\ndata: ${data}\n\n`] }));
      expect(error).toMatchObject({ name: "TransportError", partialText: "Hel" });
      expect(String(error)).toContain("boom");
    }
  });

  test.each([
    ["between two chunks", [`data: ${JSON.stringify(chunk({ content: "Hel" }))}\n\n`]],
    ["in the middle of one", [`data: ${JSON.stringify(chunk({ content: "Hel" }))}\n\ndata: {"choices":[{"del`]],
  ])("when it ends %s", async (_, chunks) => {
    for (const destroy of [false, true]) {
      expect(await failure(read({ chunks, destroy }))).toMatchObject({ code: "truncated", partialText: "Hel" });
    }
  });

  test("when a line is not JSON", async () => {
    const error = await failure(read({ chunks: ["data: {oops}\n\n", "data: [DONE]\n\n"] }));
    expect(error).toMatchObject({ code: "reply", partialText: "" });
  });

  test("when it ends without a word", async () => {
    expect(await failure(read({ sse: ["[DONE]"] }))).toMatchObject({ code: "reply" });
    expect(await failure(read({ chunks: [": nothing\n\n"] }))).toMatchObject({ code: "truncated" });
  });
});

describe("the reply that was not asked for is read all the same (C1)", () => {
  const message = {
    role: "assistant",
    content: "Hello",
    reasoning_content: "Hm.",
    tool_calls: [{ id: "c1", type: "function", function: { name: "time", arguments: "{}" } }],
  };

  test("JSON instead of a stream becomes events", async () => {
    const events = await read(whole(message));
    expect(events.map(({ type }) => type)).toEqual([
      "reasoning-delta",
      "text-delta",
      "tool-call-delta",
      "tool-call",
      "finish",
    ]);
    expect(resultOf(events)).toMatchObject({ text: "Hello", reasoning: "Hm.", model: "test/chat-2", id: "r1" });
  });

  test.each(["text/event-stream", "text/plain"])("a stream (%s) instead of JSON is put together", async (type) => {
    const { transport } = await transportFor([{ ...streamed("Hel", "lo"), headers: { "content-type": type } }]);
    expect(await transport.chat(ask)).toMatchObject({ text: "Hello", finishReason: "stop", id: "c1" });
  });
});

describe("a whole reply", () => {
  test("content may be null beside tool calls (C17)", async () => {
    const call = { id: "c1", function: { name: "time", arguments: "{}" } };
    const { transport } = await transportFor([whole({ content: null, tool_calls: [call] })]);
    expect(await transport.chat(ask)).toMatchObject({
      text: "",
      toolCalls: [{ id: "c1", name: "time", arguments: "{}" }],
      finishReason: "tool-calls",
    });
  });

  test("may begin with empty lines, which services send to keep the connection", async () => {
    const { transport } = await transportFor([{ text: `\n\n\r\n${JSON.stringify(whole({ content: "Hi" }).json)}` }]);
    expect((await transport.chat(ask)).text).toBe("Hi");
  });

  test("with status 200 but an error in it is an error (E4)", async () => {
    const { transport } = await transportFor([{ json: { code: 20015, message: "bad value", data: null } }]);
    expect(await failure(transport.chat(ask))).toMatchObject({ code: "refused", serviceCode: "20015", status: 200 });
  });

  test.each([
    ["no JSON", { text: "<html>welcome</html>" }],
    ["nothing", { text: "" }],
    ["another shape", { json: { hello: "world" } }],
    ["no choice", { json: { choices: [] } }],
  ])("that is %s is refused", async (_, reply) => {
    const { transport } = await transportFor([reply]);
    expect(await failure(transport.chat(ask))).toMatchObject({ code: "reply", attempts: 1, retryable: false });
  });
});
