import { describe, expect, test } from "vitest";
import { createTransport } from "../../../src/transport/transport.js";
import { failure, transportFor } from "../../support/transport-for.js";

const ask = { model: "citewell/local-extractive", messages: [{ role: "user" as const, content: "?" }] };

/** Passes any value, as a JavaScript program without types may. */
const anything = (value: unknown) => value as never;

describe("a mistake in a call is told before anything is sent:", () => {
  test.each<[string, unknown, RegExp]>([
    ["a field in another spelling", { ...ask, maxTokens: 5 }, /no field "maxTokens", did you mean max_tokens/],
    ["a field of other services", { ...ask, tool_choice: "auto" }, /no field "tool_choice".*goes into extra/],
    ["no request", undefined, /the request must be an object \(got undefined\)/],
    ["a text for a request", "Hello", /the request must be an object \(got Hello\)/],
    [
      "a model for something else",
      { ...ask, model: "citewell/local-lexical-m3" },
      /model: is of type embedding, chat takes models of type llm or vlm/,
    ],
  ])("%s", async (_, request, message) => {
    const { transport, upstream } = await transportFor([]);
    const error = await failure(transport.chat(anything(request)));
    expect(error).toMatchObject({ code: "request", attempts: 0, operation: "chat" });
    expect(String(error)).toMatch(message);
    expect(upstream.requests).toHaveLength(0);
  });

  test.each<[string, unknown, RegExp]>([
    ["a deadline with a unit", { deadlineMs: "5s" }, /chat: deadlineMs: must be a number of milliseconds \(got "5s"\)/],
    ["a deadline that is no number", { deadlineMs: Number.NaN }, /deadlineMs.*NaN/],
    ["a controller for a signal", { signal: new AbortController() }, /signal: must be an AbortSignal/],
  ])("%s", async (_, call, message) => {
    const { transport, upstream } = await transportFor([]);
    const error = await failure(transport.chat(ask, anything(call)));
    expect(error).toMatchObject({ code: "options", message: expect.stringMatching(message) as string });
    expect(upstream.requests).toHaveLength(0);
  });

  test("no input for embeddings, no items for a video", async () => {
    const { transport } = await transportFor([]);
    const embed = await failure(transport.embeddings(anything({ model: "m", texts: ["a"] })));
    expect(String(embed)).toMatch(/input: must be a text, or a list of at least one; texts: the contract has no field/);
    const create = await failure(transport.createVideoTask(anything({ model: "v", content: "A cat" })));
    expect(String(create)).toMatch(/content: must be a list of items such as \{ type: "text", text \}/);
  });

  test("a transport without options", () => {
    expect(() => createTransport(anything(undefined))).toThrow(/baseUrl is missing: the address/);
  });
});

describe("an error says what to do:", () => {
  test.each<[string, object, RegExp]>([
    [
      "where listModels helps",
      { status: 400, json: { code: 20012, message: "no" } },
      /publishes for chat.*listModels\(\)/,
    ],
    [
      "where a request went astray",
      { status: 404, json: "404 page not found" },
      /the call went to \S+\/chat\/completions/,
    ],
    [
      "when a conversation is too long",
      { status: 400, json: { code: 20015, message: "length of prompt_tokens (9) must be less than max_seq_len (8)." } },
      /Shorten the messages/,
    ],
  ])("%s", async (_, reply, message) => {
    const { transport } = await transportFor([reply]);
    expect(String(await failure(transport.chat(ask)))).toMatch(message);
  });

  test("when texts are too many or too long", async () => {
    const { transport } = await transportFor([
      { status: 413, json: { code: 20042, message: "input batch size 40 > maximum allowed batch size 32" } },
      { status: 413, json: { code: 20042, message: "input must have less than 512 tokens" } },
    ]);
    const embed = () => transport.embeddings({ model: "m", input: ["a"] });
    expect(String(await failure(embed()))).toMatch(/Send at most 32 texts in a request/);
    expect(String(await failure(embed()))).toMatch(/at most 512 tokens/);
  });

  test("when no key was given", async () => {
    const { transport } = await transportFor([{ status: 401, json: "Invalid token" }], { apiKey: undefined });
    expect(String(await failure(transport.chat(ask)))).toMatch(/requires a key, and none was given.*apiKey/);
  });

  test("when an address without TLS is written with https", async () => {
    const { upstream } = await transportFor([]);
    const transport = createTransport({ baseUrl: upstream.baseUrl.replace("http:", "https:") });
    const error = await failure(transport.chat(ask));
    expect(error).toMatchObject({ code: "network", attempts: 1, retryable: false });
    expect(String(error)).toMatch(/does not speak TLS.*begins with http:\/\//);
    await transport.close();
  });

  test("when the transport was closed", async () => {
    const { transport } = await transportFor([]);
    await transport.close();
    expect(String(await failure(transport.chat(ask)))).toMatch(/this transport is closed: after close\(\)/);
  });

  test("a deadline too short to do anything is a deadline, and no budget", async () => {
    const { transport } = await transportFor([]);
    expect(await failure(transport.chat(ask, { deadlineMs: 1e-6 }))).toMatchObject({ code: "timeout", attempts: 0 });
  });
});
