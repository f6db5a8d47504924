// In test:all alone: it drives a browser, for 13 s.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { tool } from "../../../src/core/tool.js";
import type { KnowledgeBaseOptions } from "../../../src/knowledge-base/options.js";
import { isChromiumMissing, tabs } from "../../support/chromium.js";
import { embeddingReply } from "../../support/embedding-service.js";
import { served } from "../../support/served.js";
import { chunk, streamed, transportFor } from "../../support/transport-for.js";
import { answered, ask } from "./chat-page.js";

const documents = [{ uri: "keys", title: "Keys", text: "API keys expire after 90 days. Ada renews them." }];
const question = 'Please open a ticket with the subject "keys expire"';

describe.skipIf(isChromiumMissing)("a tool that needs approval", () => {
  const { open } = tabs();

  /** A page that has asked for a ticket, and the tickets that were opened. */
  async function asked(more?: KnowledgeBaseOptions) {
    const tickets: string[] = [];
    const openTicket = tool({
      name: "open_ticket",
      description: "Opens a ticket for the people who run the service.",
      input: z.object({ subject: z.string() }),
      writes: true,
      run: ({ subject }) => `Ticket ${tickets.push(subject)} was opened: ${subject}`,
    });
    const { url } = await served(documents, { ask: { answer: { tools: [openTicket], approve: "later" } } }, more);
    const { page } = await open(url);
    await ask(page, question);
    const card = page.getByRole("region", { name: "Allow this tool to run?" });
    await card.waitFor();
    return { page, card, tickets };
  }

  test("is shown with its arguments and a warning, and runs when it is allowed", async () => {
    const { page, card, tickets } = await asked();
    expect(await card.innerText()).toMatch(/call open_ticket with:\s*\{\s*"subject": "keys expire"\s*\}/);
    expect(await card.innerText()).toContain("text in documents can try to steer it");
    expect(tickets).toEqual([]);
    await card.getByRole("button", { name: "Allow" }).click();
    await page.getByText("Called open_ticket").waitFor();
    await answered(page);
    expect(tickets).toEqual(["keys expire"]);
    expect(await card.count()).toBe(0);
  });

  test("does not run when it is refused, and the answer goes on without it", async () => {
    const { page, card, tickets } = await asked();
    await card.getByRole("button", { name: "Refuse" }).click();
    await page.getByText("open_ticket was refused").waitFor();
    await answered(page);
    expect(tickets).toEqual([]);
    expect(await card.count()).toBe(0);
  });

  test("runs once, also when the answer breaks off behind it and is tried again after a reload", async () => {
    const call = { index: 0, id: "c1", function: { name: "open_ticket", arguments: '{"subject":"keys"}' } };
    const replies = [
      { sse: [chunk({ tool_calls: [call] }), chunk({}, { finish_reason: "tool_calls" }), "[DONE]"] },
      { status: 503, json: { error: { message: "overloaded" } } },
      streamed('I opened it. Keys expire [1: "API keys expire after 90 days."].'),
    ];
    const { transport } = await transportFor(
      (request) => (request.path.endsWith("/embeddings") ? embeddingReply(request) : replies.shift()!),
      { maxRetries: 0 },
    );
    const models = { embedding: "test/embed-m3", chat: "test/chat" };
    const { page, card, tickets } = await asked({ transport, models });
    await card.getByRole("button", { name: "Allow" }).click();
    await page.getByText("The answer could not be made").waitFor();
    expect(await card.count()).toBe(0);
    expect(tickets).toEqual(["keys"]);
    await page.reload();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("I opened it.").first().waitFor();
    await answered(page);
    expect(tickets).toEqual(["keys"]);
    expect(await page.locator(".failure").count()).toBe(0);
  });

  test("still waits after a reload, and is marked in the list of conversations", async () => {
    const { page, card, tickets } = await asked();
    await page.reload();
    await card.waitFor();
    await page.getByRole("navigation").getByText("waits for your approval").waitFor();
    await card.getByRole("button", { name: "Allow" }).click();
    await page.getByText("Called open_ticket").waitFor();
    expect(tickets).toEqual(["keys expire"]);
  });
});
