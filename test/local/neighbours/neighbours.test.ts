import { afterEach, expect, test } from "vitest";
import { startLocalService, type LocalService, type LocalServiceOptions } from "../../../src/local/service.js";
import type { RequestLog } from "../../../src/network/connections.js";
import { scriptedUpstream } from "../../support/scripted-upstream.js";
import { call, eventually } from "../call.js";
import { post } from "../conformance.js";

let service: LocalService | undefined;
afterEach(() => service?.close());

async function start(options: LocalServiceOptions = {}): Promise<LocalService> {
  service = await startLocalService(options);
  return service;
}

const chatPath = "/v1/chat/completions";
const model = "citewell/local-extractive";
const asked = "Context: Keys expire after 90 days.\n\nQuestion: When do keys expire?";
const chat = (change: object = {}) => ({ model, messages: [{ role: "user", content: asked }], ...change });

test("faults of an operation meet the neighbours' paths too, in their shape of errors", async () => {
  const target = await start({ faults: { next: [{ operation: "chat", status: 429, times: 1 }] } });
  expect(await post(target, chatPath, chat())).toMatchObject({
    status: 429,
    body: { error: { message: "Injected fault", type: "rate_limit_error", param: null, code: "rate_limit_exceeded" } },
  });
  expect((await post(target, chatPath, chat())).status).toBe(200);
});

test("what has no effect is in the log too", async () => {
  const entries: RequestLog[] = [];
  const target = await start({ log: (entry) => entries.push(entry) });
  await post(target, chatPath, chat({ logprobs: true }));
  await post(target, chatPath, chat());
  await eventually(() => expect(entries).toHaveLength(2));
  expect(entries[0]).toMatchObject({ path: chatPath, ignored: "logprobs" });
  expect(entries[1]).not.toHaveProperty("ignored");
});

test.each([
  ["citewell/local-extractive-q3", { reasoning_effort: "high" }, true, null],
  ["citewell/local-extractive-q3", { reasoning_effort: "none" }, false, null],
  ["citewell/local-extractive-q3", { reasoning_effort: "high", enable_thinking: false }, false, null],
  ["citewell/local-extractive-d", { reasoning_effort: "minimal" }, false, null],
  ["citewell/local-extractive-d", { thinking: { type: "enabled" } }, true, null],
  ["citewell/local-extractive", { reasoning_effort: "xhigh" }, true, null],
  ["citewell/local-extractive", { enable_thinking: true, min_p: 0.1 }, false, "enable_thinking, min_p"],
  ["citewell/local-extractive-s", { reasoning_effort: "low" }, false, "reasoning_effort"],
])("%s with %j thinks: %s", async (id, change, thinks, ignored) => {
  const { status, text: reply, headers } = await post(await start(), chatPath, chat({ model: id, ...change }));
  expect([status, reply.includes("reasoning_content"), headers.get("x-citewell-ignored")]).toEqual([
    200,
    thinks,
    ignored,
  ]);
});

test.each([
  [{ messages: [{ role: "critic", content: "a" }] }, "messages.0.role"],
  [{ messages: [{ role: "user", content: [{ type: "input_audio" }] }] }, "messages.0.content"],
  [{ temperature: 3 }, "temperature"],
  [{ n: 99 }, "n"],
  [{ stop: ["a", "b", "c", "d", "e"] }, "stop"],
  [{ tool_choice: "sometimes" }, "tool_choice"],
  [{ tools: [{ type: "function", function: { name: "no spaces" } }] }, "tools.0.function.name"],
  [{ response_format: { type: "yaml" } }, "response_format.type"],
])("%j cannot be carried out, and the error names %s", async (change, param) => {
  const answer = await post(await start(), chatPath, chat(change));
  expect(answer).toMatchObject({ status: 400, body: { error: { type: "invalid_request_error", param } } });
});

test("an unknown path and another method are answered in the neighbours' shape", async () => {
  const target = await start();
  expect(await call(target, "GET", "/v1/nowhere")).toMatchObject({ status: 404, body: { error: { code: null } } });
  expect(await call(target, "GET", chatPath)).toMatchObject({ status: 405, body: { error: { code: null } } });
});

test("a model's id is found with its slash as it is or encoded", async () => {
  const target = await start();
  for (const id of [model, encodeURIComponent(model)]) {
    expect(await call(target, "GET", `/v1/models/${id}`)).toMatchObject({ status: 200, body: { id: model } });
  }
  expect(await call(target, "GET", "/v1/models/a/b")).toMatchObject({
    status: 404,
    body: { error: { param: "model" } },
  });
});

test("an engine of one dimension has its vectors cut to what is asked for, and made of length 1 again", async () => {
  const target = await start({
    engines: { embedding: { embed: () => Promise.resolve([Float32Array.of(0.6, 0, 0.8)]) } },
  });
  const request = { model: "citewell/local-lexical", input: "a", dimensions: 2 };
  const { body } = await post(target, "/v1/embeddings", request);
  expect(body).toMatchObject({ data: [{ embedding: [1, 0] }] });
});

test("a forwarded chat arrives in the contract's fields", async () => {
  const upstream = await scriptedUpstream([{ json: { choices: [] } }]);
  const target = await start({ forward: { chat: { baseUrl: upstream.baseUrl } } });
  await post(target, chatPath, {
    model,
    messages: [
      { role: "developer", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "Time?" }] },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "clock", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c1", content: "noon" },
    ],
    max_completion_tokens: 7,
    stop: "x",
    seed: 1,
  });
  expect(upstream.requests.map(({ body }) => body)).toEqual([
    {
      model,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Time?" },
        { role: "assistant", content: '<tool_call>\n{"name":"clock","arguments":{}}\n</tool_call>' },
        {
          role: "user",
          content: '<tool_response>\n{"tool_call_id":"c1","name":"clock","content":"noon"}\n</tool_response>',
        },
      ],
      stream: false,
      max_tokens: 7,
      stop: ["x"],
    },
  ]);
});

test("a forwarded chat asks in words for what the contract has no field for, in at most ten messages", async () => {
  const upstream = await scriptedUpstream(() => ({ json: { choices: [] } }));
  const target = await start({ forward: { chat: { baseUrl: upstream.baseUrl } } });
  const tool = (name: string) => ({ type: "function", function: { name } });
  const tools = [tool("a"), tool("b")];
  await post(target, chatPath, chat({ tools, tool_choice: tool("b") }));
  await post(target, chatPath, chat({ tools, tool_choice: "none" }));
  const json_schema = { name: "days", schema: { type: "object" } };
  await post(target, chatPath, chat({ response_format: { type: "json_schema", json_schema } }));
  const turns = Array.from({ length: 12 }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: `${at}`,
  }));
  await post(target, chatPath, chat({ messages: [{ role: "system", content: "Be brief." }, ...turns] }));
  const [named, none, schema, long] = upstream.requests.map(({ body }) => body);
  const user = { role: "user", content: asked };
  expect(named).toMatchObject({ tools: [tool("b")], messages: [{ content: "Call the function b." }, user] });
  expect(none).not.toHaveProperty("tools");
  expect(schema).toMatchObject({
    response_format: { type: "json_object" },
    messages: [{ role: "system", content: expect.stringContaining('JSON Schema: {"type":"object"}') }, user],
  });
  const told = "<conversation_history>\nuser: 0\nassistant: 1\nuser: 2\nassistant: 3\n</conversation_history>";
  expect(long).toMatchObject({
    messages: [{ role: "system", content: "Be brief." }, { role: "user", content: told }, ...turns.slice(4)],
  });
});
