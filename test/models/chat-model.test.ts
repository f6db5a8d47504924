import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { type ChatModelOptions, chatModel } from "../../src/models/chat-model.js";
import type { ChatRequest } from "../../src/core/ports.js";
import { collect } from "../../src/core/stream.js";
import { chunk, failure, streamed, transportFor } from "../support/transport-for.js";

const models = [
  { id: "q3", type: "llm" as const, family: "Q3" as const },
  { id: "d", type: "llm" as const, family: "D" as const, contextTokens: 65_536 },
  { id: "s", type: "llm" as const, family: "S" as const },
  { id: "plain", type: "llm" as const },
  { id: "see", type: "vlm" as const },
];
const ask: ChatRequest = { messages: [{ role: "user", content: "?" }] };

async function sent(options: ChatModelOptions, request: ChatRequest = ask): Promise<unknown> {
  const { transport, upstream } = await transportFor([streamed("x")], { models });
  await collect(chatModel(transport, options).stream(request));
  return upstream.requests[0]!.body;
}

describe("thinking is switched by the field of the model's family (C9, C10)", () => {
  test.each([
    ["q3", undefined, {}],
    ["q3", false, { enable_thinking: false }],
    // Settings that are a family's default are left out.
    ["q3", true, {}],
    ["q3", { budgetTokens: 256 }, { thinking_budget: 256 }],
    ["d", false, { thinking: { type: "disabled" } }],
    ["d", true, {}],
    ["s", false, {}],
    ["s", true, {}],
    ["plain", undefined, {}],
    ["plain", false, { reasoning_effort: "none" }],
    ["plain", true, { reasoning_effort: "medium" }],
    ["plain", { effort: "high" as const }, { reasoning_effort: "high" }],
  ])("%s, %j: %j", async (model, thinking, fields) => {
    const body = await sent({ model, ...(thinking !== undefined && { thinking }) });
    expect(body).toEqual({ model, ...ask, stream: true, max_tokens: 4096, ...fields });
  });

  test("a vision model has no switch, and takes its text in parts", async () => {
    expect(await sent({ model: "see", thinking: false })).toEqual({
      model: "see",
      messages: [{ role: "user", content: [{ type: "text", text: "?" }] }],
      stream: true,
      max_tokens: 2048,
    });
  });

  test.each([
    ["plain", { budgetTokens: 256 }, /budgetTokens.*Q3.*plain/],
    ["q3", { effort: "high" as const }, /effort.*q3/],
  ])("%s refuses %j where it is written", async (model, thinking, message) => {
    const { transport } = await transportFor([], { models });
    expect(() => chatModel(transport, { model, thinking })).toThrow(message);
  });
});

test("a request becomes the contract's", async () => {
  const parameters = { type: "object", properties: {} };
  const request: ChatRequest = {
    messages: [{ role: "system", content: "s" }, ...ask.messages],
    tools: [{ name: "time", description: "Tells the time", parameters }],
    maxTokens: 100,
    temperature: 0,
    stop: ["END"],
    format: "json",
  };
  expect(await sent({ model: "s", temperature: 1 }, request)).toEqual({
    model: "s",
    messages: request.messages,
    stream: true,
    max_tokens: 100,
    temperature: 0,
    stop: ["END"],
    response_format: { type: "json_object" },
    tools: [{ type: "function", function: { name: "time", description: "Tells the time", parameters } }],
  });
});

test("a reply asked to be longer than the service allows is asked for at its limit (C5)", async () => {
  expect(await sent({ model: "s" }, { ...ask, maxTokens: 99_999 })).toMatchObject({ max_tokens: 16_384 });
  expect(await sent({ model: "see" }, { ...ask, maxTokens: 99_999 })).toMatchObject({ max_tokens: 4096 });
});

test.each([
  ["d", {}, 65_536, 4096],
  ["unknown", {}, 32_768, 4096],
  ["see", {}, 32_768, 2048],
  ["d", { contextTokens: 4000, maxOutputTokens: 500 }, 4000, 500],
  ["d", { contextTokens: 4000 }, 4000, 2000],
])(
  "%s with %j has a context of %d tokens and replies of %d",
  async (model, options, contextTokens, maxOutputTokens) => {
    const { transport } = await transportFor([], { models });
    expect(chatModel(transport, { model, ...options })).toMatchObject({
      model,
      contextTokens,
      maxOutputTokens,
      maxMessages: 10,
    });
  },
);

test.each([
  [{ model: "see", maxOutputTokens: 4097 }, /4097.*4096/],
  [{ model: "s", contextTokens: 2048, maxOutputTokens: 2048 }, /2048.*2047/],
  [{ model: "s", temperature: 2.1 }, /temperature/],
])("%j is refused where it is written", async (options, message) => {
  const { transport } = await transportFor([], { models });
  expect(() => chatModel(transport, options)).toThrow(message);
});

test("the reply's events are the port's: calls whole, and one finish at the end", async () => {
  const { transport } = await transportFor([
    {
      sse: [
        chunk({ reasoning_content: "Hm." }),
        chunk({ content: "Hi" }),
        chunk({ tool_calls: [{ index: 0, id: "c1", function: { name: "time", arguments: "{" } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: "}" } }] }),
        { ...chunk({}, { finish_reason: "tool_calls" }), usage: { prompt_tokens: 3, completion_tokens: 4 } },
        "[DONE]",
      ],
    },
  ]);
  expect(await collect(chatModel(transport, { model: "m" }).stream(ask))).toEqual([
    { type: "reasoning-delta", text: "Hm." },
    { type: "text-delta", text: "Hi" },
    { type: "tool-call", id: "c1", name: "time", arguments: "{}" },
    { type: "finish", reason: "tool-calls", usage: { inputTokens: 3, outputTokens: 4 }, model: "test/chat" },
  ]);
});

test("a failing stream throws an error with the text so far", async () => {
  const { transport } = await transportFor([{ sse: [chunk({ content: "Hel" })], destroy: true }]);
  const error = await failure(collect(chatModel(transport, { model: "m" }).stream(ask)));
  expect(error).toMatchObject({ code: "truncated", partialText: "Hel" });
});

test("leaving the loop closes the connection", async () => {
  const { transport, upstream } = await transportFor([{ sse: [chunk({ content: "Hel" })], hang: true }]);
  for await (const _ of chatModel(transport, { model: "m" }).stream(ask)) break;
  expect(await upstream.requests[0]!.end).toBe("closed");
});

test("making models loads no vocabulary", async () => {
  const path = (name: string) => JSON.stringify(fileURLToPath(new URL(`../../dist/${name}.js`, import.meta.url)));
  const script = `
    import { createTransport } from ${path("transport/transport")};
    import { embedder } from ${path("models/embedder")};
    import { chatModel } from ${path("models/chat-model")};
    const transport = createTransport({ baseUrl: "http://127.0.0.1:1" });
    embedder(transport, { model: "m" });
    chatModel(transport, { model: "m" });
    console.log(process.memoryUsage().arrayBuffers / 1e6);
    const embed = embedder(transport, { model: "m", queryPrefix: "query" });
    console.log(process.memoryUsage().arrayBuffers / 1e6);`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
  const [before, after] = stdout.trim().split("\n").map(Number);
  // The vocabulary takes 5 MB of arrays and more; a prefix has to be counted and loads it.
  expect(before).toBeLessThan(1);
  expect(after! - before!).toBeGreaterThan(4);
});
