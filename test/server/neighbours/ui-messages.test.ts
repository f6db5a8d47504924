import { expect, test } from "vitest";
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
  expect(text).toBe("API keys expire after 90 days. [1]");
  expect(parts).toContainEqual({ type: "source-document", sourceId: "keys", mediaType: "text/plain", title: "Keys" });
  expect(kb.conversation({ id: "chat" }).exchanges()).toMatchObject([{ answer: { text } }]);
});

test("a call that waits is put to the reader, whose decision goes on with the same message", async () => {
  const ran: string[] = [];
  const openTicket = tool({
    name: "open_ticket",
    description: "Opens a ticket.",
    input: z.object({ subject: z.string() }),
    writes: true,
    run: ({ subject }) => ran.push(subject),
  });
  const { send } = await served(documents, { ask: { answer: { tools: [openTicket], approve: "later" } } });
  const question = said('Please open a ticket with the subject "keys expire"');
  const asked = await partsOf(await send("POST", "/api/chat", { id: "chat", messages: [question] }));
  const { approvalId, toolCallId } = asked.find(({ type }) => type === "tool-approval-request")!;
  expect(ran).toEqual([]);
  const decided = {
    id: "m2",
    role: "assistant",
    parts: [
      {
        type: "dynamic-tool",
        toolName: "open_ticket",
        toolCallId,
        state: "approval-responded",
        approval: { id: approvalId, approved: true },
      },
    ],
  };
  const resumed = await partsOf(await send("POST", "/api/chat", { id: "chat", messages: [question, decided] }));
  expect(resumed[0]).toEqual({ type: "start", messageId: "m2" });
  expect(resumed).toContainEqual(expect.objectContaining({ type: "tool-output-available", toolCallId }));
  expect(ran).toHaveLength(1);
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
])("%j is refused in one line", async (body, message) => {
  const { json } = await served(documents);
  expect((await json("POST", "/api/chat", body, 400)).error.message).toMatch(message);
});
