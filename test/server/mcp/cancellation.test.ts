import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTransport, openKnowledgeBase, type KnowledgeBase, type Transport } from "citewell";
import { type LocalService, localDefaults, startLocalService } from "citewell/local";
import { createMcpHandler, type McpHandler } from "citewell/mcp";
import { httpClient, type Protocol, protocols, serveHandler, stdioClient } from "../../support/mcp-clients.js";

let folder: string;
let service: LocalService;
let transport: Transport;
let kb: KnowledgeBase;
let handler: McpHandler;
let served: Awaited<ReturnType<typeof serveHandler>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "citewell-test-"));
  // A chat that takes ten minutes: whatever ends it here is not its answer.
  service = await startLocalService({ apiKey: "key", faults: { latencyMs: { chat: 600_000 } }, closeGraceMs: 0 });
  transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
  kb = await openKnowledgeBase({ path: join(folder, "store"), transport, models: localDefaults });
  await kb.ingest([{ uri: "keys", text: "Ada keeps the recovery key.\n" }]);
  handler = await createMcpHandler(kb);
  served = await serveHandler(handler.fetch);
});

afterAll(async () => {
  served.close();
  await handler.close();
  await kb.close();
  await transport.close();
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

const transports = {
  stdio: (protocol: Protocol) =>
    stdioClient(protocol, ["--store", join(folder, "store")], {
      CITEWELL_BASE_URL: service.url,
      CITEWELL_API_KEY: "key",
      CITEWELL_EMBEDDING_MODEL: localDefaults.embedding,
      CITEWELL_CHAT_MODEL: localDefaults.chat,
    }),
  "streamable HTTP": (protocol: Protocol) => httpClient(protocol, served.url),
};
const ways = Object.keys(transports).flatMap((name) =>
  Object.keys(protocols).map((protocol) => [name as keyof typeof transports, protocol as Protocol] as const),
);

/** Asks, and waits until the chat model is being asked. */
async function asking(client: Client): Promise<{ readonly stop: AbortController; readonly ended: Promise<unknown> }> {
  const stop = new AbortController();
  const question = { name: "ask", arguments: { question: "Who keeps the recovery key?" } };
  let ended: Promise<unknown> = Promise.resolve();
  await new Promise<void>((retrieved) => {
    ended = client.callTool(question, { signal: stop.signal, onprogress: () => retrieved() }).then(
      () => "answered",
      () => "ended",
    );
  });
  await expect.poll(() => service.openRequests, { timeout: 15_000 }).toBe(1);
  return { stop, ended };
}

test.each(ways)("over %s, in version %s, cancelling a call ends the request to the model", async (name, protocol) => {
  const client = await transports[name](protocol);
  try {
    const { stop, ended } = await asking(client);
    stop.abort();
    expect(await ended).toBe("ended");
    await expect.poll(() => service.openRequests, { timeout: 15_000 }).toBe(0);
    // The connection is as good as before.
    expect((await client.listTools()).tools).toHaveLength(3);
  } finally {
    await client.close();
  }
});

test.each(ways)(
  "over %s, in version %s, a client that goes away ends the request to the model",
  async (name, protocol) => {
    const client = await transports[name](protocol);
    const { ended } = await asking(client);
    await client.close();
    expect(await ended).toBe("ended");
    await expect.poll(() => service.openRequests, { timeout: 15_000 }).toBe(0);
  },
);

test.each(Object.keys(protocols) as Protocol[])(
  "closing the handler ends the calls under way, in version %s, and takes no more",
  async (protocol) => {
    const another = await createMcpHandler(kb);
    const { url, close } = await serveHandler(another.fetch);
    const client = await httpClient(protocol, url);
    try {
      const { ended } = await asking(client);
      await another.close();
      await expect.poll(() => service.openRequests, { timeout: 15_000 }).toBe(0);
      await expect(client.listTools()).rejects.toMatchObject({ status: 503 });
      await client.close();
      await ended;
    } finally {
      close();
    }
  },
);

test("more answers at once than the limit are refused, and searches are not", async () => {
  const limitedHandler = await createMcpHandler(kb, { limits: { maxConcurrentAnswers: 1 } });
  const { url, close } = await serveHandler(limitedHandler.fetch);
  const [first, second] = [await httpClient("2025-11-25", url), await httpClient("2026-07-28", url)];
  try {
    const { stop, ended } = await asking(first);
    const question = { name: "ask", arguments: { question: "Who keeps the recovery key?" } };
    expect(await second.callTool(question)).toMatchObject({
      isError: true,
      content: [{ text: "Only 1 answers are made at once. Try again in a while" }],
    });
    const found = await second.callTool({ name: "search", arguments: { query: "recovery key" } });
    expect(found.isError ?? false).toBe(false);
    stop.abort();
    await ended;
    await expect.poll(() => service.openRequests, { timeout: 15_000 }).toBe(0);
    const again = await asking(second);
    again.stop.abort();
    await again.ended;
  } finally {
    await first.close();
    await second.close();
    close();
    await limitedHandler.close();
  }
});
