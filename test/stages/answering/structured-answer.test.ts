import { describe, expect, test } from "vitest";
import { z } from "zod";
import { localDefaults } from "../../../src/contract/catalogue.js";
import { AnswerError, OptionsError } from "../../../src/core/errors.js";
import { startLocalService } from "../../../src/local/service.js";
import { chatModel } from "../../../src/models/chat-model.js";
import { answer, collectAnswer } from "../../../src/stages/answering/answer.js";
import { countMessageTokens } from "../../../src/text/prompt/fold-messages.js";
import { tool } from "../../../src/core/tool.js";
import { createTransport } from "../../../src/transport/transport.js";
import { failure, streamed, transportFor } from "../../support/transport-for.js";
import { call, eventsOf, finish, hit, retrieved, say, scriptedModel, type Script } from "./scripted-model.js";

const schema = z.object({ days: z.int(), renewable: z.boolean().default(false) });
const keys = hit("Keys expire after 90 days.");
const reply = (value: unknown): Script => [say(typeof value === "string" ? value : JSON.stringify(value)), finish()];
const citations = [{ source: 1, quote: "expire after 90 days" }];
const good = reply({ citations, answered: true, answer: { days: 90 } });

describe("an answer with a schema", () => {
  test("is the schema's output, with checked citations beside it", async () => {
    const model = scriptedModel([good]);
    const events = await eventsOf(answer(model, { schema }), retrieved([keys]));
    expect(events.map(({ type }) => type)).toEqual(["retrieved", "text-delta", "citation", "finish"]);
    const whole = await collectAnswer(events);
    expect(whole).toMatchObject({
      answered: true,
      value: { days: 90, renewable: false },
      text: '{\n  "days": 90\n}',
      citations: [{ number: 1, uri: "keys.md", start: 5, end: 25, quote: "expire after 90 days", supported: true }],
      warnings: [],
    });
    expect(model.requests[0]?.format).toBe("json");
    expect(model.requests[0]?.messages[0]?.content).toContain('"days":{"type":"integer"');
  });

  test("goes over the wire in JSON mode", async () => {
    const { transport, upstream } = await transportFor([
      streamed(JSON.stringify({ citations, answered: true, answer: { days: 90 } })),
    ]);
    const model = chatModel(transport, { model: "test/chat" });
    const whole = await collectAnswer(await eventsOf(answer(model, { schema }), retrieved([keys])));
    expect(whole.value).toEqual({ days: 90, renewable: false });
    expect(upstream.requests[0]?.body).toMatchObject({ response_format: { type: "json_object" } });
  });

  test("has no value when the sources do not hold one, and says so in the question's language", async () => {
    const model = scriptedModel([reply({ citations: [], answered: false })]);
    const question = "密钥多久过期？";
    const whole = await collectAnswer(await eventsOf(answer(model, { schema }), retrieved([keys], { question })));
    expect(whole).toMatchObject({ answered: false, text: "资料中没有这个问题的答案。", citations: [], warnings: [] });
    expect(whole).not.toHaveProperty("value");
    const without = await collectAnswer(await eventsOf(answer(scriptedModel([]), { schema }), retrieved([])));
    expect(without.answered).toBe(false);
    expect(without).not.toHaveProperty("value");
  });

  test("has its sources numbered in the order in which they are first cited, each by one number", async () => {
    const other = hit("They cannot be renewed.", "renewal.md");
    const claims = [
      { source: 2, quote: "cannot be renewed" },
      { source: 1, quote: "after 90 days" },
      { source: 2, quote: "They cannot" },
      { source: 1, quote: "Keys expire" },
    ];
    const model = scriptedModel([reply({ citations: claims, answered: true, answer: { days: 90 } })]);
    const whole = await collectAnswer(await eventsOf(answer(model, { schema }), retrieved([keys, other])));
    expect(whole.citations.map(({ number, uri }) => `${number} ${uri}`)).toEqual([
      "1 renewal.md",
      "2 keys.md",
      "1 renewal.md",
      "2 keys.md",
    ]);
    expect(whole.warnings).toEqual([]);
  });

  test("has a warning when nothing backs it", async () => {
    const claims = [{ source: 1, quote: "expire after 80 days" }, { source: 7 }, { source: "none" }];
    const model = scriptedModel([reply({ citations: claims, answer: { days: 80 } })]);
    const whole = await collectAnswer(await eventsOf(answer(model, { schema }), retrieved([keys])));
    expect(whole.citations).toMatchObject([{ number: 1, supported: false }]);
    expect(whole.warnings).toEqual([
      "Slightly different words are in the source it cites: expire after 80 days",
      "The answer cites source 7; there are 1 sources",
      "The answer has no citation that holds",
    ]);
  });

  test.each([
    ["is not JSON", "Ninety days.", "It holds no JSON object."],
    ["is cut", '{"answered": true, "answer": {"days"}', "It is no valid JSON"],
    ["lacks the answer", { answered: true }, 'It has no "answer".'],
    ["does not fit", { answered: true, answer: { days: "ninety" } }, "expected number, received string"],
  ])("a reply that %s is shown to the model once, with the problem", async (_, wrong, problem) => {
    const model = scriptedModel([reply(wrong), good]);
    const whole = await collectAnswer(await eventsOf(answer(model, { schema }), retrieved([keys])));
    expect(whole).toMatchObject({ value: { days: 90 }, usage: { inputTokens: 20, outputTokens: 6 } });
    const [asked, said] = model.requests[1]!.messages.slice(-2);
    expect(asked).toEqual({ role: "assistant", content: typeof wrong === "string" ? wrong : JSON.stringify(wrong) });
    expect(said?.content).toContain(problem);
    expect(whole.text).not.toContain("inety");
  });

  test("fails with the model's text when the second reply does not fit either", async () => {
    const model = scriptedModel([reply("Ninety days."), reply({ answer: { days: 1.5 } }), good]);
    const events = await eventsOf(answer(model, { schema }), retrieved([keys]));
    expect(events.map(({ type }) => type)).toEqual(["retrieved", "error"]);
    const error = await failure(collectAnswer(events));
    expect(error).toBeInstanceOf(AnswerError);
    expect(error).toMatchObject({ code: "schema", text: '{"answer":{"days":1.5}}' });
    expect((error as Error).message).toMatch(/asked twice[\s\S]*expected int/u);
    expect(model.requests).toHaveLength(2);
  });

  test("may call tools first; text beside a call does not reach the reader", async () => {
    const clock = tool({ name: "clock", description: "The time", input: z.object({}), run: () => "noon" });
    const model = scriptedModel([
      [say("Let me see."), call("clock", {}), finish("tool-calls")],
      reply("It is noon."),
      reply({ answer: { days: 90 } }),
    ]);
    const events = await eventsOf(answer(model, { schema, tools: [clock] }), retrieved([keys]));
    expect(events.filter(({ type }) => type === "text-delta")).toHaveLength(1);
    expect(model.requests.map(({ format, tools }) => [format, tools?.length])).toEqual([
      [undefined, 1],
      [undefined, 1],
      ["json", undefined],
    ]);
    expect((await collectAnswer(events)).value).toEqual({ days: 90, renewable: false });
  });

  test("stays within the model's context and messages, even when a long reply in a long conversation is repaired", async () => {
    const history = Array.from({ length: 40 }, (_, index) =>
      index % 2 === 0
        ? ({ role: "user", text: `Question ${index} ${"word ".repeat(50)}` } as const)
        : ({ role: "assistant", text: `Answer ${index} ${"word ".repeat(50)}` } as const),
    );
    for (const contextTokens of [3000, 6000, 20_000]) {
      const model = scriptedModel([reply(`No. ${"oops ".repeat(5000)}`), good], { contextTokens });
      const whole = await collectAnswer(
        await eventsOf(answer(model, { schema }), retrieved([keys, hit("word ".repeat(9000), "long.md")], { history })),
      );
      expect(whole.value).toEqual({ days: 90, renewable: false });
      for (const { messages, maxTokens = 0 } of model.requests) {
        expect(countMessageTokens(messages, model.tokens) + maxTokens).toBeLessThanOrEqual(contextTokens);
        expect(messages.length).toBeLessThanOrEqual(10);
        for (const [index, { role }] of messages.slice(1).entries()) {
          expect(role).toBe(index % 2 === 0 ? "user" : "assistant");
        }
      }
    }
  });
});

test("a schema without a JSON Schema, and a value that is not a schema, are refused at once", () => {
  expect(() => answer(scriptedModel([]), { schema: z.object({ at: z.date() }) })).toThrow(/no JSON Schema/u);
  expect(() => answer(scriptedModel([]), { schema: {} as z.ZodType })).toThrow(OptionsError);
  expect(() => answer(scriptedModel([], { maxMessages: 3 }), { schema })).toThrow(/at least 4/u);
  expect(() => answer(scriptedModel([], { maxMessages: 4 }), { schema })).not.toThrow();
  expect(() => answer(scriptedModel([], { maxMessages: 1 }))).toThrow(/at least 2/u);
  expect(() => answer(scriptedModel([], { maxMessages: 2 }))).not.toThrow();
});

test("the local service answers with values that its sources hold, and otherwise says that there is no answer", async () => {
  const service = await startLocalService();
  const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
  const model = chatModel(transport, { model: localDefaults.chat });
  const asked = retrieved([keys], { question: "After how many days do keys expire?" });
  const text = await collectAnswer(await eventsOf(answer(model, { schema: z.string() }), asked));
  expect(text.value).toContain("90 days");
  expect(text.citations).toMatchObject([{ supported: true }]);
  const value = await collectAnswer(await eventsOf(answer(model, { schema }), asked));
  expect(value).toMatchObject({ answered: true, value: { days: 90 }, citations: [{ supported: true }] });
  const beyond = answer(model, { schema: z.object({ days: z.int(), email: z.email() }) });
  expect(await collectAnswer(await eventsOf(beyond, asked))).toMatchObject({ answered: false });
  const elsewhere = retrieved([keys], { question: "Who won the football world cup in 1998?" });
  expect(await collectAnswer(await eventsOf(answer(model, { schema }), elsewhere))).toMatchObject({ answered: false });
  await transport.close();
  await service.close();
});
