import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished } from "vitest";
import { createHandler, type Handler } from "../../src/server/create-handler.js";
import { clientOf, served } from "./served.js";

const keys = { uri: "keys", title: "Keys", text: "API keys expire after 90 days. Ada renews them." };

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Serves a handler at `/docs` the way that `mount` puts it there, and expects that it streams, and notices who leaves. */
export async function expectMounted(mount: (handler: Handler) => Listener): Promise<void> {
  const { kb } = await served([keys], {}, { eventDelayMs: 100 });
  const handler = createHandler(kb, { basePath: "/docs", title: "Mounted" });
  const listener = mount(handler);
  const server = createServer((request, response) => void listener(request, response));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
    await handler.close();
  });
  const { json, send } = clientOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  expect(await json("GET", "/docs/api/status")).toMatchObject({ title: "Mounted", documents: 1 });
  expect((await json("GET", "/docs/api/nothing", undefined, 404)).error.code).toBe("no-path");

  const question = {
    id: "left",
    messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "When do keys expire?" }] }],
  };
  const whole = await send("POST", "/docs/api/chat", { ...question, id: "whole" });
  let parts = 0;
  for await (const _ of whole.body!) parts++;
  expect(parts).toBeGreaterThan(2);
  expect(await kb.conversation({ id: "whole" }).exchanges()).toMatchObject([{ answer: { stopped: false } }]);

  const left = await send("POST", "/docs/api/chat", question);
  const reading = left.body!.pipeThrough(new TextDecoderStream());
  for await (const part of reading) if (part.includes("text-delta")) break;
  const kept = async () => (await kb.conversation({ id: "left" }).exchanges())[0]?.answer?.stopped;
  await expect.poll(kept, { timeout: 20_000 }).toBe(true);
}
