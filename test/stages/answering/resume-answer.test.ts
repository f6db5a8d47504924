import { expect, test } from "vitest";
import { z } from "zod";
import type { ApprovalBook, Approvals, Decision, WaitingAnswer } from "../../../src/core/approval.js";
import { Pipeline } from "../../../src/core/pipeline.js";
import { collect } from "../../../src/core/stream.js";
import { tool } from "../../../src/core/tool.js";
import type { AnswerEvent } from "../../../src/core/types.js";
import type { AnswerOptions, ApprovalRequest } from "../../../src/stages/answering/answer-options.js";
import { answer, collectAnswer, resumeAnswer, type Resumption } from "../../../src/stages/answering/answer.js";
import { call, eventsOf, finish, hit, retrieved, say, scriptedModel, type Script, think } from "./scripted-model.js";

const keys = hit("Keys expire after 90 days.");

/** A book of one's own, as somebody keeps it who has no embedded store. */
function ownBook() {
  const kept = new Map<string, Decision>();
  const book: ApprovalBook = {
    decide: (approvals) => {
      const given = Object.entries(approvals);
      if (given.some(([id]) => kept.has(id))) return Promise.resolve(false);
      for (const [id, approved] of given) kept.set(id, { approved, decidedAtMs: 0 });
      return Promise.resolve(true);
    },
    record: (id, outcome) => void kept.set(id, { ...kept.get(id)!, outcome }),
    decisions: (ids) => new Map([...kept].filter(([id]) => ids.includes(id))),
  };
  return { book, kept };
}

/** A tool that writes, and what it has written. */
function writer() {
  const written: string[] = [];
  const write = tool({
    name: "write",
    description: "",
    input: z.object({ text: z.string() }),
    writes: true,
    run: ({ text }) => written.push(text),
  });
  return { write, written };
}

const waitingIn = (events: readonly AnswerEvent[]): WaitingAnswer => {
  const last = events.at(-1);
  const waiting = last?.type === "finish" ? last.answer.waiting : undefined;
  return waiting ?? expect.unreachable("nothing waits");
};
const all = (value: boolean, { calls }: WaitingAnswer): Approvals =>
  Object.fromEntries(calls.map(({ approvalId }) => [approvalId, value]));
const resumed = (
  scripts: readonly Script[],
  resumption: Resumption,
  options: AnswerOptions,
  book = ownBook().book,
  signal?: AbortSignal,
) => {
  const model = scriptedModel(scripts, { replaysReasoning: true });
  const stage = Pipeline.from<Resumption>().pipe(resumeAnswer(model, book, options));
  return { model, events: collect(stage.stream([resumption], signal ? { signal } : {})) };
};

test("the model reads a round that waited as it reads one that did not, with its thinking and its calls", async () => {
  const asks: Script = [think("Hm."), say("I write."), call("write", { text: "a" }, "c1"), finish("tool-calls")];
  const ends: Script = [say("Done."), finish()];
  const { write } = writer();
  const whole = scriptedModel([asks, ends], { replaysReasoning: true });
  await eventsOf(answer(whole, { tools: [write], approve: () => true }), retrieved([keys]));
  const options = { tools: [write], approve: "later" as const };
  const asked = scriptedModel([asks], { replaysReasoning: true });
  const waiting = waitingIn(await eventsOf(answer(asked, options), retrieved([keys])));
  expect(JSON.parse(JSON.stringify(waiting))).toEqual(waiting);
  const { model, events } = resumed([ends], { waiting, approvals: all(true, waiting) }, options);
  await events;
  // The tool returns how much it has written: 1 and then 2.
  const read = JSON.stringify(model.requests[0]).replace(/"content\\":\\"2/u, '"content\\":\\"1');
  expect(JSON.parse(read)).toEqual(whole.requests[1]);
});

test("an answer that waited goes on with the question's pictures, or with what another model said of them", async () => {
  const asks: Script = [call("write", { text: "a" }, "c1"), finish("tool-calls")];
  const ends: Script = [say("Done."), finish()];
  const options = { tools: [writer().write], approve: "later" as const };
  const images = ["data:image/png;base64,AAAA"];
  const question = "What is this?";
  const imageDescription = { question, text: "A red valve.", model: "seeing" };
  const described = { question: `${question}\n\nA red valve.`, asked: question, images, imageDescription };
  for (const [seesPictures, pictures, words] of [
    [true, images, /What is this\?\n<\/question>/],
    [false, undefined, /What is this\?\n\nA picture came with the question\. .*"A red valve\."/],
  ] as const) {
    const asked = scriptedModel([asks], { seesPictures });
    const waiting = waitingIn(await eventsOf(answer(asked, options), retrieved([keys], described)));
    const model = scriptedModel([ends], { seesPictures });
    const stage = Pipeline.from<Resumption>().pipe(resumeAnswer(model, ownBook().book, options));
    await collect(stage.stream([{ waiting, approvals: all(true, waiting) }]));
    for (const { messages } of [asked.requests[0]!, model.requests[0]!]) {
      const message = messages.find(({ content }) => content.includes("<question>"))!;
      expect(message.pictures).toEqual(pictures);
      expect(message.content).toMatch(words);
    }
  }
});

test("a decision can be left for later call by call, told what the model has read", async () => {
  const { write, written } = writer();
  const asked: unknown[] = [];
  const approve = ({ input, untrusted }: ApprovalRequest) => {
    asked.push([input, untrusted]);
    return (input as { text: string }).text === "a" || "later";
  };
  const script = [call("write", { text: "a" }, "c1"), call("write", { text: "b" }, "c2"), finish("tool-calls")];
  const options = { tools: [write], approve };
  const events = await eventsOf(answer(scriptedModel([script]), options), retrieved([]));
  expect(asked).toEqual([
    [{ text: "a" }, false],
    [{ text: "b" }, false],
  ]);
  expect(written).toEqual(["a"]);
  const waiting = waitingIn(events);
  expect(waiting.calls).toMatchObject([{ id: "c2", name: "write", input: { text: "b" }, untrusted: false }]);
  const again = [call("write", { text: "c" }, "c3"), finish("tool-calls")] as Script;
  const { events: rest } = resumed([again], { waiting, approvals: all(true, waiting) }, options);
  expect(waitingIn(await rest).calls).toMatchObject([{ id: "c3", untrusted: true }]);
  expect(written).toEqual(["a", "b"]);
});

test("sources that a tool found beside a call that waits get the numbers of their place, and are cited", async () => {
  const { write } = writer();
  const find = (name: string, text: string) =>
    tool({
      name,
      description: "",
      input: z.object({}),
      sources: true,
      run: () => ({ hits: [hit(text, `${name}.md`)] }),
    });
  const locks = { ...find("locks", "Locks rust in winter."), writes: true };
  const doors = find("doors", "Doors creak at night.");
  const options = { tools: [locks, doors, write], approve: "later" as const };
  const script = [call("locks", {}, "c1"), call("doors", {}, "c2"), finish("tool-calls")] as Script;
  const waiting = waitingIn(await eventsOf(answer(scriptedModel([script]), options), retrieved([keys])));
  const ends = [say('Locks rust [2: "Locks rust"]. Doors creak [3: "Doors creak"].'), finish()] as Script;
  const { events } = resumed([ends], { waiting, approvals: all(true, waiting) }, options);
  const { citations, hits } = await collectAnswer(await events);
  expect(citations.map(({ number, uri, supported }) => [number, uri, supported])).toEqual([
    [1, "locks.md", true],
    [2, "doors.md", true],
  ]);
  expect(hits.map(({ uri }) => uri)).toEqual(["keys.md", "locks.md", "doors.md"]);
});

test("an answer with a schema is its value also after it has waited", async () => {
  const { write, written } = writer();
  const options = { tools: [write], approve: "later" as const, schema: z.object({ days: z.number() }) };
  const asks = [call("write", { text: "a" }, "c1"), finish("tool-calls")] as Script;
  const waiting = waitingIn(await eventsOf(answer(scriptedModel([asks]), options), retrieved([keys])));
  const reply = { answered: true, answer: { days: 90 }, sources: [{ source: 1, quote: "90 days" }] };
  const { events } = resumed(
    [[say(JSON.stringify(reply)), finish()]],
    { waiting, approvals: all(true, waiting) },
    options,
  );
  expect(await collectAnswer(await events)).toMatchObject({ value: { days: 90 }, answered: true });
  expect(written).toEqual(["a"]);
});

test("a call whose answer is aborted while it runs is not run again: what became of it stays unknown", async () => {
  const stopping = new AbortController();
  let runs = 0;
  const hang = tool({
    name: "hang",
    description: "",
    input: z.object({}),
    writes: true,
    run: () => {
      runs++;
      setImmediate(() => stopping.abort(new Error("enough")));
      return new Promise<never>(() => {});
    },
  });
  const options = { tools: [hang], approve: "later" as const, toolConcurrency: 1 };
  const asks = [call("hang", {}, "c1"), call("hang", {}, "c2"), finish("tool-calls")] as Script;
  const waiting = waitingIn(await eventsOf(answer(scriptedModel([asks]), options), retrieved([keys])));
  const { book, kept } = ownBook();
  const approvals = all(true, waiting);
  const { events } = resumed([], { waiting, approvals }, options, book, stopping.signal);
  expect(await events).toMatchObject([{ type: "error", error: { message: "enough" } }]);
  expect([...kept.values()].map(({ outcome }) => outcome)).toEqual([undefined, undefined]);
  const { events: again } = resumed([[say("Hm."), finish()]], { waiting, approvals: {} }, options, book);
  expect((await again).filter(({ type }) => type === "tool-result")).toMatchObject([
    { error: expect.stringContaining("outcome is unknown") as string },
    { error: expect.stringContaining("outcome is unknown") as string },
  ]);
  expect(runs).toBe(1);
});

test("an answer that was aborted before it began decides nothing", async () => {
  const { write, written } = writer();
  const options = { tools: [write], approve: "later" as const };
  const asks = [call("write", { text: "a" }, "c1"), finish("tool-calls")] as Script;
  const waiting = waitingIn(await eventsOf(answer(scriptedModel([asks]), options), retrieved([keys])));
  const { book, kept } = ownBook();
  const reason = new Error("enough");
  const { events } = resumed([], { waiting, approvals: all(true, waiting) }, options, book, AbortSignal.abort(reason));
  expect(await events).toMatchObject([{ type: "error", error: reason }]);
  expect([kept.size, written]).toEqual([0, []]);
});

test("an approver who changes the arguments that it is shown changes nothing about the call", async () => {
  const asks: Script = [call("write", { text: "a" }, "c1"), finish("tool-calls")];
  const { write, written } = writer();
  const approve = ({ input }: ApprovalRequest) => {
    (input as { text: string }).text = "everything";
    return true;
  };
  await eventsOf(
    answer(scriptedModel([asks, [say("Done."), finish()]]), { tools: [write], approve }),
    retrieved([keys]),
  );
  expect(written).toEqual(["a"]);
});

test.each<[string, (text: string) => unknown]>([
  ["a Map", (text: string) => new Map([["to", text]])],
  ["a BigInt", (text: string) => BigInt(text.length)],
  ["NaN", () => NaN],
  ["a function", (text: string) => () => text],
])(
  "a call whose schema returns %s waits with what the model wrote, and runs with what the schema returned",
  async (_, out) => {
    const got: unknown[] = [];
    const write = tool({
      name: "write",
      description: "",
      input: z.object({ text: z.string().transform(out) }),
      writes: true,
      run: ({ text }) => got.push(text),
    });
    const options = { tools: [write], approve: "later" as const };
    const asks: Script = [call("write", { text: "a" }, "c1"), finish("tool-calls")];
    const waiting = waitingIn(await eventsOf(answer(scriptedModel([asks]), options), retrieved([keys])));
    expect(waiting.calls).toMatchObject([{ input: { text: "a" } }]);
    const { events } = resumed([[say("Done."), finish()]], { waiting, approvals: all(true, waiting) }, options);
    expect((await events).at(-1)).toMatchObject({ type: "finish" });
    expect(got.map((value) => typeof value)).toEqual([typeof out("a")]);
  },
);

test.each(["retrieved", "sources", "draft", "rounds", "round"])(
  "a waiting answer without its %s is refused by an error that says so, and nothing is decided",
  async (part) => {
    const { write, written } = writer();
    const options = { tools: [write], approve: "later" as const };
    const asks: Script = [call("write", { text: "a" }, "c1"), finish("tool-calls")];
    const waiting = waitingIn(await eventsOf(answer(scriptedModel([asks]), options), retrieved([keys])));
    const { [part]: _, ...state } = waiting.state as Record<string, unknown>;
    const { book, kept } = ownBook();
    const { events } = resumed([], { waiting: { ...waiting, state }, approvals: all(true, waiting) }, options, book);
    const last = (await events).at(-1);
    expect(last).toMatchObject({ type: "error", error: { code: "options" } });
    expect(last?.type === "error" && last.error.message).toContain(`its state lacks or has another ${part}`);
    expect([written, kept.size]).toEqual([[], 0]);
  },
);

test("a waiting answer whose calls are not those of its state is refused; the order of their fields does not matter", async () => {
  const { write, written } = writer();
  const options = { tools: [write], approve: "later" as const };
  const asks: Script = [call("write", { text: "a" }, "c1"), finish("tool-calls")];
  const waiting = waitingIn(await eventsOf(answer(scriptedModel([asks]), options), retrieved([keys])));
  const altered = { ...waiting, calls: waiting.calls.map((one) => ({ ...one, input: { text: "b" } })) };
  const { events } = resumed([], { waiting: altered, approvals: all(true, waiting) }, options);
  const last = (await events).at(-1);
  expect(last?.type === "error" && last.error.message).toContain("its calls are not those of its state");
  expect(written).toEqual([]);
  const calls = waiting.calls.map(
    (one) => Object.fromEntries(Object.entries(one).toReversed()) as unknown as typeof one,
  );
  const { events: rest } = resumed(
    [[say("Done."), finish()]],
    { waiting: { ...waiting, calls }, approvals: all(true, waiting) },
    options,
  );
  expect((await rest).at(-1)).toMatchObject({ type: "finish" });
  expect(written).toEqual(["a"]);
});
