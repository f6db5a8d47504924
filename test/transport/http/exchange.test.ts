import { once } from "node:events";
import { type RequestListener, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { TransportError } from "../../../src/core/errors.js";
import { type Transport, createTransport } from "../../../src/transport/transport.js";
import { chunk, streamed, transportFor } from "../../support/transport-for.js";

const ask = { model: "m", messages: [{ role: "user" as const, content: "?" }] };

async function serving(listener: RequestListener): Promise<Transport> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const transport = createTransport({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  onTestFinished(async () => {
    await transport.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return transport;
}

test("a slow reader holds the service back, and gets everything in the end", async () => {
  const event = `data: ${JSON.stringify(chunk({ content: "x".repeat(64 * 1024) }))}\n\n`;
  const events = 512;
  let written = 0;
  const write = async (response: ServerResponse) => {
    response.setHeader("content-type", "text/event-stream");
    for (; written < events; written++) if (!response.write(event)) await once(response, "drain");
    response.end(`data: ${JSON.stringify(chunk({}, { finish_reason: "stop" }))}\n\n`);
  };
  const transport = await serving((_, response) => void write(response));
  let characters = 0;
  for await (const part of transport.chatStream(ask)) {
    if (part.type !== "text-delta") continue;
    if (characters === 0) {
      for (let before = -1; before < written; await sleep(100)) before = written;
      expect(written).toBeLessThan(events);
    }
    characters += part.text.length;
  }
  expect(characters).toBe(events * 64 * 1024);
});

test("data that came before a connection broke is read, however late", async () => {
  const sse = ["one ", "two ", "three"].map((content) => chunk({ content }));
  const { transport, upstream } = await transportFor([{ sse, gapMs: 5, destroy: true }]);
  const said: string[] = [];
  const reading = async () => {
    for await (const part of transport.chatStream(ask)) {
      if (part.type === "text-delta") said.push(part.text);
      await upstream.requests[0]!.end;
      await sleep(20);
    }
  };
  const error: unknown = await reading().catch((thrown: unknown) => thrown);
  expect(said).toEqual(["one ", "two ", "three"]);
  expect(error).toMatchObject({ code: "truncated", partialText: "one two three" });
  expect(error).toBeInstanceOf(TransportError);
});

test("an abort ends a stream at once, though more of it waits to be read", async () => {
  const { transport, upstream } = await transportFor([{ ...streamed("one ", "two ", "three"), gapMs: 5 }]);
  const controller = new AbortController();
  const reason = new Error("enough");
  const said: string[] = [];
  const reading = async () => {
    for await (const part of transport.chatStream(ask, { signal: controller.signal })) {
      if (part.type === "text-delta") said.push(part.text);
      await upstream.requests[0]!.end;
      await sleep(20);
      controller.abort(reason);
    }
  };
  await expect(reading()).rejects.toBe(reason);
  expect(said).toEqual(["one "]);
});

test("informational answers are not taken for the answer", async () => {
  let requests = 0;
  const transport = await serving((_, response) => {
    response.writeProcessing();
    response.writeEarlyHints({ link: "</style.css>; rel=preload" });
    const busy = requests++ === 0;
    setTimeout(() => {
      if (busy) response.writeHead(503).end("busy");
      else response.end(JSON.stringify({ data: [{ index: 0, embedding: [1, 2] }] }));
    }, 20);
  });
  const { vectors } = await transport.embeddings({ model: "m", input: ["a"] });
  expect(vectors).toEqual([Float32Array.of(1, 2)]);
  expect(requests).toBe(2);
});
