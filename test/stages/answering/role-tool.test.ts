import { expect, test } from "vitest";
import { z } from "zod";
import { chatModel } from "../../../src/models/chat-model.js";
import { answer, collectAnswer } from "../../../src/stages/answering/answer.js";
import { collect } from "../../../src/core/stream.js";
import { tool } from "../../../src/core/tool.js";
import { chunk, failure, streamed, transportFor } from "../../support/transport-for.js";
import { eventsOf, hit, retrieved } from "./scripted-model.js";

const keys = hit("Keys expire after 90 days.");
const clock = tool({ name: "clock", description: "The time", input: z.object({}), run: () => "noon" });
const models = [
  { id: "plain", type: "llm" as const },
  { id: "d", type: "llm" as const, family: "D" as const },
];
const unthinking = {
  sse: [
    chunk({ tool_calls: [{ index: 0, id: "c1", function: { name: "clock", arguments: "{}" } }] }),
    chunk({}, { finish_reason: "tool_calls" }),
    "[DONE]",
  ],
};
const calling = { sse: [chunk({ reasoning_content: "I need the time." }), ...unthinking.sse] };

test.each([
  ["plain", {}],
  // This family refuses calls that come back without their reasoning.
  ["d", { reasoning_content: "I need the time." }],
])("with role-tool, results go to %s in messages of the role tool", async (id, thought) => {
  const { transport, upstream } = await transportFor([calling, streamed("It is noon.")], { models });
  const model = chatModel(transport, { model: id, toolMessages: "role-tool" });
  const whole = await collectAnswer(await eventsOf(answer(model, { tools: [clock] }), retrieved([keys])));
  expect(whole.text).toBe("It is noon.");
  const { messages } = upstream.requests[1]!.body as { messages: unknown[] };
  expect(messages.slice(2)).toEqual([
    {
      role: "assistant",
      content: "",
      tool_calls: [{ id: "c1", type: "function", function: { name: "clock", arguments: "{}" } }],
      ...thought,
    },
    { role: "tool", tool_call_id: "c1", content: "noon" },
  ]);
});

test("what a service notes on a call, as Gemini its signature, goes back with it, at once and in later questions", async () => {
  const extra = { google: { thought_signature: "c2ln" } };
  const noted = {
    sse: [
      chunk({
        tool_calls: [{ index: 0, id: "c1", function: { name: "clock", arguments: "{}" }, extra_content: extra }],
      }),
      chunk({}, { finish_reason: "tool_calls" }),
      "[DONE]",
    ],
  };
  const { transport, upstream } = await transportFor([noted, streamed("It is noon."), streamed("Still.")], { models });
  const asking = answer(chatModel(transport, { model: "plain", toolMessages: "role-tool" }), { tools: [clock] });
  const { turn } = await collectAnswer(await eventsOf(asking, retrieved([keys])));
  await eventsOf(asking, retrieved([keys], { history: [{ role: "user", text: "What time is it?" }, turn] }));
  for (const { body } of upstream.requests.slice(1)) {
    const { messages } = body as { messages: { tool_calls?: object[] }[] };
    expect(messages.flatMap(({ tool_calls: calls = [] }) => calls)).toMatchObject([{ id: "c1", extra_content: extra }]);
  }
});

test("a refusal is an error with the model's words", async () => {
  const refused = {
    sse: [chunk({ refusal: "I cannot help with that." }), chunk({}, { finish_reason: "stop" }), "[DONE]"],
  };
  const { transport } = await transportFor([refused], { models });
  const asking = answer(chatModel(transport, { model: "plain" }));
  const events = await eventsOf(asking, retrieved([keys]));
  expect(events.at(-1)).toMatchObject({
    type: "error",
    error: {
      code: "content-filter",
      message: expect.stringContaining("refused to answer: I cannot help with that.") as string,
    },
  });
});

test("the D family gets its reasoning back even if it had none, and in later questions (section 7.2)", async () => {
  const { transport, upstream } = await transportFor([unthinking, streamed("It is noon."), streamed("Still.")], {
    models,
  });
  const asking = answer(chatModel(transport, { model: "d", toolMessages: "role-tool" }), { tools: [clock] });
  const { turn } = await collectAnswer(await eventsOf(asking, retrieved([keys])));
  const history = [{ role: "user", text: "What time is it?" } as const, turn];
  await eventsOf(asking, retrieved([keys], { history }));
  const assistants = upstream.requests
    .slice(1)
    .flatMap(({ body }) =>
      (body as { messages: { role: string; tool_calls?: unknown }[] }).messages.filter((message) => message.tool_calls),
    );
  expect(assistants).toHaveLength(2);
  for (const message of assistants) expect(message).toHaveProperty("reasoning_content", "");
});

test("without role-tool results go as text, and a message of the role tool is refused before it is sent", async () => {
  const { transport, upstream } = await transportFor([calling, streamed("It is noon.")], { models });
  const model = chatModel(transport, { model: "d" });
  await eventsOf(answer(model, { tools: [clock] }), retrieved([keys]));
  const { messages } = upstream.requests[1]!.body as { messages: { role: string }[] };
  expect(messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
  expect(JSON.stringify(messages)).not.toContain("I need the time.");

  const request = { model: "plain", messages: [{ role: "tool" as const, tool_call_id: "c1", content: "noon" }] };
  expect(await failure(transport.chat(request))).toMatchObject({ code: "request" });
  expect(await failure(collect(transport.chatStream(request)))).toMatchObject({ code: "request" });
  expect(upstream.requests).toHaveLength(2);
});
