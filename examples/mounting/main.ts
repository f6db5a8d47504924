// One handler in a server of Node's own and in an application of Hono, each below a path of its own.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Hono } from "hono";
import { openKnowledgeBase } from "citewell";
import { createHandler } from "citewell/server";

const kb = await openKnowledgeBase({ path: join(await mkdtemp(join(tmpdir(), "citewell-")), "store") });
await kb.ingest([{ uri: "keys", text: "API keys expire after 90 days. Ada renews them." }]);

// Who the application's own sign-in says it is; `undefined` is 401, and nothing is served.
const userOf = (request: Request) => request.headers.get("x-user") ?? undefined;

const help = createHandler(kb, {
  basePath: "/help",
  workers: 1,
  access: (request) => {
    const owner = userOf(request);
    return owner === undefined ? undefined : { owner };
  },
});

const app = new Hono();
app.use("/help/*", async (c, next) => (userOf(c.req.raw) === undefined ? c.redirect("/login") : next()));
app.mount("/help", help.fetch);

const asked = { method: "POST", body: JSON.stringify({ question: "When do API keys expire?", limit: 1 }) };
const inHono = await app.request("/help/api/search", { ...asked, headers: { "x-user": "ada" } });
console.log("in Hono:", ((await inHono.json()) as { passages: { text: string }[] }).passages[0]?.text);
console.log("without a user:", (await app.request("/help/")).headers.get("location"));

const server = createServer((request, response) => {
  if (request.url?.startsWith("/help")) void help.node(request, response);
  else response.writeHead(404).end();
});
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
const { port } = server.address() as AddressInfo;
const inNode = await fetch(`http://127.0.0.1:${port}/help/api/search`, { ...asked, headers: { "x-user": "ada" } });
console.log("in Node's own server:", inNode.status);

await new Promise((closed) => server.close(closed));
await help.close();
await kb.close();
