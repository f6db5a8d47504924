import { describe, expect, test } from "vitest";
import { collect } from "../../../src/core/stream.js";
import type { ScriptedReply } from "../../support/scripted-upstream.js";
import { chunk, transportFor } from "../../support/transport-for.js";

const ask = { model: "test/chat", messages: [{ role: "user" as const, content: "?" }] };
const done = [chunk({}, { finish_reason: "tool_calls" }), "[DONE]"];

/** A call, or a piece of one, with these fields beside the function. */
const call = (name: string | undefined, written: unknown, more: object = {}) => ({
  ...more,
  type: "function",
  function: { ...(name !== undefined && { name }), arguments: written },
});

async function callsOf(reply: ScriptedReply) {
  const { transport } = await transportFor([reply], { maxRetries: 0 });
  const result = (await collect(transport.chatStream(ask))).at(-1);
  if (result?.type !== "finish") throw new Error("it did not finish");
  const { toolCalls } = result.result;
  expect(new Set(toolCalls.map(({ id }) => id)).size).toBe(toolCalls.length);
  return toolCalls.map(({ name, arguments: written }) => `${name} ${written}`);
}

const twice = ['weather {"x":1}', 'weather {"x":2}'];

describe("parallel calls stay apart", () => {
  test.each<[string, object]>([
    ["no index and no id", {}],
    ["no index and an empty id", { id: "" }],
    ["one index and no id", { index: 0 }],
    ["one index and an empty id", { index: 0, id: "" }],
    ["one index and a null id", { index: 0, id: null }],
    ["one index and the same id", { index: 0, id: "call" }],
    ["null for both", { index: null, id: null }],
  ])("in one delta with %s", async (_, more) => {
    const both = [call("weather", '{"x":1}', more), call("weather", '{"x":2}', more)];
    expect(await callsOf({ sse: [chunk({ tool_calls: both }), ...done] })).toEqual(twice);
  });

  test.each<[string, object]>([
    ["one index and no id", { index: 0 }],
    ["one index and an empty id", { index: 0, id: "" }],
    ["no index and no id", {}],
  ])("in two deltas, each whole, with %s", async (_, more) => {
    const sse = [
      chunk({ tool_calls: [call("weather", '{"x":1}', more)] }),
      chunk({ tool_calls: [call("weather", '{"x":2}', more)] }),
      ...done,
    ];
    expect(await callsOf({ sse })).toEqual(twice);
  });

  test("in a whole reply without ids", async () => {
    const message = { content: null, tool_calls: [call("weather", '{"x":1}'), call("weather", { x: 2 }, { id: "" })] };
    expect(
      await callsOf({ json: { model: "m", choices: [{ index: 0, message, finish_reason: "tool_calls" }] } }),
    ).toEqual(twice);
  });

  test("where the first has no arguments", async () => {
    const both = [call("now", "", { index: 0 }), call("today", "", { index: 0 })];
    expect(await callsOf({ sse: [chunk({ tool_calls: both }), ...done] })).toEqual(["now {}", "today {}"]);
    const one = (name: string) => chunk({ tool_calls: [call(name, "", { index: 0, id: "" })] });
    expect(await callsOf({ sse: [one("now"), one("today"), ...done] })).toEqual(["now {}", "today {}"]);
  });

  test("where the second is streamed in pieces behind the first", async () => {
    const sse = [
      chunk({ tool_calls: [call("weather", '{"x":1}', { index: 0 })] }),
      chunk({ tool_calls: [call("weather", '{"x"', { index: 0 })] }),
      chunk({ tool_calls: [call(undefined, ":2}", { index: 0 })] }),
      ...done,
    ];
    expect(await callsOf({ sse })).toEqual(twice);
  });

  test("and the pieces of one call stay together, when each repeats the name, or closes with nothing", async () => {
    const piece = (written: string) => chunk({ tool_calls: [call("weather", written, { index: 0, id: "" })] });
    expect(await callsOf({ sse: [piece(""), piece('{"x":'), piece("{}"), piece("}"), piece(""), ...done] })).toEqual([
      'weather {"x":{}}',
    ]);
  });
});

test("what a service notes on a call comes with it, whole and streamed, and may go back", async () => {
  const extra = { google: { thought_signature: "c2lnbmF0dXJl" } };
  const signed = call("weather", '{"x":1}', { id: "c1", index: 0, extra_content: extra });
  const finished = { json: { model: "m", choices: [{ index: 0, message: { tool_calls: [signed] } }] } };
  const { transport, upstream } = await transportFor(
    [finished, { sse: [chunk({ tool_calls: [signed] }), ...done] }, finished],
    { service: "openai" },
  );
  const whole = await transport.chat(ask);
  expect(whole.toolCalls[0]).toMatchObject({ name: "weather", extraContent: extra });
  const events = await collect(transport.chatStream(ask));
  expect(events.find(({ type }) => type === "tool-call")).toMatchObject({ extraContent: extra });
  await transport.chat(
    {
      ...ask,
      messages: [
        ...ask.messages,
        {
          role: "assistant",
          content: "",
          tool_calls: [
            { id: "c1", type: "function", function: { name: "weather", arguments: "{}" }, extra_content: extra },
          ],
        },
        { role: "tool", tool_call_id: "c1", content: "21" },
      ],
    },
    { toolMessages: "role-tool" },
  );
  expect(JSON.stringify(upstream.requests[2]!.body)).toContain(JSON.stringify(extra));
});

test("a call whose arguments come later, or not at all, is one", async () => {
  const begun = { index: 0, id: "one", type: "function", function: { name: "weather" } };
  const rest = call(undefined, '{"x":1}', { index: 0 });
  const without = { index: 1, id: "two", type: "function", function: { name: "time" } };
  const sse = [
    chunk({ tool_calls: [begun] }),
    chunk({ tool_calls: [rest] }),
    chunk({ tool_calls: [without] }),
    ...done,
  ];
  expect(await callsOf({ sse })).toEqual(['weather {"x":1}', "time {}"]);
});
