import { request as httpRequest } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openKnowledgeBase, type KnowledgeBase } from "citewell";
import { keyFile, makeKey, revokeKey } from "citewell/server";
import { createMcpHandler, createMcpServer, type McpHandlerOptions } from "citewell/mcp";
import { httpClient, type Protocol, protocols, serveHandler } from "../../support/mcp-clients.js";

let folder: string;
let kb: KnowledgeBase;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "citewell-test-"));
  kb = await openKnowledgeBase({ path: join(folder, "store"), requireScope: true });
  await kb.ingest(
    Object.entries({ north: 11, south: 22 }).map(([tenant, room]) => ({
      uri: `file:///${tenant}/keys.md`,
      title: `Keys of ${tenant}`,
      text: `The recovery key of the ${tenant} office hangs in room ${room}.\n`,
      metadata: { tenant },
    })),
  );
});

afterAll(async () => {
  await kb.close();
  await rm(folder, { recursive: true, force: true });
});

async function serve(options: McpHandlerOptions): Promise<string> {
  const handler = await createMcpHandler(kb, options);
  const { url, close } = await serveHandler(handler.fetch);
  onTestFinished(async () => {
    close();
    await handler.close();
  });
  return url;
}

const tokens: Readonly<Record<string, string>> = { "Bearer n": "north", "Bearer s": "south" };
const byToken: McpHandlerOptions["access"] = ({ headers }) => {
  const tenant = tokens[headers.get("authorization") ?? ""];
  return tenant === undefined ? undefined : { filter: { metadata: { tenant } } };
};

/** Everything that a client can get at, in one text. */
async function everythingSeen(client: Client, uri: string): Promise<string> {
  const call = (name: string, given: Record<string, unknown>) => client.callTool({ name, arguments: given });
  const caught = (error: unknown) => String(error);
  const question = "Where is the recovery key?";
  return JSON.stringify([
    await call("search", { query: question }),
    await call("search", { query: question, filter: { metadata: { tenant: { exists: true } } } }),
    await call("ask", { question }),
    await call("read_source", { uri }),
    await call("read_source", { uri: `citewell://document/${encodeURIComponent(uri)}` }),
    await client.listResources().catch(caught),
    await client.listResources({ cursor: Buffer.from("a").toString("base64url") }).catch(caught),
    await client.readResource({ uri: `citewell://document/${encodeURIComponent(uri)}` }).catch(caught),
    await client.getPrompt({ name: "summarise_document", arguments: { uri } }).catch(caught),
  ]);
}

describe.each(Object.keys(protocols) as Protocol[])("in version %s", (protocol) => {
  test("a tenant sees nothing of another's documents, whatever it calls", async () => {
    const url = await serve({ access: byToken });
    const client = await httpClient(protocol, url, { authorization: "Bearer n" });
    onTestFinished(() => client.close());
    const foreign = await everythingSeen(client, "file:///south/keys.md");
    expect(foreign).toContain("north office");
    // Its own request repeats the address, and nothing else does.
    expect(foreign.replaceAll(/There is no document \\+"file:\/\/\/south\/keys\.md\\+"/g, "")).not.toMatch(
      /south office|Keys of south|room 22/,
    );
    expect(await everythingSeen(client, "file:///north/keys.md")).not.toContain("There is no document");
  });

  test("without a scope nothing is shown of a store that requires one, and the server's log says why", async () => {
    const errors: unknown[] = [];
    const url = await serve({ onError: (error) => errors.push(error) });
    const client = await httpClient(protocol, url);
    onTestFinished(() => client.close());
    const seen = await everythingSeen(client, "file:///south/keys.md");
    expect(seen).toContain("The documents cannot be read (scope). The server's log says why");
    expect(seen.includes("office") || seen.includes(folder)).toBe(false);
    expect(errors).toContainEqual(expect.objectContaining({ message: expect.stringContaining("requireScope") }));
  });
});

test("a request belongs to its own tenant also in the session of another", async () => {
  const url = await serve({ access: byToken });
  const post = (authorization: string, session: Record<string, string>, method: string, params: object) =>
    fetch(url, {
      method: "POST",
      headers: {
        authorization,
        ...session,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
  const clientInfo = { name: "test", version: "1" };
  const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const begun = await post("Bearer n", {}, "initialize", initialize);
  await begun.text();
  const session = { "mcp-session-id": begun.headers.get("mcp-session-id")! };
  const search = { name: "search", arguments: { query: "recovery key" } };
  expect(await (await post("Bearer n", session, "tools/call", search)).text()).toContain("north office");
  const other = await (await post("Bearer s", session, "tools/call", search)).text();
  expect(other).toContain("south office");
  expect(other).not.toContain("north office");
  expect((await post("Bearer x", session, "tools/call", search)).status).toBe(401);
  expect((await post("Bearer n", { "mcp-session-id": "none" }, "tools/call", search)).status).toBe(404);
});

test("callers are known by keys, which have filters and limits of their own and can be revoked", async () => {
  const keys = keyFile(join(folder, "mcp-keys.json"));
  const filter = { metadata: { tenant: "north" } };
  const { key, info } = await makeKey(keys, { name: "north", filter });
  const hasty = await makeKey(keys, { name: "hasty", filter, limits: { requestsPerMinute: 1 } });
  const url = await serve({ keys });
  const client = await httpClient("2025-11-25", url, { authorization: `Bearer ${key}` });
  onTestFinished(() => client.close());
  expect(await everythingSeen(client, "file:///south/keys.md")).not.toMatch(/south office|Keys of south/);
  expect(await everythingSeen(client, "file:///north/keys.md")).toContain("north office");
  const statusWith = (authorization: string) => statusOf(url, { authorization, "content-type": "application/json" });
  expect(await statusWith(`Bearer ${key.slice(0, -1)}`)).toBe(401);
  expect(await statusWith("")).toBe(401);
  await statusWith(`Bearer ${hasty.key}`);
  expect(await statusWith(`Bearer ${hasty.key}`)).toBe(429);
  await revokeKey(keys, info.id);
  await expect.poll(() => statusWith(`Bearer ${key}`), { timeout: 10_000 }).toBe(401);
  const access = () => ({});
  await expect(createMcpHandler(kb, { keys, access })).rejects.toThrow(
    "keys and access cannot both say who a caller is",
  );
});

test("the client that was idle for longest has to begin again when there are too many", async () => {
  const url = await serve({ access: byToken, maxSessions: 2 });
  const clients: Client[] = [];
  for (let count = 0; count < 3; count++) {
    const client = await httpClient("2025-11-25", url, { authorization: "Bearer n" });
    onTestFinished(() => client.close());
    clients.push(client);
    // The first is used again, so that the second is the one that was idle for longest.
    if (count === 1) await clients[0]!.listTools();
  }
  await expect(clients[1]!.listTools()).rejects.toMatchObject({ status: 404 });
  expect((await clients[0]!.listTools()).tools).toHaveLength(3);
  expect((await clients[2]!.listTools()).tools).toHaveLength(3);
});

/** The status of a request with headers that `fetch` does not let anybody set. */
function statusOf(
  url: string,
  headers: Readonly<Record<string, string>>,
  method = "POST",
  body = "{}",
): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers: { "content-type": "application/json", ...headers } });
    request.on("response", (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    request.on("error", reject);
    request.end(body);
  });
}

describe("a request that should not be answered", () => {
  const own = { authorization: "Bearer n" };

  test("is refused for the name that it came by, and for the page that it came from", async () => {
    const url = await serve({ hosts: ["127.0.0.1", "docs.example.com"], origins: ["https://app.example.com"] });
    // An admitted request is then refused, since it holds no message.
    expect(await statusOf(url, {})).toBe(400);
    expect(await statusOf(url, { host: "docs.example.com" })).toBe(400);
    expect(await statusOf(url, { origin: "https://app.example.com" })).toBe(400);
    expect(await statusOf(url, { host: "rebound.example.com" })).toBe(403);
    expect(await statusOf(url, { origin: "https://example.com" })).toBe(403);
    expect(await statusOf(url, { origin: "null" })).toBe(403);
  });

  test("is refused by every name but the machine's own where nothing else guards the documents", async () => {
    const open = await serve({});
    expect(await statusOf(open, { host: "localhost" })).toBe(400);
    expect(await statusOf(open, { host: "docs.example.com" })).toBe(403);
    const guarded = await serve({ access: byToken });
    expect(await statusOf(guarded, { ...own, host: "docs.example.com" })).toBe(400);
  });

  test("is refused without a token, for its method, its type and its size", async () => {
    const url = await serve({ access: byToken, limits: { maxBodyBytes: 1000 } });
    expect(await statusOf(url, {})).toBe(401);
    expect(await statusOf(url, { authorization: "Bearer x" })).toBe(401);
    expect(await statusOf(url, own, "GET", "")).toBe(405);
    expect(await statusOf(url, own, "PUT")).toBe(405);
    expect(await statusOf(url, { ...own, "content-type": "text/plain" })).toBe(415);
    expect(await statusOf(url, own, "POST", `{"a":"${"a".repeat(1000)}"}`)).toBe(413);
    expect(await statusOf(url, own, "POST", "{")).toBe(400);
  });

  test("is refused when its caller asks too often, and others are not", async () => {
    const url = await serve({ access: byToken, limits: { requestsPerMinute: 2 } });
    const statuses = [];
    for (let count = 0; count < 3; count++) statuses.push(await statusOf(url, own));
    expect(statuses).toEqual([400, 400, 429]);
    expect(await statusOf(url, { authorization: "Bearer s" })).toBe(400);
  });

  test("is told nothing of why its access could not be decided", async () => {
    const errors: unknown[] = [];
    const access = () => Promise.reject(new Error("the table of tokens is at /srv/tokens"));
    const url = await serve({ access, onError: (error) => errors.push(error) });
    const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("/srv");
    expect(errors).toEqual([new Error("the table of tokens is at /srv/tokens")]);
  });
});

test("options that nobody knows, and what is no knowledge base, are refused", async () => {
  await expect(createMcpHandler(kb, { tokens: "a" } as never)).rejects.toMatchObject({ option: "tokens" });
  await expect(createMcpHandler(kb, { token: "short" })).rejects.toMatchObject({ option: "token" });
  await expect(createMcpServer(kb, { maxCharacters: 10 })).rejects.toMatchObject({ option: "maxCharacters" });
  await expect(createMcpServer("./.citewell" as never)).rejects.toMatchObject({ code: "options" });
});
