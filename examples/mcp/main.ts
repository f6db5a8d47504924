// Documents for clients of the Model Context Protocol: a server within an application, and the official client that asks it.
import { mkdtemp } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { openKnowledgeBase } from "citewell";
import { createMcpHandler } from "citewell/mcp";

const kb = await openKnowledgeBase({ path: await mkdtemp(join(tmpdir(), "citewell-")) });
await kb.ingest([
  { uri: "keys", text: "API keys expire after 90 days. Ada renews them.", metadata: { tenant: "north" } },
  { uri: "doors", text: "The doors open at nine.", metadata: { tenant: "south" } },
]);

// `fetch` is a route of Hono, Next.js and others; here it is the whole server. Each token sees its own tenant's documents.
const tenants = new Map([["Bearer token-of-north", "north"]]);
const handler = await createMcpHandler(kb, {
  about: "keys and doors",
  access: ({ headers }) => {
    const tenant = tenants.get(headers.get("authorization") ?? "");
    return tenant === undefined ? undefined : { filter: { metadata: { tenant } } };
  },
});
const server = createServer((request, response) => void getRequestListener(handler.fetch)(request, response));
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);

const stranger = new Client({ name: "stranger", version: "1" });
await stranger.connect(new StreamableHTTPClientTransport(url)).catch(() => console.log("without a token: refused"));

const client = new Client({ name: "example", version: "1" });
const requestInit = { headers: { authorization: "Bearer token-of-north" } };
await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
console.log((await client.listTools()).tools.map(({ name }) => name).join(", "));
const asked = await client.callTool({ name: "ask", arguments: { question: "When do API keys expire?" } });
console.log(JSON.stringify(asked.structuredContent));
const { resources } = await client.listResources();
console.log(`documents: ${resources.map(({ name }) => name).join(", ")}`);

await client.close();
server.close();
server.closeAllConnections();
await handler.close();
await kb.close();
