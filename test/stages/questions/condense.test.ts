import { describe, expect, test } from "vitest";
import { localDefaults } from "../../../src/contract/catalogue.js";
import { TransportError } from "../../../src/core/errors.js";
import { chatModel } from "../../../src/models/chat-model.js";
import { createRunContext, type RunEvent } from "../../../src/core/pipeline.js";
import type { ChatModel } from "../../../src/core/ports.js";
import { condense, type CondenseOptions } from "../../../src/stages/questions/condense.js";
import { collect } from "../../../src/core/stream.js";
import type { Question } from "../../../src/core/types.js";
import { localUpstream } from "../../support/local-upstream.js";
import { finish, say, scriptedModel, think, type Script } from "../answering/scripted-model.js";

const history: Question["history"] = [
  { role: "user", text: "How do I configure the batch span processor?" },
  { role: "assistant", text: "With a file." },
];
const followUp: Question = { question: "What is its default?", history };

async function run(model: ChatModel, asked: Question, options: CondenseOptions = {}, deadlineMs?: number) {
  const events: RunEvent[] = [];
  const context = createRunContext({
    report: (event) => events.push(event),
    ...(deadlineMs !== undefined && { deadlineMs }),
  });
  const source = (async function* () {
    yield asked;
  })();
  const [out] = await collect(condense(model, options).run(source, context));
  return { out: out!, note: out!.trace?.at(-1)?.note, events };
}

describe("condense", () => {
  test("a follow-up becomes a question that stands alone, with the question as typed and the cost kept", async () => {
    const model = scriptedModel([
      [think("its?"), say("What is the default of the batch "), say("span processor?"), finish()],
    ]);
    const { out } = await run(model, followUp);
    expect(out).toMatchObject({
      question: "What is the default of the batch span processor?",
      asked: "What is its default?",
      history,
      usage: { inputTokens: 10, outputTokens: 3 },
      trace: [{ step: "condense", note: "asked as: What is the default of the batch span processor?" }],
    });
    const { messages } = model.requests[0]!;
    expect(messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
    expect(messages.at(-1)!.content).toContain("What is its default?");
  });

  test.each([
    "Standalone question: What is the limit?",
    "“What is the limit?”",
    "<question>\nWhat is the limit?\n</question>",
    "What is\nthe limit?\n\nI replaced the pronoun.",
  ])("the question is extracted from what models put around it: %j", async (reply) => {
    expect((await run(scriptedModel([[say(reply), finish()]]), followUp)).out.question).toBe("What is the limit?");
  });

  test.each<[string, Question]>([
    ["no history", { question: "And its default?" }],
    [
      "nothing but instructions before it",
      { question: "And its default?", history: [{ role: "system", text: "Be brief" }] },
    ],
    ["a question that names its subject", { question: "How are sampler probabilities configured?", history }],
    ["the same in Chinese", { question: "如何配置批处理跨度处理器的队列大小？", history }],
  ])("%s: the model is not asked", async (_, asked) => {
    const model = scriptedModel([]);
    expect((await run(model, asked)).out).toEqual(asked);
    expect(model.requests).toEqual([]);
  });

  test.each(["And in France?", "Why is that?", "价格呢？", "它多少钱？", "default?"])(
    "%s is a follow-up",
    async (question) => {
      const model = scriptedModel([[say("Something else?"), finish()]]);
      expect((await run(model, { question, history })).out.question).toBe("Something else?");
    },
  );

  test("with of all, every question with a history is rewritten", async () => {
    const model = scriptedModel([[say("How?"), finish()]]);
    await run(model, { question: "How are sampler probabilities configured?", history }, { questions: "all" });
    expect(model.requests).toHaveLength(1);
  });

  test.each<[string, Script, string]>([
    ["fails", [new TransportError("upstream", "away")], "scripted failed (upstream: away)"],
    ["breaks off", [say("What is")], "scripted failed (truncated: scripted ended its stream without a finish event)"],
    ["says nothing", [think("hm"), finish()], "the model said nothing"],
    ["is cut", [say("What"), finish("length")], "the reply was cut off at its token limit"],
    ["answers at length", [say("It is. ".repeat(200)), finish()], "the reply is not a question"],
  ])(
    "when the model %s the question is left unchanged, and the trace and a warning say so",
    async (_, script, problem) => {
      const { out, note, events } = await run(scriptedModel([script]), followUp);
      expect(out.question).toBe(followUp.question);
      expect(out).not.toHaveProperty("asked");
      expect(note).toBe(`${problem}: the question was left unchanged`);
      expect(events).toEqual([{ type: "warning", message: `condense: ${note}` }]);
    },
  );

  test("a model that never answers is abandoned in time", async () => {
    const silent: ChatModel = {
      ...scriptedModel([]),
      stream: async function* () {
        yield think("hm");
        await new Promise(() => {});
      },
    };
    const { out, note } = await run(silent, followUp, { timeoutMs: 20 });
    expect(note).toContain("scripted took more than 20 ms");
    expect(out.requests).toMatchObject([
      { step: "condense", inputTokens: 0, unanswered: true, failedAttempts: [{ code: "aborted" }] },
    ]);
  });

  test("when the deadline is near, the model is not asked", async () => {
    const model = scriptedModel([]);
    const { out, note } = await run(model, followUp, {}, 1000);
    expect(note).toContain("no time left");
    expect(out).not.toHaveProperty("requests");
    expect(model.requests).toEqual([]);
  });

  test("a rejected key ends the run", async () => {
    const model = scriptedModel([[new TransportError("unauthorized", "no")]]);
    await expect(run(model, followUp)).rejects.toMatchObject({ code: "unauthorized" });
  });
});

describe("over the local service", () => {
  const local = localUpstream();

  test("a follow-up names the subject of the question before it", async () => {
    const { out } = await run(chatModel(local.transport, { model: localDefaults.chat }), followUp);
    expect(out.question).toMatch(/^What is its default \(about .*batch span processor.*\)\?$/);
    expect(out.usage!.inputTokens).toBeGreaterThan(0);
  });

  test("a follow-up to a folded history, and one in Chinese, name their subject too", async () => {
    const model = chatModel(local.transport, { model: localDefaults.chat });
    const long = Array.from({ length: 8 }, () => history).flat();
    expect((await run(model, { question: "What is its default?", history: long })).out.question).toContain(
      "span processor",
    );
    const chinese: Question = {
      question: "它的默认值是多少？",
      history: [
        { role: "user", text: "如何配置批处理器的队列？" },
        { role: "assistant", text: "用配置文件。" },
      ],
    };
    expect((await run(model, chinese)).out.question).toMatch(/^它的默认值是多少（关于.*批处理器.*）？$/);
  });
});
