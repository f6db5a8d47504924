import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { expect, onTestFinished, test } from "vitest";
import { createHandler, type HandlerOptions } from "citewell/server";
import { expectMounted } from "../support/mounted.js";
import { clientOf, served } from "../support/served.js";

const keys = { uri: "keys", title: "Keys", text: "API keys expire after 90 days. Ada renews them." };
const question = { question: "When do API keys expire?" };

test("a handler runs in Express, before what reads bodies", async () => {
  await expectMounted(({ node }) => express().all("/docs/{*path}", node).use(express.json()));
});

test("a handler runs in Express behind what reads bodies, at a path that Express cuts off", async () => {
  await expectMounted(({ node }) => express().use(express.json()).use("/docs", node));
});

/** A program that mounts a handler without a path of its own. */
async function mounted(
  mount: (handler: ReturnType<typeof createHandler>) => express.Express,
  options?: HandlerOptions,
) {
  const { kb, folder } = await served([keys]);
  const handler = createHandler(kb, { uploads: { folder }, ...options });
  const server = createServer(mount(handler));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(async () => {
    await new Promise((closed) => server.close(closed));
    await handler.close();
  });
  return clientOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { "content-type": "application/json" });
}

test("a handler without a path works where Express mounts it, with its page and its sign-in", async () => {
  const { json, url } = await mounted(({ node }) => express().use("/help", node), { token: "let-me-in-please" });
  expect((await json("GET", "/help/api/status", undefined, 401)).error.code).toBe("unauthorized");
  const opened = await fetch(`${url}/help?token=let-me-in-please`, { redirect: "manual" });
  expect([opened.status, opened.headers.get("location")]).toEqual([303, "/help/"]);
  const bare = await fetch(`${url}/help`, { redirect: "manual" });
  expect([bare.status, bare.headers.get("location")]).toEqual([308, "/help/"]);
  expect(await (await fetch(`${url}/help/`)).text()).toContain("<title>Citewell</title>");
  const cookie = opened.headers.get("set-cookie")!.split(";")[0]!;
  expect((await fetch(`${url}/help/api/status`, { headers: { cookie } })).status).toBe(200);
});

test.each([
  ["JSON", () => express.json()],
  ["a text", () => express.text({ type: "*/*" })],
  ["bytes", () => express.raw({ type: "*/*" })],
])("a body that Express has read as %s is used", async (_, reads) => {
  const { json } = await mounted(({ node }) => express().use(reads()).use(node));
  expect((await json("POST", "/api/search", question)).passages).toMatchObject([{ uri: "keys" }]);
  expect((await json("POST", "/api/search", { ...question, limit: 0 }, 400)).error.message).toContain("limit");
});

test("a body that was read and is gone is said to be, for JSON and for files", async () => {
  const swallowing: express.RequestHandler = (request, _, next) => void request.resume().on("end", next);
  const { json } = await mounted(({ node }) => express().use(swallowing).use(node));
  for (const [method, path] of [
    ["POST", "/api/search"],
    ["PUT", "/api/uploads/keys.txt"],
  ] as const) {
    expect((await json(method, path, question, 400)).error.message).toContain("before what reads bodies");
  }
});
