import { describe, expect, test } from "vitest";
import { z } from "zod";
import { tool } from "../../../src/core/tool.js";
import type { WireEvent } from "../../../src/server/api/wire.js";
import type { HandlerOptions } from "../../../src/server/options.js";
import { served } from "../../support/served.js";

const documents = [{ uri: "keys", title: "Keys", text: "API keys expire after 90 days. Ada renews them." }];
const question = 'Please open a ticket with the subject "keys expire"';

/** A server with a tool that writes, whose calls wait, and what the tool was called with. */
async function withTickets(access?: HandlerOptions["access"]) {
  const tickets: string[] = [];
  const openTicket = tool({
    name: "open_ticket",
    description: "Opens a ticket for the people who run the service.",
    input: z.object({ subject: z.string() }),
    writes: true,
    run: ({ subject }) => `Ticket ${tickets.push(subject)}`,
  });
  const ask = { answer: { tools: [openTicket], approve: "later" } } as const;
  return { ...(await served(documents, { ask, ...(access && { access }) })), tickets };
}

const reader = { "x-user": "bob" };
const writer = { "x-user": "ada" };
const access: HandlerOptions["access"] = ({ headers }) => ({
  role: headers.get("x-user") === "ada" ? "manage" : "add",
});

describe("a call of a tool that writes", () => {
  test("is approved by who may write alone; everybody who sees it may refuse it", async () => {
    const { as, tickets } = await withTickets(access);
    const asked = await as(reader).events("/api/conversations", { question });
    const { id } = asked[0] as Extract<WireEvent, { type: "conversation" }>;
    const { approvalId } = (asked.at(-1) as Extract<WireEvent, { type: "finish" }>).waiting[0]!;
    const path = `/api/conversations/${id}/approvals`;
    const { error } = await as(reader).json("POST", path, { approvals: { [approvalId]: true } }, 403);
    expect(error).toMatchObject({ code: "forbidden", message: expect.stringContaining("may not write") as string });
    const mixed = { approvals: { [approvalId]: false, other: true } };
    expect((await as(reader).send("POST", path, mixed)).status).toBe(403);
    expect(tickets).toEqual([]);
    await as(writer).events(path, { approvals: { [approvalId]: true } });
    expect(tickets).toEqual(["keys expire"]);

    const again = await as(reader).events("/api/conversations", { question });
    const { id: other } = again[0] as Extract<WireEvent, { type: "conversation" }>;
    const waiting = (again.at(-1) as Extract<WireEvent, { type: "finish" }>).waiting[0]!;
    const refusing = { approvals: { [waiting.approvalId]: false } };
    const ended = await as(reader).events(`/api/conversations/${other}/approvals`, refusing);
    expect(ended.at(-1)).toMatchObject({ type: "finish" });
    expect(tickets).toEqual(["keys expire"]);
  });

  test("is not approved by a message of useChat either", async () => {
    const { as, tickets } = await withTickets(access);
    const said = { id: "m1", role: "user", parts: [{ type: "text", text: question }] };
    const asked = await (await as(reader).send("POST", "/api/chat", { id: "chat", messages: [said] })).text();
    const approvalId = /"approvalId":"([^"]+)"/.exec(asked)![1]!;
    const toolCallId = /"toolCallId":"([^"]+)"/.exec(asked)![1]!;
    const approval = { id: approvalId, approved: true };
    const call = { type: "dynamic-tool", toolName: "open_ticket", toolCallId, state: "approval-responded", approval };
    const messages = [said, { id: "m2", role: "assistant", parts: [call] }];
    const refused = await as(reader).send("POST", "/api/chat", { id: "chat", messages });
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining("may not write")]);
    expect(tickets).toEqual([]);
    await (await as(writer).send("POST", "/api/chat", { id: "chat", messages })).text();
    expect(tickets).toEqual(["keys expire"]);
  });

  test("is approved by whoever is let in where nothing says who may write", async () => {
    const { events, tickets } = await withTickets();
    const asked = await events("/api/conversations", { question });
    const { id } = asked[0] as Extract<WireEvent, { type: "conversation" }>;
    const { approvalId } = (asked.at(-1) as Extract<WireEvent, { type: "finish" }>).waiting[0]!;
    await events(`/api/conversations/${id}/approvals`, { approvals: { [approvalId]: true } });
    expect(tickets).toEqual(["keys expire"]);
  });
});
