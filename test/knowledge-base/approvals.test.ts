import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { WaitingAnswer } from "../../src/core/approval.js";
import { tool } from "../../src/core/tool.js";
import type { Answer, AnswerEvent } from "../../src/core/types.js";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import type { AnswerOptions } from "../../src/stages/answering/answer-options.js";
import { collectAnswer } from "../../src/stages/answering/answer.js";
import { collect } from "../../src/core/stream.js";
import { type ConversationHome, inEachHome } from "../support/conversation-homes.js";
import { embeddingReply } from "../support/embedding-service.js";
import { runNode } from "../support/run-process.js";
import type { RecordedRequest, ScriptedReply } from "../support/scripted-upstream.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { chunk, transportFor } from "../support/transport-for.js";

const program = fileURLToPath(new URL("resuming-process.mjs", import.meta.url));
const models = { embedding: "test/embed-m3", chat: "test/chat" };

type Call = readonly [name: string, input: object];
/** A reply of the chat model: its text, then its calls; or a status. */
type Reply = { readonly text: string; readonly calls?: readonly Call[] } | { readonly status: number };

const mail = (to: string): Call => ["send_mail", { to }];
const asks: Reply = { text: 'Keys last [1: "90 days"]. I tell Ada.', calls: [mail("ada")] };
const ends: Reply = { text: 'Done [2: "Locks rust"], as keys do [1: "90 days"].' };

function streamed(reply: Reply, at: number): ScriptedReply {
  if ("status" in reply) return { status: reply.status, json: { error: { message: "no luck" } } };
  const { text, calls = [] } = reply;
  const written = calls.map(([name, input], index) =>
    chunk({ tool_calls: [{ index, id: `c${at}-${index}`, function: { name, arguments: JSON.stringify(input) } }] }),
  );
  const reason = calls.length > 0 ? "tool_calls" : "stop";
  const last = { ...chunk({}, { finish_reason: reason }), usage: { prompt_tokens: 100 + at, completion_tokens: 10 } };
  return { sse: [chunk({ content: text }), ...written, last, "[DONE]"] };
}

/** A store of two documents, a chat model that replies by the script, and mails as lines of a file. */
async function officeIn(home: ConversationHome, replies: readonly Reply[]) {
  const path = await home.newPlace();
  const sent = join(await temporaryFolder(), "sent.txt");
  writeFileSync(sent, "");
  const chats: RecordedRequest[] = [];
  const service = (request: RecordedRequest) =>
    request.path.endsWith("/embeddings")
      ? embeddingReply(request)
      : streamed(replies[chats.push(request) - 1] ?? { status: 418 }, chats.length);
  const { transport, upstream } = await transportFor(service, { maxRetries: 0 });
  const open = async () => {
    const kb = await openKnowledgeBase({ path, transport, models });
    onTestFinished(() => kb.close());
    return kb;
  };
  const kb = await open();
  await kb.ingest([
    { uri: "keys.md", text: "Keys expire after 90 days.", metadata: { team: "a" } },
    { uri: "locks.md", text: "Locks rust in winter.", metadata: { team: "a" } },
  ]);
  const sendMail = tool({
    name: "send_mail",
    description: "Sends a mail",
    input: z.object({ to: z.string() }),
    writes: true,
    run: ({ to }) => {
      appendFileSync(sent, `${to}\n`);
      return `sent to ${to}`;
    },
  });
  const looked: string[] = [];
  const lookUp = tool({
    name: "look_up",
    description: "Looks up a word",
    input: z.object({ word: z.string() }),
    run: ({ word }) => looked.push(word),
  });
  const answer: AnswerOptions = { tools: [sendMail, lookUp], approve: "later" };
  /** Resumes the conversation "talk" in another process. */
  const resumeElsewhere = async (approvals: Readonly<Record<string, boolean>>, killed = false) => {
    const words = [JSON.stringify({ path, baseUrl: upstream.baseUrl, sent, approvals, killed })];
    const { exitCode, stdout, stderr } = await runNode(program, words);
    expect({ exitCode, stderr }).toEqual({ exitCode: killed ? null : 0, stderr: "" });
    return stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as AnswerEvent);
  };
  return {
    kb,
    open,
    path,
    answer,
    chats,
    looked,
    sent: () => readFileSync(sent, "utf8").split("\n").filter(Boolean),
    resumeElsewhere,
  };
}

const question = "How long do keys last? Tell Ada.";
const waitingOf = (answer: Answer): WaitingAnswer => answer.waiting ?? expect.unreachable("the answer does not wait");
const decided = (value: boolean, waiting: Pick<WaitingAnswer, "calls">) =>
  Object.fromEntries(waiting.calls.map(({ approvalId }) => [approvalId, value]));
const last = (events: readonly AnswerEvent[]) => events.at(-1);
const typesOf = (events: readonly AnswerEvent[]) => events.map(({ type }) => type);
const decidedBefore = { type: "error", error: { name: "AnswerError", code: "decided" } };

function withoutTimes(answer: Answer): unknown {
  const plain = JSON.stringify(answer, (name, value: unknown) => (name === "milliseconds" ? undefined : value));
  return JSON.parse(plain);
}

inEachHome((home) => {
  const office = (replies: readonly Reply[]) => officeIn(home, replies);

  test("a call that needs approval ends the answer as waiting, and another process goes on with it; nothing is asked or run twice", async () => {
    const { kb, path, answer, chats, sent, resumeElsewhere } = await office([asks, ends]);
    const talk = kb.conversation({ id: "talk" });
    const events = await collect(talk.ask(question, { answer }));
    expect(typesOf(events)).toEqual([
      "retrieved",
      "text-delta",
      "text-delta",
      "citation",
      "text-delta",
      "tool-call",
      "approval-needed",
      "finish",
    ]);
    const needed = events.at(-2)!;
    expect(needed).toMatchObject({ id: "c1-0", name: "send_mail", input: { to: "ada" }, untrusted: true });
    expect(last(events)).toMatchObject({ answer: { answered: false, text: "Keys last [1]. I tell Ada." } });
    const [{ waiting, answer: whole } = {}] = await talk.exchanges();
    expect(whole).toBeUndefined();
    expect(waiting).toMatchObject({ text: "Keys last [1]. I tell Ada.", calls: [{ name: "send_mail" }] });
    expect(waiting?.calls[0]).not.toHaveProperty("decision");
    expect(await kb.conversations()).toMatchObject([{ id: "talk", waiting: true }]);
    await kb.close();
    expect(sent()).toEqual([]);

    const resumed = await resumeElsewhere(decided(true, waiting!));
    expect(sent()).toEqual(["ada"]);
    expect(chats).toHaveLength(2);
    expect(typesOf(resumed)).toEqual([
      "approval",
      "tool-result",
      "text-delta",
      "text-delta",
      "citation",
      "text-delta",
      "text-delta",
      "citation",
      "text-delta",
      "finish",
    ]);
    expect(resumed.slice(0, 2)).toEqual([
      { type: "approval", id: "c1-0", name: "send_mail", input: { to: "ada" }, approved: true },
      { type: "tool-result", id: "c1-0", name: "send_mail", output: "sent to ada" },
    ]);
    const text = "Keys last [1]. I tell Ada.\n\nDone [2], as keys do [1].";
    expect(last(resumed)).toMatchObject({ type: "finish", answer: { text, answered: true } });
    const { conversations, exchanges } = await reread(path);
    expect(conversations).toEqual([expect.not.objectContaining({ waiting: true })]);
    expect(exchanges).toMatchObject([{ question, answer: { text, stopped: false } }]);
    expect(exchanges[0]).not.toHaveProperty("waiting");
  });

  test("an answer that waited is the answer that would have been given at once, in its text, citations, turn and account", async () => {
    const atOnce = await office([asks, ends]);
    const whole = await collectAnswer(atOnce.kb.ask(question, { answer: { ...atOnce.answer, approve: () => true } }));
    const { kb, answer } = await office([asks, ends]);
    const first = await collectAnswer(kb.ask(question, { answer }));
    expect(first).toMatchObject({
      usage: { inputTokens: 101, outputTokens: 10 },
      turn: { text: "Keys last. I tell Ada." },
    });
    const waiting = JSON.parse(JSON.stringify(first.waiting)) as WaitingAnswer;
    const resumed = await collectAnswer(kb.resume(waiting, decided(true, waiting), { answer }));
    expect(withoutTimes(resumed)).toEqual(withoutTimes(whole));
    expect(resumed.usage).toEqual({ inputTokens: 203, outputTokens: 20 });
    expect(resumed.account.milliseconds["answer"]).toBeGreaterThanOrEqual(first.account.milliseconds["answer"]!);
    expect(resumed.citations.map(({ number, uri, supported }) => [number, uri, supported])).toEqual([
      [1, "keys.md", true],
      [2, "locks.md", true],
      [1, "keys.md", true],
    ]);
  });

  describe("a decision is used once", () => {
    test("when two processes resume with it at the same time: one runs the call, the other is told", async () => {
      const { kb, answer, sent, resumeElsewhere } = await office([asks, ends]);
      const waiting = waitingOf(await collectAnswer(kb.conversation({ id: "talk" }).ask(question, { answer })));
      const both = await Promise.all([1, 2].map(() => resumeElsewhere(decided(true, waiting))));
      expect(sent()).toEqual(["ada"]);
      const [done, refused] = both.toSorted((one, other) => other.length - one.length);
      expect(last(done!)).toMatchObject({ type: "finish", answer: { answered: true } });
      expect(refused).toMatchObject([decidedBefore]);
    });

    test("when the process is killed while the call runs: its outcome is unknown then, and the answer goes on saying so", async () => {
      const { kb, answer, chats, sent, path, resumeElsewhere } = await office([asks, ends]);
      const waiting = waitingOf(await collectAnswer(kb.conversation({ id: "talk" }).ask(question, { answer })));
      await kb.close();
      await resumeElsewhere(decided(true, waiting), true);
      expect(sent()).toEqual(["ada"]);
      const [call] = (await reread(path)).exchanges[0]!.waiting!.calls;
      expect(call!.decision).toEqual({ approved: true, decidedAtMs: expect.any(Number) as number, finished: false });

      for (const value of [true, false]) {
        const [error, ...more] = await resumeElsewhere(decided(value, waiting));
        const message = expect.stringMatching(
          /send_mail \(c1-0\) was approved at .*, its outcome is not recorded.*resume with \{\}/u,
        );
        expect([error, more]).toMatchObject([{ ...decidedBefore, error: { ...decidedBefore.error, message } }, []]);
      }
      const resumed = await resumeElsewhere({});
      expect(resumed.slice(0, 2)).toMatchObject([
        { type: "approval", approved: true },
        { type: "tool-result", error: expect.stringContaining("its outcome is unknown") as string },
      ]);
      expect(last(resumed)).toMatchObject({ type: "finish" });
      expect(JSON.stringify(chats.at(-1)!.body)).toContain("may have been carried out or not");
      expect(sent()).toEqual(["ada"]);
      expect((await reread(path)).exchanges).toMatchObject([{ answer: { stopped: false } }]);
    });

    test("when the model fails after the call: without a new decision the answer goes on with the result", async () => {
      const { kb, answer, chats, sent } = await office([asks, { status: 503 }, ends]);
      const talk = kb.conversation({ id: "talk" });
      const waiting = waitingOf(await collectAnswer(talk.ask(question, { answer })));
      const failed = await collect(talk.resume(decided(true, waiting), { answer }));
      expect(last(failed)).toMatchObject({ type: "error", error: { name: "TransportError", status: 503 } });
      expect(await talk.exchanges()).toMatchObject([
        { waiting: { calls: [{ decision: { approved: true, finished: true } }] } },
      ]);
      const { text } = await collectAnswer(talk.resume({}, { answer }));
      expect(text).toContain("Done [2]");
      expect(sent()).toEqual(["ada"]);
      expect(JSON.stringify(chats.at(-1)!.body)).toContain("sent to ada");
    });

    test("when the knowledge base is closed after the call: the next one goes on with the result", async () => {
      const { kb, open, answer, sent } = await office([asks, ends, ends]);
      const talk = kb.conversation({ id: "talk" });
      const waiting = waitingOf(await collectAnswer(talk.ask(question, { answer })));
      const events: AnswerEvent[] = [];
      for await (const event of talk.resume(decided(true, waiting), { answer })) {
        events.push(event);
        if (event.type === "tool-result") await kb.close();
      }
      expect(typesOf(events).filter((type) => type === "finish" || type === "error")).toEqual(["error"]);
      const { answered } = await collectAnswer((await open()).conversation({ id: "talk" }).resume({}, { answer }));
      expect([answered, sent()]).toEqual([true, ["ada"]]);
    });

    test("when the answer is stopped on its way on: its text is kept, and it can still be ended", async () => {
      const { kb, answer, sent } = await office([asks, ends, ends]);
      const talk = kb.conversation({ id: "talk" });
      const waiting = waitingOf(await collectAnswer(talk.ask(question, { answer })));
      const stopping = new AbortController();
      const { signal } = stopping;
      for await (const { type } of talk.resume(decided(true, waiting), { answer, signal })) {
        if (type === "text-delta") stopping.abort();
      }
      const shown = "Keys last [1]. I tell Ada.\n\nDone ";
      expect(await talk.exchanges()).toMatchObject([
        { answer: { text: shown, stopped: true }, waiting: { calls: [{ id: "c1-0" }] } },
      ]);
      const { text } = await collectAnswer(talk.resume({}, { answer }));
      expect(await talk.exchanges()).toMatchObject([{ answer: { text, stopped: false } }]);
      expect(await talk.info()).not.toHaveProperty("waiting");
      expect(sent()).toEqual(["ada"]);
    });

    test("when a second attempt overtakes the first: the first answer that is whole is kept", async () => {
      const { kb, open, answer, sent } = await office([asks, ends, { text: "Overtaken." }]);
      const talk = kb.conversation({ id: "talk" });
      const waiting = waitingOf(await collectAnswer(talk.ask(question, { answer })));
      const slow: AnswerEvent[] = [];
      for await (const event of talk.resume(decided(true, waiting), { answer })) {
        slow.push(event);
        if (event.type === "tool-result")
          await collect((await open()).conversation({ id: "talk" }).resume({}, { answer }));
      }
      expect(last(slow)).toMatchObject({ ...decidedBefore, account: { paid: { failedAttempts: 0 } } });
      expect(await talk.exchanges()).toMatchObject([
        { answer: { text: expect.stringContaining("Done [2]") as string } },
      ]);
      expect(sent()).toEqual(["ada"]);
    });

    test.each(["a conversation", "an answer alone"])("and not again when %s has come to its end", async (kind) => {
      const { kb, answer, chats, sent } = await office([asks, ends]);
      const talk = kb.conversation({ id: "talk" });
      const isTalk = kind === "a conversation";
      const waiting = waitingOf(
        await collectAnswer(isTalk ? talk.ask(question, { answer }) : kb.ask(question, { answer })),
      );
      const resume = (approvals: Readonly<Record<string, boolean>>) =>
        isTalk ? talk.resume(approvals, { answer }) : kb.resume(waiting, approvals, { answer });
      await collect(resume(decided(false, waiting)));
      expect(await collect(resume(decided(true, waiting)))).toMatchObject([decidedBefore]);
      if (isTalk) await expect(collect(resume({}))).rejects.toThrow("conversation talk: Nothing waits for approval");
      else expect(await collect(resume({}))).toMatchObject([decidedBefore]);
      expect([chats.length, sent()]).toEqual([2, []]);
    });
  });

  describe("the calls of one reply", () => {
    const asksTwice: Reply = { text: "I tell both.", calls: [mail("ada"), ["look_up", { word: "key" }], mail("bob")] };

    test("are decided together, each by its own id; those that need no approval have run before, and results keep their order", async () => {
      const { kb, answer, chats, looked, sent } = await office([asksTwice, ends]);
      const talk = kb.conversation({ id: "talk" });
      const events = await collect(talk.ask(question, { answer }));
      expect(typesOf(events).slice(-7).join(" ")).toBe(
        "tool-call tool-call tool-call approval-needed tool-result approval-needed finish",
      );
      const [ada, bob] = (await talk.exchanges())[0]!.waiting!.calls.map(({ approvalId }) => approvalId) as [
        string,
        string,
      ];
      const refusal = async (approvals: Readonly<Record<string, boolean>>) =>
        (last(await collect(talk.resume(approvals, { answer }))) as { readonly error: Error }).error;
      const together = expect.stringMatching(
        `^resume: the calls of one reply are decided together.*: ${bob} \\(send_mail, c1-2\\)$`,
      );
      expect(await refusal({ [ada]: true })).toMatchObject({ name: "OptionsError", message: together });
      const unknown = expect.stringContaining(`no call waits under other. These do: ${ada}`) as string;
      expect(await refusal({ [ada]: true, other: true })).toMatchObject({ name: "OptionsError", message: unknown });
      await expect(collect(talk.resume({ other: true }))).rejects.toThrow(
        `No call waits under other. These calls wait: ${ada} (send_mail), ${bob}`,
      );
      await expect(collect(kb.conversation({ id: "new" }).resume({ [ada]: true }))).rejects.toThrow(
        /Nothing waits for approval/,
      );
      expect(sent()).toEqual([]);

      const resumed = await collect(talk.resume({ [bob]: true, [ada]: false }, { answer }));
      expect(resumed.filter(({ type }) => type === "approval" || type === "tool-result")).toMatchObject([
        { type: "approval", id: "c1-0", approved: false },
        { id: "c1-0", error: expect.stringContaining("not approved") as string },
        { type: "approval", id: "c1-2", approved: true },
        { id: "c1-2", output: "sent to bob" },
      ]);
      const { tools } = (await talk.exchanges())[0]!.answer!.turn;
      expect(tools?.map(({ id }) => id)).toEqual(["c1-0", "c1-1", "c1-2"]);
      expect([looked, sent(), chats.length]).toEqual([["key"], ["bob"], 2]);
    });

    test("can wait again in a later round, under new ids", async () => {
      const { kb, answer, sent } = await office([asks, { text: "Bob too.", calls: [mail("bob")] }, ends]);
      const talk = kb.conversation({ id: "talk" });
      const first = waitingOf(await collectAnswer(talk.ask(question, { answer })));
      const second = waitingOf(await collectAnswer(talk.resume(decided(true, first), { answer })));
      expect(await collect(talk.resume(decided(true, first), { answer }))).toMatchObject([decidedBefore]);
      const { text, turn } = await collectAnswer(talk.resume(decided(true, second), { answer }));
      expect(text).toMatch(/^Keys last \[1\]\. I tell Ada\.\n\nBob too\.\n\nDone/u);
      expect(turn).toMatchObject({ tools: [{ arguments: '{"to":"ada"}' }, { arguments: '{"to":"bob"}' }] });
      expect(sent()).toEqual(["ada", "bob"]);
    });

    test("are not decided where the tool is missing, withheld, or reads its arguments in another way", async () => {
      const { kb, answer, sent } = await office([asks, ends]);
      const waiting = waitingOf(await collectAnswer(kb.ask(question, { answer })));
      const [sendMail] = answer.tools!;
      const shouting = { ...sendMail!, input: z.object({ to: z.string().toUpperCase() }) };
      for (const [other, message] of [
        [{ tools: [] }, /There is no tool named "send_mail". Pass the tools and approve/],
        [{ tools: answer.tools! }, /send_mail is withheld and was not run.*Pass the tools and approve/],
        [{ ...answer, tools: [shouting] }, /the schema of send_mail does not read the arguments as it did/],
      ] as const) {
        const events = await collect(kb.resume(waiting, decided(true, waiting), { answer: other }));
        expect(events).toMatchObject([{ type: "error", error: { message: expect.stringMatching(message) as string } }]);
      }
      expect(sent()).toEqual([]);
      expect(last(await collect(kb.resume(waiting, decided(true, waiting), { answer })))).toMatchObject({
        type: "finish",
      });
      expect(sent()).toEqual(["ada"]);
    });
  });

  test("what waits in one scope can be resumed neither from another nor without one", async () => {
    const { kb, answer, sent } = await office([asks, asks, ends]);
    const [ours, theirs] = [kb.scoped({ metadata: { team: "a" } }), kb.scoped({ metadata: { team: "b" } })];
    const talked = waitingOf(await collectAnswer(ours.conversation({ id: "talk" }).ask(question, { answer })));
    const alone = waitingOf(await collectAnswer(ours.ask(question, { answer })));
    for (const other of [kb, theirs]) {
      const talk = other.conversation({ id: "talk" });
      await expect(collect(talk.resume(decided(true, talked), { answer }))).rejects.toThrow(
        /Nothing waits for approval/,
      );
      await expect(collect(talk.resume({}, { answer }))).rejects.toThrow(/Nothing waits for approval/);
      expect(await talk.exchanges()).toEqual([]);
      for (const waiting of [alone, talked]) {
        expect(() => other.resume(waiting, decided(true, waiting), { answer })).toThrow(/waits in another scope/);
      }
    }
    expect(sent()).toEqual([]);
    await collect(ours.resume(alone, decided(true, alone), { answer }));
    expect(sent()).toEqual(["ada"]);
  });

  test("what is resumed must be what waited, with decisions that are true or false", async () => {
    const { kb, answer } = await office([asks, ends]);
    const waiting = waitingOf(await collectAnswer(kb.ask(question, { answer })));
    const approvals = decided(true, waiting);
    const given = (value: unknown) => value as never;
    expect(() => kb.resume(given({ calls: [] }), approvals)).toThrow(/^resume: waiting\.calls/);
    expect(() => kb.resume(given({ ...waiting, call: 1 }), approvals)).toThrow(/did you mean "calls"/);
    expect(() => kb.resume(waiting, given({ a: "yes" }))).toThrow(/^resume: approvals\.a/);
    expect(() => kb.resume(waiting, approvals, given({ anwser: {} }))).toThrow(/did you mean "answer"/);
    const later = { ...waiting, state: { version: 2 } };
    const [error] = await collect(kb.resume(later, approvals, { answer }));
    expect(error).toMatchObject({
      type: "error",
      error: { message: expect.stringMatching(/of version 1 \(got 2\)/) as string },
    });
  });

  test("a branch leaves behind what waits, and a new answer takes its place", async () => {
    const { kb, answer, sent } = await office([asks, { text: "Keys last long." }]);
    const talk = kb.conversation({ id: "talk" });
    const waiting = waitingOf(await collectAnswer(talk.ask(question, { answer })));
    const branch = await talk.branch("other");
    expect(await branch.exchanges()).toEqual([expect.not.objectContaining({ waiting: expect.anything() as unknown })]);
    await collect(talk.regenerate({ answer }));
    expect(await talk.exchanges()).toMatchObject([{ answer: { text: "Keys last long." } }]);
    expect((await talk.exchanges())[0]).not.toHaveProperty("waiting");
    await expect(collect(talk.resume(decided(true, waiting), { answer }))).rejects.toThrow(
      /Nothing waits for approval/,
    );
    expect(sent()).toEqual([]);
  });

  test("decisions and outcomes go with the conversation that is deleted", async () => {
    const { kb, path, answer } = await office([asks, { status: 503 }]);
    const talk = kb.conversation({ id: "talk" });
    const waiting = waitingOf(await collectAnswer(talk.ask(question, { answer })));
    await collect(talk.resume(decided(true, waiting), { answer }));
    const outcomes = () => home.query(path, "SELECT outcome FROM approvals");
    expect(await outcomes()).toEqual([{ outcome: expect.stringContaining("sent to ada") as string }]);
    await talk.delete();
    expect(await outcomes()).toEqual([]);
  });

  async function reread(path: string) {
    const kept = await home.open(path);
    const found = {
      conversations: await kept.of("").list(),
      exchanges: await kept.of("").exchanges({ id: "talk" }),
    };
    await kept.close();
    return found;
  }
});
