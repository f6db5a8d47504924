import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { modelInfo } from "../../../src/contract/catalogue.js";
import { operations } from "../../../src/contract/operations.js";
import { violations } from "../../../src/contract/operation.js";
import { collect } from "../../../src/core/stream.js";
import { type Transport, createTransport } from "../../../src/transport/transport.js";
import { failure, transportFor } from "../../support/transport-for.js";
import { catVideo } from "../../support/video-task.js";

const models = [
  { id: "q3", type: "llm", family: "Q3" },
  { id: "d", type: "llm", family: "D" },
  { id: "s", type: "llm", family: "S" },
  { id: "plain", type: "llm" },
  { id: "see", type: "vlm" },
] as const;
const message = { role: "user" as const, content: "?" };
const parts = { role: "user" as const, content: [{ type: "text" as const, text: "?" }] };

const chatTakes = (fields: object, model: string = "q3") => {
  const info = modelInfo(models, model, "llm");
  const request = { model, messages: [info.type === "vlm" ? parts : message], ...fields };
  return violations(operations.chat, request, info).length === 0;
};
const tool = (name: string) => ({ type: "function", function: { name } });

describe("numbers are taken exactly within their bounds (C6, C13)", () => {
  test.each([
    ["temperature", 0, 2],
    ["frequency_penalty", -2, 2],
    ["presence_penalty", -2, 2],
    ["min_p", 0, 1],
  ])("%s from %d to %d", (field, least, most) => {
    fc.assert(
      fc.property(
        fc.oneof(fc.double({ min: least - 1, max: most + 1, noNaN: true }), fc.constantFrom(least, most)),
        (value) => {
          expect(chatTakes({ [field]: value })).toBe(value >= least && value <= most);
        },
      ),
    );
  });

  test.each([
    ["max_tokens", 1, 16_384, "q3"],
    ["max_tokens", 1, 4096, "see"],
    ["thinking_budget", 1, 32_768, "q3"],
  ])("%s from %d to %d for %s, whole numbers only", (field, least, most, model) => {
    for (const [value, taken] of [
      [least, true],
      [least - 1, false],
      [most, true],
      [most + 1, false],
      [least + 0.5, false],
    ] as const) {
      expect(chatTakes({ [field]: value }, model)).toBe(taken);
    }
  });

  test.each([
    ["top_p", 0, false],
    ["top_p", Number.MIN_VALUE, true],
    ["top_p", 1, true],
    ["top_p", 1.01, false],
    ["top_k", -1, true],
    ["top_k", 0, false],
    ["top_k", 1, true],
    ["top_k", 100, true],
    ["top_k", 101, false],
    ["n", 1, true],
    ["n", 0, false],
    ["stop", [], false],
    ["stop", ["a"], true],
    ["stop", ["a", "b", "c", "d"], true],
    ["stop", ["a", "b", "c", "d", "e"], false],
    ["stop", [""], false],
    ["messages", [], false],
    ["messages", Array.from({ length: 10 }, () => message), true],
    ["messages", Array.from({ length: 11 }, () => message), false],
    ["messages", [{ role: "tool", content: "x" }], false],
    ["tools", Array.from({ length: 128 }, (_, index) => tool(`t${index}`)), true],
    ["tools", Array.from({ length: 129 }, (_, index) => tool(`t${index}`)), false],
    ["tools", [tool("a".repeat(64))], true],
    ["tools", [tool("a".repeat(65))], false],
    ["tools", [tool("a.b")], false],
    ["response_format", { type: "json_object" }, true],
    ["response_format", { type: "json_schema" }, false],
    ["tool_choice", "auto", false],
  ])("%s %j: %s", (field, value, taken) => {
    expect(chatTakes({ [field]: value })).toBe(taken);
  });
});

test("tools are for text models alone (§8)", () => {
  expect(chatTakes({ tools: [tool("time")] }, "plain")).toBe(true);
  expect(chatTakes({ tools: [tool("time")] }, "see")).toBe(false);
});

describe("fields of one family are for that family (C10)", () => {
  const fields = {
    enable_thinking: false,
    thinking_budget: 128,
    min_p: 0.1,
    thinking: { type: "disabled" },
    reasoning_effort: "none",
  };
  const takers: Readonly<Record<string, readonly string[]>> = {
    enable_thinking: ["q3"],
    thinking_budget: ["q3"],
    min_p: ["q3"],
    thinking: ["d"],
    reasoning_effort: ["plain"],
  };
  for (const [field, value] of Object.entries(fields)) {
    for (const { id } of models) {
      const taken = takers[field]!.includes(id);
      test(`${field} is ${taken ? "taken" : "refused"} for ${id}`, () => {
        expect(chatTakes({ [field]: value }, id)).toBe(taken);
      });
    }
  }

  test("for a model nobody described, the refusal says how to describe it", async () => {
    const { transport } = await transportFor([]);
    const error = await failure(transport.chat({ model: "new", messages: [message], enable_thinking: false }));
    expect(String(error)).toContain("createTransport({ models })");
  });
});

test.each([
  ["overlap_tokens", 80, true],
  ["overlap_tokens", 81, false],
  ["overlap_tokens", -1, false],
  ["max_chunks_per_doc", 1, true],
  ["max_chunks_per_doc", 0, false],
])("rerank: %s %d: %s", (field, value, taken) => {
  const info = modelInfo([], "r", "rerank");
  const request = { model: "r", query: "q", documents: ["d"], [field]: value };
  expect(violations(operations.rerank, request, info).length === 0).toBe(taken);
});

test("a refusal names field, value and bound, for all that is wrong at once, and nothing is sent", async () => {
  const { transport, upstream } = await transportFor([]);
  const error = await failure(transport.chat({ model: "m", messages: [message], temperature: 3, max_tokens: 0 }));
  expect(error).toMatchObject({ code: "request", operation: "chat", attempts: 0 });
  expect(String(error)).toMatch(/max_tokens.*1.*got 0/);
  expect(String(error)).toMatch(/temperature.*2.*got 3/);
  expect(upstream.requests).toHaveLength(0);
});

test.each([
  [{ concurrency: 0 }, /concurrency.*got 0/],
  [{ retries: 1 }, /retries/],
  [{ paths: { chat: "chat" } }, /paths\.chat/],
  [{ dispatcher: {} }, /dispatcher/],
  [{ models: [{ id: "x", type: "lm" }] }, /models\.0\.type/],
])("the option %j is refused by name", (options, message_) => {
  const create = () => createTransport({ baseUrl: "http://host", ...(options as object) });
  expect(create).toThrow(expect.objectContaining({ code: "options" }));
  expect(create).toThrow(message_);
});

test("paths lead to services that name them differently", async () => {
  const { transport, upstream } = await transportFor([{ json: { results: [] } }], { paths: { rerank: "/v2/rerank" } });
  await transport.rerank({ model: "m", query: "q", documents: ["d"] });
  expect(upstream.requests[0]!.path).toBe("/v2/rerank");
});

describe("an option that a call does not have is refused by name, and nothing is sent:", () => {
  const ask = { model: "m", messages: [{ role: "user" as const, content: "?" }] };
  const options: object = { timeoutMs: 5 };
  test.each<[string, (transport: Transport) => Promise<unknown>]>([
    ["embeddings", (transport) => transport.embeddings({ model: "m", input: "a" }, options)],
    ["rerank", (transport) => transport.rerank({ model: "m", query: "q", documents: ["d"] }, options)],
    ["chat", (transport) => transport.chat(ask, options)],
    ["chatStream", (transport) => collect(transport.chatStream(ask, options))],
    ["createVideoTask", (transport) => transport.createVideoTask(catVideo, options)],
    ["waitForVideo", (transport) => transport.waitForVideo("cgt-1", options)],
    ["listModels", (transport) => transport.listModels(options)],
  ])("%s", async (name, call) => {
    const { transport, upstream } = await transportFor([]);
    const error = await failure(call(transport));
    expect(error).toMatchObject({ code: "options", call: name, option: "timeoutMs" });
    expect(String(error)).toContain(`${name}: there is no option "timeoutMs"`);
    expect(upstream.requests).toHaveLength(0);
  });
});

test("a request without a model, or with another thing in its place, is refused before it is sent", async () => {
  for (const model of [undefined, null, 7, { id: "m" }, ["m"], ""]) {
    const { transport, upstream } = await transportFor([]);
    const calls = [
      transport.embeddings({ model, input: "a" } as never),
      transport.rerank({ model, query: "a", documents: ["b"] } as never),
      transport.chat({ model, messages: [message] } as never),
    ];
    for (const call of calls) {
      expect(await failure(call)).toMatchObject({
        code: "request",
        message: expect.stringContaining("model") as string,
      });
    }
    expect(upstream.requests).toEqual([]);
  }
});
