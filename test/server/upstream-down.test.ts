import type { Client as McpClient } from "@modelcontextprotocol/client";
import { DefaultChatTransport, readUIMessageStream } from "ai";
import OpenAI from "openai";
import { expect, onTestFinished, test } from "vitest";
import { createTransport } from "citewell";
import { localDefaults, startLocalService } from "citewell/local";
import { createMcpHandler } from "citewell/mcp";
import { httpClient, serveHandler } from "../support/mcp-clients.js";
import { served } from "../support/served.js";

const question = "When do API keys expire?";
const key = "sk-0123456789";

/** Asks the question, and returns what the client shows in the end: the answer, or the reason why there is none. */
type Ask = () => Promise<string>;

function useChat(url: string): Ask {
  return async () => {
    const stream = await new DefaultChatTransport({ api: `${url}/api/chat` }).sendMessages({
      trigger: "submit-message",
      chatId: crypto.randomUUID(),
      messageId: undefined,
      messages: [{ id: "m", role: "user", parts: [{ type: "text", text: question }] }],
      abortSignal: undefined,
    });
    let text = "";
    for await (const { parts } of readUIMessageStream({ stream, terminateOnError: true })) {
      text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
    }
    return text;
  };
}

function openai(url: string): Ask {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "any", maxRetries: 0 });
  return async () => {
    const { choices } = await client.chat.completions.create({
      model: "citewell",
      messages: [{ role: "user", content: question }],
    });
    return choices[0]!.message.content!;
  };
}

function mcp(client: McpClient, name: "ask" | "search"): Ask {
  return async () => {
    const given = name === "ask" ? { question } : { query: question };
    const { content, isError } = await client.callTool({ name, arguments: given });
    const { text } = (content as readonly { readonly text: string }[])[0]!;
    if (isError) throw new Error(text);
    return text;
  };
}

test.each([
  ["cuts every connection", { disconnect: "before" }, /embeddings.*connection|connection.*embeddings/i],
  ["says that it is overloaded", { status: 503, message: "Too busy" }, /Too busy/],
])("a service that %s is the reason that every client is shown, until it is back", async (_, fault, reason) => {
  const service = await startLocalService({ apiKey: key, faults: {} });
  const transport = createTransport({ baseUrl: service.url, apiKey: key, backoffMs: 1, maxBackoffMs: 2 });
  onTestFinished(async () => {
    await transport.close();
    await service.close();
  });
  const documents = [{ uri: "keys", title: "Keys", text: "API keys expire after 90 days." }];
  const { kb, url } = await served(documents, {}, { transport, models: localDefaults });
  const handler = await createMcpHandler(kb);
  const { url: mcpUrl, close } = await serveHandler(handler.fetch);
  const [older, newer] = [await httpClient("2025-11-25", mcpUrl), await httpClient("2026-07-28", mcpUrl)];
  onTestFinished(async () => {
    for (const client of [older, newer]) await client.close();
    close();
    await handler.close();
  });
  const clients = [useChat(url), openai(url), mcp(older, "ask"), mcp(older, "search"), mcp(newer, "ask")];
  const faults = async (next: readonly object[]) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const body = JSON.stringify({ next });
    expect((await fetch(`${service.url}/local/faults`, { method: "PUT", headers, body })).status).toBe(200);
  };

  await faults([{ ...fault, times: 1_000_000 }]);
  for (const ask of clients) {
    const shown = await ask().then(
      (text) => `answered: ${text}`,
      (error: unknown) => String(error),
    );
    expect(shown).toMatch(reason);
    expect(shown).not.toContain(key);
  }
  // Tools that need no model go on working.
  const read = await newer.callTool({ name: "read_source", arguments: { uri: "keys" } });
  expect(read).toMatchObject({ structuredContent: { text: documents[0]!.text } });

  await faults([]);
  for (const ask of clients) expect(await ask()).toContain("API keys expire after 90 days.");
});
