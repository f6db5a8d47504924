import { describe, expect, test } from "vitest";
import { collect } from "../../../src/core/stream.js";
import { startLocalService } from "../../../src/local/service.js";
import { createTransport } from "../../../src/transport/transport.js";
import { failure, transportFor } from "../../support/transport-for.js";

const ask = { model: "test/chat", n: 3, messages: [{ role: "user" as const, content: "?" }] };
const call = (index: number, name: string) => ({ index, id: `call-${name}`, function: { name, arguments: "{}" } });

/** A chunk of a stream with one delta of one choice. */
const of = (index: number, delta: object, finish_reason: string | null = null) => ({
  id: "c1",
  choices: [{ index, delta, finish_reason }],
});

describe("a request for several replies (n) gets each that was paid for", () => {
  test("from a whole reply, in the service's order", async () => {
    const choices = [
      { index: 2, message: { content: "third" }, finish_reason: "length" },
      { index: 0, message: { content: "first", reasoning_content: "Hm." }, finish_reason: "stop" },
      { index: 1, message: { content: null, tool_calls: [call(0, "time")] }, finish_reason: "stop" },
    ];
    const { transport } = await transportFor([{ json: { choices } }]);
    const result = await transport.chat(ask);
    const first = { text: "first", reasoning: "Hm.", toolCalls: [], finishReason: "stop" };
    expect(result).toMatchObject(first);
    expect(result.choices).toEqual([
      first,
      {
        text: "",
        reasoning: "",
        toolCalls: [{ id: "call-time", name: "time", arguments: "{}" }],
        finishReason: "tool-calls",
      },
      { text: "third", reasoning: "", toolCalls: [], finishReason: "length" },
    ]);
  });

  test("from a whole reply whose choices have no index", async () => {
    const choices = ["a", "b"].map((content) => ({ message: { content }, finish_reason: "stop" }));
    const { transport } = await transportFor([{ json: { choices } }]);
    expect((await transport.chat(ask)).choices.map(({ text }) => text)).toEqual(["a", "b"]);
  });

  test("from a stream that mixes them, each event with its choice", async () => {
    const { transport } = await transportFor(
      [
        {
          sse: [
            of(1, { content: "<think>b" }),
            of(0, { content: "Hel" }),
            of(2, { tool_calls: [call(0, "date")] }),
            of(1, { content: "</think>Bon" }),
            { id: "c1", choices: [...of(0, { content: "lo" }, "stop").choices, ...of(1, { content: "jour" }).choices] },
            of(2, {}, "tool_calls"),
            of(1, {}, "length"),
          ],
        },
      ],
      { thinkTags: true },
    );
    const events = await collect(transport.chatStream(ask));
    expect(events.slice(0, -1)).toEqual([
      { type: "reasoning-delta", text: "b", choice: 1 },
      { type: "text-delta", text: "Hel" },
      { type: "tool-call-delta", index: 0, name: "date", text: "{}", choice: 2 },
      { type: "text-delta", text: "Bon", choice: 1 },
      { type: "text-delta", text: "lo" },
      { type: "text-delta", text: "jour", choice: 1 },
      { type: "tool-call", id: "call-date", name: "date", arguments: "{}", choice: 2 },
    ]);
    const last = events.at(-1);
    expect(last).toMatchObject({
      type: "finish",
      result: {
        text: "Hello",
        finishReason: "stop",
        choices: [
          { text: "Hello", finishReason: "stop" },
          { text: "Bonjour", reasoning: "b", finishReason: "length" },
          { toolCalls: [{ name: "date" }], finishReason: "tool-calls" },
        ],
      },
    });
  });

  test("and a stream that breaks off in one of them is no success", async () => {
    const { transport } = await transportFor([{ sse: [of(0, { content: "a" }, "stop"), of(1, { content: "b" })] }]);
    const error = await failure(collect(transport.chatStream(ask)));
    expect(error).toMatchObject({ code: "truncated", partialText: "a" });
  });

  test("and a service that sends one all the same gives one", async () => {
    const { transport } = await transportFor([{ json: { choices: [{ message: { content: "a" } }] } }]);
    expect((await transport.chat(ask)).choices).toEqual([
      { text: "a", reasoning: "", toolCalls: [], finishReason: "stop" },
    ]);
  });

  test("from the local service, whole and streamed", async () => {
    const service = await startLocalService();
    const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
    try {
      const model = "citewell/local-extractive";
      const whole = await transport.chat({ ...ask, model });
      const events = await collect(transport.chatStream({ ...ask, model }));
      const texts = ["", "", ""];
      for (const event of events) if (event.type === "text-delta") texts[event.choice ?? 0] += event.text;
      expect(whole.choices.map(({ text }) => text)).toEqual(texts);
      expect(texts.every((text) => text !== "")).toBe(true);
    } finally {
      await transport.close();
      await service.close();
    }
  });
});
