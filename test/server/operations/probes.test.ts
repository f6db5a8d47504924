// In test:all alone: it starts the server as a process, for 9 s.
import { createServer as createNodeServer, request as httpRequest } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { createHandler } from "../../../src/server/create-handler.js";
import { createServer } from "../../../src/server/create-server.js";
import { eventsOf, served } from "../../support/served.js";

const keys = { uri: "keys", title: "Keys", text: "API keys expire after 90 days. Ada renews them." };
const question = { question: "When do API keys expire?" };
const token = "a-token-of-ours";

const read = async (reply: Response) => [reply.status, await reply.text()];

/** The status of a request that addresses the server by another name than its own. */
function statusAs(host: string, url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    httpRequest(url, { headers: { host } }, (reply) => resolve(reply.resume().statusCode))
      .on("error", reject)
      .end();
  });
}

test("probes are answered without a token, by every name, in one word", async () => {
  const { send, url } = await served([keys], { token, hosts: ["docs.example.com"] });
  expect(await statusAs("10.0.0.7:8080", `${url}/livez`)).toBe(200);
  expect(await statusAs("10.0.0.7:8080", `${url}/readyz`)).toBe(200);
  expect(await statusAs("10.0.0.7:8080", `${url}/api/status`)).toBe(403);
  expect(await read(await send("GET", "/livez"))).toEqual([200, "live\n"]);
  expect(await read(await send("GET", "/readyz"))).toEqual([200, "ready\n"]);
});

test("a server whose documents cannot be read is alive and not ready, and logs that once", async () => {
  const errors: unknown[] = [];
  const { send, kb } = await served([keys], { token, onError: (error) => errors.push(error) });
  await kb.close();
  expect(await read(await send("GET", "/readyz"))).toEqual([503, "the documents cannot be read\n"]);
  expect((await send("GET", "/livez")).status).toBe(200);
  await new Promise((later) => setTimeout(later, 1100));
  expect((await send("GET", "/readyz")).status).toBe(503);
  expect(errors).toHaveLength(1);
});

test("many probes at once read the store once", async () => {
  const { kb } = await served([keys]);
  let readings = 0;
  const store = { ...kb.store, counts: () => (readings++, kb.store.counts()) };
  const handler = createHandler({ ...kb, store });
  onTestFinished(() => handler.close());
  const probes = Array.from({ length: 50 }, () => handler.fetch(new Request("http://localhost/readyz")));
  expect((await Promise.all(probes)).map(({ status }) => status)).toEqual(Array<number>(50).fill(200));
  expect(readings).toBe(1);
});

test("a handler that ends is not ready, lets answers finish, and takes no more", async () => {
  const { kb } = await served([keys], {}, { eventDelayMs: 30 });
  const handler = createHandler(kb, { closeGraceMs: 20_000 });
  const ask = () =>
    handler.fetch(
      new Request("http://localhost/api/conversations", { method: "POST", body: JSON.stringify(question) }),
    );
  const events = eventsOf(await ask());
  await events.next();
  const closed = handler.close();
  expect(await read(await handler.fetch(new Request("http://localhost/readyz")))).toEqual([503, "ending\n"]);
  expect((await ask()).status).toBe(503);
  const seen = [];
  for await (const { type } of events) seen.push(type);
  expect(seen.at(-1)).toBe("finish");
  await closed;
});

test("an answer that outlasts the grace period of a server is stopped and kept", async () => {
  const { kb } = await served([keys], {}, { eventDelayMs: 200 });
  const server = await createServer(kb, { closeGraceMs: 100 });
  const reply = await fetch(`${server.url}/api/conversations`, { method: "POST", body: JSON.stringify(question) });
  const events = eventsOf(reply);
  const { id } = (await events.next()).value as { id: string };
  for await (const { type } of { [Symbol.asyncIterator]: () => ({ next: () => events.next() }) }) {
    if (type === "text-delta") break;
  }
  const [seen] = await Promise.all([collect(events), server.close()]);
  expect(seen.at(-1)).toMatchObject({ type: "error", error: { code: "closed" } });
  expect(await kb.conversation({ id }).exchanges()).toMatchObject([{ answer: { stopped: true } }]);
});

test("a wrong method is refused with those that a path has", async () => {
  const { send, json } = await served([keys]);
  for (const [method, path, allow] of [
    ["PUT", "/api/status", "GET, HEAD"],
    ["GET", "/api/ask", "POST"],
    ["POST", "/api/documents", "GET, DELETE, HEAD"],
    ["DELETE", "/v1/chat/completions", "POST"],
    ["PATCH", "/", "GET, HEAD"],
  ] as const) {
    const reply = await send(method, path);
    expect([method, path, reply.status, reply.headers.get("allow")]).toEqual([method, path, 405, allow]);
  }
  expect((await json("GET", "/api/nothing", undefined, 404)).error.code).toBe("no-path");
});

test("behind a proxy callers are told apart by what the proxy saw, and not by what they claim", async () => {
  const { kb } = await served([keys]);
  const handler = createHandler(kb, { trustProxy: 1, limits: { requestsPerMinute: 2 } });
  const server = createNodeServer((request, response) => void handler.node(request, response));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(async () => {
    await new Promise((done) => server.close(done).closeAllConnections());
    await handler.close();
  });
  const { port } = server.address() as { port: number };
  const from = async (forwarded: string) =>
    (await fetch(`http://127.0.0.1:${port}/api/status`, { headers: { "x-forwarded-for": forwarded } })).status;
  expect([await from("9.9.9.1, 10.1.1.1"), await from("9.9.9.2, 10.1.1.1"), await from("9.9.9.3, 10.1.1.1")]).toEqual([
    200, 200, 429,
  ]);
  expect(await from("9.9.9.1, 10.1.1.2")).toBe(200);
});

test("a handler that ends lets the answers under way finish, and takes no more", async () => {
  const { kb } = await served([keys], {}, { eventDelayMs: 30 });
  const handler = createHandler(kb, { closeGraceMs: 20_000 });
  const ask = () => {
    const body = JSON.stringify({ question: "When do API keys expire?" });
    return handler.fetch(new Request("http://localhost/api/ask", { method: "POST", body }));
  };
  const reader = (await ask()).body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = (await reader.read()).value ?? "";
  let isOver = false;
  const closed = handler.close().then(() => (isOver = true));
  expect((await ask()).status).toBe(503);
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    text += next.value;
    if (!text.includes("event: finish")) expect(isOver).toBe(false);
  }
  expect(text).toContain("event: finish");
  await closed;
});

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
