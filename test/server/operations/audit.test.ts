import { readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { tool } from "../../../src/core/tool.js";
import type { WireEvent } from "../../../src/server/api/wire.js";
import type { AuditEntry } from "../../../src/server/operations/audit.js";
import { served } from "../../support/served.js";

const documents = [{ uri: "keys", title: "Keys", text: "API keys expire after 90 days." }];
const question = "When do API keys expire?";

/** Identifies callers by a header, of whom nobody without one is let in. */
const access = ({ headers }: Request) => {
  const owner = headers.get("x-owner");
  return owner === null ? undefined : ({ owner, role: owner === "ada" ? "manage" : "ask" } as const);
};

test("who asked, searched, read, uploaded, deleted, decided and was refused is recorded, without texts", async () => {
  const entries: AuditEntry[] = [];
  const openTicket = tool({
    name: "open_ticket",
    description: "Opens a ticket for the people who run the service.",
    input: z.object({ subject: z.string() }),
    writes: true,
    run: () => "Ticket 1",
  });
  const { as, json } = await served(documents, (folder) => ({
    access,
    uploads: { folder: join(folder, "uploads") },
    ask: { answer: { tools: [openTicket], approve: "later" } },
    audit: { to: (entry) => entries.push(entry) },
  }));
  const [ada, bob] = [as({ "x-owner": "ada" }), as({ "x-owner": "bob" })];
  const deeds = () => entries.splice(0).map(({ event, caller, request }) => [event, caller, request]);

  await json("GET", "/api/documents", undefined, 401);
  expect(deeds()).toEqual([["refusal", undefined, "GET /api/documents"]]);
  await bob.json("POST", "/api/search", { question });
  await bob.events("/api/ask", { question });
  await bob.send("POST", "/v1/chat/completions", {
    model: "citewell",
    messages: [{ role: "user", content: question }],
  });
  await bob.json("GET", "/api/passages?uri=keys");
  await bob.json("DELETE", "/api/documents?uri=keys", undefined, 403);
  expect(deeds()).toEqual([
    ["search", "bob", "POST /api/search"],
    ["question", "bob", "POST /api/ask"],
    ["question", "bob", "POST /v1/chat/completions"],
    ["document", "bob", "GET /api/passages"],
    ["refusal", "bob", "DELETE /api/documents"],
  ]);

  const asked = await ada.events("/api/conversations", { question: 'Please open a ticket with the subject "late"' });
  const { id } = asked[0] as Extract<WireEvent, { type: "conversation" }>;
  const { approvalId } = (asked.at(-1) as Extract<WireEvent, { type: "finish" }>).waiting[0]!;
  await ada.events(`/api/conversations/${id}/approvals`, { approvals: { [approvalId]: true } });
  await ada.send("PUT", "/api/uploads/hours.md", "The vault opens at nine.");
  await ada.send("DELETE", "/api/uploads/hours.md");
  await ada.send("DELETE", `/api/conversations/${id}`);
  expect(entries).toMatchObject([
    { event: "question", conversation: id },
    { event: "approval", conversation: id, approvals: { [approvalId]: true } },
    { event: "upload", file: "hours.md" },
    { event: "deletion", file: "hours.md" },
    { event: "deletion", conversation: id },
  ]);
  for (const entry of entries) {
    expect(entry).toMatchObject({ caller: "ada", address: "127.0.0.1", requestId: expect.any(String) as string });
    expect(Date.parse(entry.time)).toBeGreaterThan(Date.now() - 600_000);
  }
  expect(JSON.stringify(entries)).not.toMatch(/late|nine/);
});

test("a file gets a line of JSON for each, with questions where they are asked for, and may be moved away", async () => {
  const { as, folder } = await served(documents, (place) => ({
    access,
    audit: { to: join(place, "audit.jsonl"), texts: true },
  }));
  const path = join(folder, "audit.jsonl");
  const lines = async () => {
    const text = await readFile(path, "utf8").catch(() => "");
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as AuditEntry);
  };
  const ada = as({ "x-owner": "ada" });
  await Promise.all(
    Array.from({ length: 20 }, (_, at) => ada.json("POST", "/api/search", { question: `${question} ${at}` })),
  );
  await expect.poll(async () => (await lines()).length).toBe(20);
  expect(new Set((await lines()).map(({ text }) => text)).size).toBe(20);
  await rename(path, `${path}.1`);
  await ada.json("POST", "/api/search", { question: "line\nbreak" });
  await expect.poll(lines).toMatchObject([{ event: "search", text: "line\nbreak" }]);
});

test("lines that cannot be written are told to the log, and the server goes on", async () => {
  const errors: Error[] = [];
  const { json } = await served(documents, (folder) => ({
    audit: { to: join(folder, "no", "such", "folder", "audit.jsonl") },
    onError: (error) => errors.push(error as Error),
  }));
  await json("POST", "/api/search", { question });
  await expect.poll(() => errors.map(({ message }) => message)).toEqual([expect.stringContaining("ENOENT")]);
});
