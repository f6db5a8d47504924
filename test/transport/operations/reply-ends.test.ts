import { describe, expect, test } from "vitest";
import { collect } from "../../../src/core/stream.js";
import { chunk, failure, transportFor } from "../../support/transport-for.js";

const ask = { model: "test/chat", messages: [{ role: "user" as const, content: "?" }] };
const words = "I cannot help with that.";

describe("a refusal is the text of the reply, and no plain answer", () => {
  const refused = { text: words, refusal: words, finishReason: "content-filter" };

  test("whole", async () => {
    const message = { role: "assistant", content: null, refusal: words };
    const { transport } = await transportFor([
      { json: { model: "m", choices: [{ index: 0, message, finish_reason: "stop" }] } },
    ]);
    expect(await transport.chat(ask)).toMatchObject(refused);
  });

  test("in parts of the content, whole and streamed", async () => {
    const part = (refusal: string) => ({ content: [{ type: "refusal", refusal }] });
    const whole = { model: "m", choices: [{ index: 0, message: part(words), finish_reason: "stop" }] };
    const pieces = [chunk(part("I cannot ")), chunk(part("help with that."))];
    const { transport } = await transportFor([
      { json: whole },
      { sse: [...pieces, chunk({}, { finish_reason: "stop" }), "[DONE]"] },
    ]);
    expect(await transport.chat(ask)).toMatchObject(refused);
    expect((await collect(transport.chatStream(ask))).at(-1)).toMatchObject({ type: "finish", result: refused });
  });

  test("streamed, beside empty content", async () => {
    const { transport } = await transportFor([
      {
        sse: [
          chunk({ role: "assistant", content: "", refusal: null }),
          chunk({ refusal: "I cannot " }),
          chunk({ refusal: "help with that." }),
          chunk({}, { finish_reason: "stop" }),
          "[DONE]",
        ],
      },
    ]);
    const events = await collect(transport.chatStream(ask));
    expect(events.slice(0, 2)).toEqual([
      { type: "text-delta", text: "I cannot " },
      { type: "text-delta", text: "help with that." },
    ]);
    expect(events.at(-1)).toMatchObject({ type: "finish", result: refused });
  });

  test("and an empty one is none", async () => {
    const message = { content: "4", refusal: "" };
    const { transport } = await transportFor([
      { json: { model: "m", choices: [{ index: 0, message, finish_reason: "stop" }] } },
    ]);
    const result = await transport.chat(ask);
    expect(result).toMatchObject({ text: "4", finishReason: "stop" });
    expect("refusal" in result).toBe(false);
  });
});

describe("a stream that says [DONE] and no reason for its end was cut", () => {
  test("in the middle of a text", async () => {
    const { transport } = await transportFor([{ sse: [chunk({ content: "Keys expire after" }), "[DONE]"] }], {
      maxRetries: 0,
    });
    expect(await failure(collect(transport.chatStream(ask)))).toMatchObject({
      code: "truncated",
      partialText: "Keys expire after",
    });
  });

  test("in one of two choices", async () => {
    const of = (index: number, more: object) => ({ id: "c", model: "m", choices: [{ index, ...more }] });
    const { transport } = await transportFor(
      [
        {
          sse: [
            of(0, { delta: { content: "a" } }),
            of(1, { delta: { content: "b" } }),
            of(0, { delta: {}, finish_reason: "stop" }),
            "[DONE]",
          ],
        },
      ],
      { maxRetries: 0 },
    );
    expect(await failure(transport.chat({ ...ask, n: 2 }))).toMatchObject({ code: "truncated" });
  });
});
