// In test:all alone: it waits for slow readers, for 18 s.
import { once } from "node:events";
import { Agent, createServer, get, type IncomingMessage } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { startLocalService, type LocalService, type LocalServiceOptions } from "../../../src/local/service.js";
import { Connections } from "../../../src/network/connections.js";
import { eventually } from "../call.js";
import { paths, post } from "../conformance.js";

let service: LocalService | undefined;
afterEach(() => service?.close());

async function start(options: LocalServiceOptions): Promise<LocalService> {
  service = await startLocalService(options);
  return service;
}

const chat = {
  model: "citewell/local-extractive",
  messages: [{ role: "user", content: "Context: Keys expire after 90 days.\n\nQuestion: When do keys expire?" }],
};

test("requests up to the limit are answered concurrently, and one more is refused with 503", async () => {
  const target = await start({ maxConcurrentRequests: 2, eventDelayMs: 30 });
  const slow = [post(target, paths.chat, chat), post(target, paths.chat, chat)];
  await eventually(async () => {
    expect(await post(target, paths.embeddings, { model: "citewell/local-lexical", input: "a" })).toMatchObject({
      status: 503,
      body: { code: 50_505, message: "More than 2 requests at the same time", data: null },
    });
  });
  for (const answer of await Promise.all(slow)) expect(answer.status).toBe(200);
  await eventually(async () => {
    const { status } = await post(target, paths.embeddings, { model: "citewell/local-lexical", input: "a" });
    expect(status).toBe(200);
  });
});

test("close lets an open stream finish, waits for nothing after it and accepts no new request", async () => {
  const target = await start({ eventDelayMs: 20, closeGraceMs: 600_000 });
  const streamed = post(target, paths.chat, chat);
  await eventually(() => expect(target.openRequests).toBe(1));
  const closed = target.close();
  await expect(post(target, paths.chat, chat)).rejects.toThrow("fetch failed");
  expect((await streamed).text).toMatch(/data: \[DONE\]\n\n$/);
  await closed;
});

test("close lets a reply that is written arrive whole at a slow reader, also when another request ends before", async () => {
  const large = Buffer.alloc(64 << 20);
  const answers = new Map<string | undefined, (body: string | Buffer) => void>();
  const server = createServer(({ url }, response) => {
    response.flushHeaders();
    answers.set(url, (body) => response.end(body));
  });
  const connections = new Connections(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true });
  const [slow, quick] = await Promise.all(
    ["/slow", "/quick"].map(async (path) => {
      const [response] = await once(get({ port, path, agent }), "response");
      return response as IncomingMessage;
    }),
  );
  const closed = connections.close(600_000);
  answers.get("/slow")!(large);
  answers.get("/quick")!("done");
  await buffer(quick!);
  await eventually(() => expect(connections.active).toBe(1));
  expect((await buffer(slow!)).length).toBe(large.length);
  await closed;
});

test("close breaks connections that do not end within the grace period", async () => {
  const faults = { stream: { stallAfterEvents: 1, stallMs: 600_000 } };
  const target = await start({ faults, closeGraceMs: 50 });
  const streamed = post(target, paths.chat, chat);
  await eventually(() => expect(target.openRequests).toBe(1));
  await Promise.all([expect(streamed).rejects.toThrow("terminated"), target.close()]);
});

test("every request is logged at its end, including one whose caller disconnected", async () => {
  const entries: object[] = [];
  const target = await start({ eventDelayMs: 20, log: (entry) => entries.push(entry) });
  await post(target, paths.chat, { ...chat, max_tokens: 1 });
  const leaving = new AbortController();
  const response = await fetch(target.url + paths.chat, {
    method: "POST",
    headers: { authorization: `Bearer ${target.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify(chat),
    signal: leaving.signal,
  });
  await response.body?.getReader().read();
  leaving.abort();
  await eventually(() => expect(entries).toHaveLength(2));
  expect(entries).toMatchObject([
    { method: "POST", path: paths.chat, status: 200, aborted: false },
    { method: "POST", path: paths.chat, status: 200, aborted: true },
  ]);
});

test("a caller that never finishes its headers is disconnected", async () => {
  const target = await start({ headersTimeoutMs: 100 });
  const socket = connect(Number(new URL(target.url).port), "127.0.0.1");
  let answer = "";
  socket.on("data", (part: Buffer) => (answer += part.toString()));
  socket.write("POST /llm/v1/embeddings HTTP/1.1\r\nHost: a\r\n");
  await once(socket, "close");
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
});
