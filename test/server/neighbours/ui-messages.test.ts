// In test:all alone: it opens a knowledge base and a server for each case, for 15 s.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { tool } from "../../../src/core/tool.js";
import { served } from "../../support/served.js";

const documents = [{ uri: "keys", title: "Keys", text: "API keys expire after 90 days. Ada renews them." }];
const said = (text: string, id = "m1") => ({ id, role: "user", parts: [{ type: "text", text }] });

type Part = Readonly<Record<string, unknown>> & { readonly type: string };

async function partsOf(reply: Response): Promise<Part[]> {
  expect([reply.status, reply.headers.get("x-vercel-ai-ui-message-stream")]).toEqual([200, "v1"]);
  const lines = (await reply.text()).split("\n\n").filter((line) => line !== "");
  expect(lines.at(-1)).toBe("data: [DONE]");
  return lines.slice(0, -1).map((line) => JSON.parse(line.slice("data: ".length)) as Part);
}

test("an answer comes as text, with a source for each document and its citations", async () => {
  const { send, kb } = await served(documents);
  const parts = await partsOf(
    await send("POST", "/api/chat", { id: "chat", messages: [said("When do API keys expire?")] }),
  );
  expect(parts.map(({ type }) => type).filter((type) => type !== "text-delta")).toEqual([
    "start",
    "start-step",
    "data-passages",
    "text-start",
    "source-document",
    "data-citation",
    "text-end",
    "data-considered",
    "finish-step",
    "finish",
  ]);
  const text = parts.map(({ delta = "" }) => delta).join("");
  expect(text).toMatch(/API keys expire after 90 days\..* \[1\]$/);
  expect(parts).toContainEqual({ type: "source-document", sourceId: "keys", mediaType: "text/plain", title: "Keys" });
  expect(await kb.conversation({ id: "chat" }).exchanges()).toMatchObject([{ answer: { text } }]);
});

test.each([
  [true, { type: "tool-output-available", output: "Ticket 17" }],
  [false, { type: "tool-output-denied" }],
])("a call that waits is put to the reader, whose %j goes on with the same message", async (approved, outcome) => {
  const ran: string[] = [];
  const openTicket = tool({
    name: "open_ticket",
    description: "Opens a ticket.",
    input: z.object({ subject: z.string() }),
    writes: true,
    run: ({ subject }) => {
      ran.push(subject);
      return "Ticket 17";
    },
  });
  const { send } = await served(documents, { ask: { answer: { tools: [openTicket], approve: "later" } } });
  const question = said('Please open a ticket with the subject "keys expire"');
  const asked = await partsOf(await send("POST", "/api/chat", { id: "chat", messages: [question] }));
  const { approvalId, toolCallId } = asked.find(({ type }) => type === "tool-approval-request")!;
  expect(ran).toEqual([]);
  const approval = { id: approvalId, approved };
  const call = { type: "dynamic-tool", toolName: "open_ticket", toolCallId, state: "approval-responded", approval };
  const decided = { id: "m2", role: "assistant", parts: [call] };
  const resumed = await partsOf(await send("POST", "/api/chat", { id: "chat", messages: [question, decided] }));
  expect(resumed[0]).toEqual({ type: "start", messageId: "m2" });
  const outcomes = resumed.filter(({ type }) => type.startsWith("tool-output"));
  expect(outcomes).toEqual([expect.objectContaining({ toolCallId, ...outcome })]);
  expect(ran).toEqual(approved ? ["keys expire"] : []);
});

test("a chat of another owner is not gone on with", async () => {
  const access = (request: Request) => ({ owner: request.headers.get("x-owner")! });
  const { as } = await served(documents, { access });
  const body = { id: "chat", messages: [said("When do API keys expire?")] };
  await partsOf(await as({ "x-owner": "ada" }).send("POST", "/api/chat", body));
  expect((await as({ "x-owner": "bob" }).send("POST", "/api/chat", body)).status).toBe(404);
});

test.each([
  [{ messages: [] }, /id/],
  [{ id: "chat", messages: [] }, /messages/],
  [{ id: "chat", messages: [{ ...said("Hello"), role: "assistant" }] }, /must be a question/],
  [{ id: "chat", messages: [{ ...said(""), parts: [{ type: "file", url: "data:," }] }] }, /files in it are not read/],
])("%j is refused by a reason in words, which is what its page shows", async (body, message) => {
  const { send } = await served(documents);
  const reply = await send("POST", "/api/chat", body);
  expect([reply.status, reply.headers.get("content-type")]).toEqual([400, "text/plain; charset=utf-8"]);
  expect(await reply.text()).toMatch(message);
});

describe("the list of the page decides what an answer follows on", () => {
  const questions = ["When do API keys expire?", "Who renews the API keys?", "Do keys rust?"];
  const list = questions.flatMap((text, at) => [
    said(text, `u${at}`),
    { id: `a${at}`, role: "assistant", parts: [{ type: "text", text: "…" }] },
  ]);

  /** A chat in which these questions were asked, and the questions that are kept of it after one more request. */
  async function chat() {
    const { send, kb } = await served(documents);
    const kept = () => kb.conversation({ id: "chat" }).exchanges();
    for (const [at] of questions.entries()) {
      await partsOf(await send("POST", "/api/chat", { id: "chat", messages: list.slice(0, 2 * at + 1) }));
    }
    const after = async (request: object) => {
      await partsOf(await send("POST", "/api/chat", { id: "chat", trigger: "submit-message", ...request }));
      expect((await kept()).every(({ answer }) => answer?.stopped === false)).toBe(true);
      return (await kept()).map(({ question }) => question);
    };
    return { after, kept };
  }

  test("an edited question takes the place of the old one, and of what came after it", async () => {
    const { after } = await chat();
    const messages = [...list.slice(0, 2), said("Who is Ada?", "u1")];
    expect(await after({ messages, messageId: "u1" })).toEqual([questions[0], "Who is Ada?"]);
  });

  test("an answer that is made anew takes the place of the old one, and of what came after it", async () => {
    const { after, kept } = await chat();
    const askedAtMs = (await kept())[1]!.askedAtMs;
    const request = { messages: list.slice(0, 3), trigger: "regenerate-message", messageId: "a1" };
    expect(await after(request)).toEqual(questions.slice(0, 2));
    expect((await kept())[1]!.askedAtMs).toBe(askedAtMs);
  });

  test("a question that was refused and never kept is in the list, and deletes nothing", async () => {
    const { after } = await chat();
    const messages = [...list.slice(0, 4), said("Refused.", "u"), ...list.slice(4, 5)];
    expect(await after({ messages, trigger: "regenerate-message" })).toEqual(questions);
    const failed = [...list, said("Refused.", "u")];
    expect(await after({ messages: failed, trigger: "regenerate-message" })).toEqual([...questions, "Refused."]);
  });

  test("a page that has lost its list goes on with what is kept", async () => {
    const { after } = await chat();
    expect(await after({ messages: [said("Who is Ada?")] })).toEqual([...questions, "Who is Ada?"]);
  });
});

test("a question in mid-answer stops that answer, which is kept as far as it came, and follows on it", async () => {
  const { send, kb } = await served(documents, {}, { eventDelayMs: 200 });
  const question = "When do API keys expire?";
  const first = await send("POST", "/api/chat", { id: "chat", messages: [said(question)] });
  // Its reader stays: leaving would end it, too.
  const reader = first.body!.pipeThrough(new TextDecoderStream()).getReader();
  while (!(await reader.read()).value!.includes("text-delta"));
  const second = await partsOf(await send("POST", "/api/chat", { id: "chat", messages: [said("Who renews them?")] }));
  expect(second.at(-1)).toMatchObject({ type: "finish" });
  expect(await kb.conversation({ id: "chat" }).exchanges()).toMatchObject([
    { question, answer: { stopped: true } },
    { question: "Who renews them?", answer: { stopped: false } },
  ]);
});

test("passages are for the page alone: they do not come back with every further question", async () => {
  const { send } = await served(documents);
  const parts = await partsOf(
    await send("POST", "/api/chat", { id: "chat", messages: [said("When do API keys expire?")] }),
  );
  const transient = parts.filter((part) => part["transient"] === true).map(({ type }) => type);
  expect(transient).toEqual(["data-passages", "data-considered"]);
});

test("a chat that is loaded again is told that no answer is being made", async () => {
  const { send } = await served(documents);
  expect((await send("GET", "/api/chat/chat/stream")).status).toBe(204);
});
