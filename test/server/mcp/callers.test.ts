import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openKnowledgeBase, type KnowledgeBase } from "citewell";
import { type GroupAccess, keyFile, makeKey, type NewKey, revokeKey } from "citewell/server";
import { createMcpHandler, type McpHandlerOptions } from "citewell/mcp";
import { httpClient, type Protocol, protocols, serveHandler } from "../../support/mcp-clients.js";
import { audience, openIdProvider } from "../../support/open-id-provider.js";

let folder: string;
let kb: KnowledgeBase;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "citewell-test-"));
  kb = await openKnowledgeBase({ path: join(folder, "store") });
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

const groups: Readonly<Record<string, GroupAccess>> = {
  "/north": { filter: { metadata: { tenant: "north" } } },
  "/south": { filter: { metadata: { tenant: "south" } } },
  "/staff": {},
};

let books = 0;

async function withKeys(options: McpHandlerOptions = {}) {
  const keys = keyFile(join(folder, `keys-${books++}.json`));
  const url = await serve({ keys, groups, ...options });
  return { keys, url, make: (key: Partial<NewKey> = {}) => makeKey(keys, { name: "test", ...key }) };
}

async function withProvider(options: McpHandlerOptions = {}) {
  const provider = await openIdProvider();
  const openId = { issuer: provider.issuer, audience, ...options.openId };
  return { provider, url: await serve({ groups, ...options, openId }) };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const clientInfo = { name: "test", version: "1" };
const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };

function post(url: string, headers: Record<string, string>, method: string, params: object): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
}

async function statusOf(url: string, token: string): Promise<number> {
  const response = await post(url, bearer(token), "initialize", initialize);
  await response.text();
  return response.status;
}

/** The tenants whose documents a caller gets at by the three tools and the resources. */
async function tenantsSeen(protocol: Protocol, url: string, token: string): Promise<Record<string, string[]>> {
  const client = await httpClient(protocol, url, bearer(token));
  onTestFinished(() => client.close());
  const tenantsIn = (result: unknown) =>
    ["north", "south"].filter((tenant) => JSON.stringify(result).includes(`${tenant} office`));
  const call = async (name: string, given: Record<string, unknown>) =>
    tenantsIn(await client.callTool({ name, arguments: given }));
  const uris = ["north", "south"].map((tenant) => `file:///${tenant}/keys.md`);
  const { resources } = await client.listResources();
  return {
    search: await call("search", { query: "Where is the recovery key?" }),
    ask: await call("ask", { question: "Where are the recovery keys of the offices?" }),
    read: (await Promise.all(uris.map((uri) => call("read_source", { uri })))).flat(),
    list: resources.map(({ title = "" }) => title.replace("Keys of ", "")).toSorted(),
  };
}

const everywhere = (tenants: string[]) => ({ search: tenants, ask: tenants, read: tenants, list: tenants });

describe.each(Object.keys(protocols) as Protocol[])("in version %s of the protocol", (protocol) => {
  test("a key of any role reads what its filter or its groups let through, and nothing else", async () => {
    const { url, make } = await withKeys();
    const filter = { metadata: { tenant: "north" } };
    for (const [key, tenants] of [
      [{ filter, role: "ask" }, ["north"]],
      [{ filter, role: "manage" }, ["north"]],
      [{ groups: ["/south"] }, ["south"]],
      [{ groups: ["/north", "/south"] }, ["north", "south"]],
      [{ role: "add" }, ["north", "south"]],
    ] satisfies [Partial<NewKey>, string[]][]) {
      expect([key, await tenantsSeen(protocol, url, (await make(key)).key)]).toEqual([key, everywhere(tenants)]);
    }
  });

  test("a person reads what the groups of the access token let through, and nothing else", async () => {
    const { provider, url } = await withProvider();
    for (const [names, tenants] of [
      [["/north"], ["north"]],
      [["/south", "elsewhere"], ["south"]],
      ["/staff", ["north", "south"]],
    ] as [unknown, string[]][]) {
      const token = await provider.token({ groups: names });
      expect([names, await tenantsSeen(protocol, url, token)]).toEqual([names, everywhere(tenants)]);
    }
  });
});

describe("a caller without a key that holds", () => {
  test("is told by a 401, as clients of the protocol read errors, to send one", async () => {
    const { url } = await withKeys();
    const refused = await post(url, {}, "initialize", initialize);
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    const message = "Sign in first, or send a key as Authorization: Bearer …";
    expect(await refused.json()).toEqual({ jsonrpc: "2.0", id: null, error: { code: -32_000, message } });
  });

  test("is refused when the key is forged, of another server, expired or revoked", async () => {
    const { keys, url, make } = await withKeys();
    const { key, info } = await make();
    const other = (await makeKey(keyFile(join(folder, "others.json")), { name: "other" })).key;
    const late = (await make({ expiresAtMs: Date.now() + 300 })).key;
    expect(await statusOf(url, key)).toBe(200);
    const changed = key.endsWith("A") ? "B" : "A";
    for (const forged of [
      other,
      // The id of a key that holds, with the secret of another.
      `cw_${info.id}_${other.slice(-43)}`,
      `${key.slice(0, -1)}${changed}`,
      key.slice(0, -1),
      `${key}A`,
      key.toUpperCase(),
      info.id,
      `cw_${"0".repeat(12)}_${"A".repeat(43)}`,
      "cw___proto___",
      `${key}, Bearer ${key}`,
    ]) {
      expect([forged, await statusOf(url, forged)]).toEqual([forged, 401]);
    }
    await expect.poll(() => statusOf(url, late), { timeout: 10_000 }).toBe(401);
    await revokeKey(keys, info.id);
    await expect.poll(() => statusOf(url, key), { timeout: 10_000 }).toBe(401);
  });

  test("gets nothing by other headers, by a cookie of its own making, or by the address", async () => {
    const { url, make } = await withKeys();
    const { key } = await make();
    for (const headers of [
      { "x-api-key": key },
      { authorization: key },
      { authorization: `Basic ${Buffer.from(`ada:${key}`).toString("base64")}` },
      { cookie: `citewell=${key}` },
      { "x-forwarded-user": "ada", "x-original-authorization": `Bearer ${key}` },
    ] as Record<string, string>[]) {
      const { status } = await post(url, headers, "initialize", initialize);
      expect([headers, status]).toEqual([headers, 401]);
    }
    expect((await post(`${url}?token=${key}`, {}, "initialize", initialize)).status).toBe(401);
  });

  test("is refused with 403 when its groups are none of the server's", async () => {
    const { url, make } = await withKeys();
    for (const names of [["elsewhere"], ["constructor"], ["__proto__"]]) {
      expect(await statusOf(url, (await make({ groups: names })).key)).toBe(403);
    }
    const { provider, url: people } = await withProvider();
    for (const names of [undefined, "elsewhere", 7, { "/staff": true }, [["/staff"]], ["constructor"]]) {
      expect([names, await statusOf(people, await provider.token({ groups: names }))]).toEqual([names, 403]);
    }
  });
});

describe("an access token", () => {
  test("is refused when it is expired, forged, for another audience, or by another issuer", async () => {
    const { provider, url } = await withProvider();
    const now = Math.floor(Date.now() / 1000);
    const member = { groups: "/staff" };
    expect(await statusOf(url, await provider.token(member))).toBe(200);
    for (const claims of [
      { exp: now - 60 },
      { exp: undefined },
      { nbf: now + 120 },
      { aud: "another-api" },
      { aud: [] },
      { aud: undefined },
      { iss: "https://login.example.com" },
      { sub: undefined },
    ]) {
      const token = await provider.token({ ...member, ...claims });
      expect([claims, await statusOf(url, token)]).toEqual([claims, 401]);
    }
    const claims = { sub: "ada", aud: audience, iss: provider.issuer, exp: now + 300, ...member };
    const stranger = await generateKeyPair("RS256");
    const { kid } = provider.publicJwk;
    const signed = new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: kid! });
    expect(await statusOf(url, await signed.sign(stranger.privateKey))).toBe(401);
    expect(await statusOf(url, new UnsecuredJWT(claims).encode())).toBe(401);
    const [header, , signature] = (await provider.token({ groups: "/north" })).split(".");
    const widened = Buffer.from(JSON.stringify(claims)).toString("base64url");
    expect(await statusOf(url, `${header}.${widened}.${signature}`)).toBe(401);
  });

  test("that cannot be checked is neither taken nor called wrong", async () => {
    const { provider, url } = await withProvider({ onError: () => {} });
    const token = await provider.token({ groups: "/staff" });
    provider.isDown = true;
    expect(await statusOf(url, token)).toBe(503);
    provider.isDown = false;
    expect(await statusOf(url, token)).toBe(200);
  });

  test("is what people have here, where there is no page to sign in on", async () => {
    const provider = await openIdProvider();
    const page = { clientId: "docs-page", url: "https://docs.example.com", sessionSecret: "s".repeat(32) };
    const url = await serve({ groups, openId: { issuer: provider.issuer, audience, page } });
    const refused = await post(url, {}, "initialize", initialize);
    expect([refused.status, refused.headers.get("x-citewell-sign-in")]).toEqual([401, null]);
  });
});

describe("the session of another caller", () => {
  async function begun(url: string, token: string): Promise<Record<string, string>> {
    const reply = await post(url, bearer(token), "initialize", initialize);
    await reply.text();
    return { "mcp-session-id": reply.headers.get("mcp-session-id")! };
  }

  test("can neither be read, cancelled nor ended by another key, though it sees the same documents", async () => {
    const { url, make } = await withKeys();
    const [ada, bob] = [(await make({ name: "ada" })).key, (await make({ name: "bob" })).key];
    const session = await begun(url, ada);
    const statusFor = async (token: string, method: string, params = {}) => {
      const reply = await post(url, { ...bearer(token), ...session }, method, params);
      await reply.text();
      return reply.status;
    };
    expect(await statusFor(bob, "tools/list")).toBe(404);
    expect(await statusFor(bob, "notifications/cancelled", { requestId: 1 })).toBe(404);
    const ended = await fetch(url, { method: "DELETE", headers: { ...bearer(bob), ...session } });
    expect(ended.status).toBe(404);
    expect(await statusFor(ada, "tools/list")).toBe(200);
  });

  test("is no other person's, and goes on with a new token of the same one", async () => {
    const { provider, url } = await withProvider();
    const tokenOf = (sub: string, iat = 0) => provider.token({ sub, groups: "/staff", iat });
    const session = await begun(url, await tokenOf("ada"));
    const statusFor = async (token: string) =>
      (await post(url, { ...bearer(token), ...session }, "tools/list", {})).status;
    expect(await statusFor(await tokenOf("bob"))).toBe(404);
    expect(await statusFor(await tokenOf("ada", 1))).toBe(200);
    // One subject of the provider, and one key of that name, are two callers.
    expect(await statusFor(await tokenOf("key:ada"))).toBe(404);
  });
});

test.each([
  ["null", null],
  ["a text", "north"],
  ["a list", [{ filter: {} }]],
  ["a filter that was lost", { filter: undefined }],
  ["no filter, by a getter", Object.defineProperty({}, "filter", { get: () => undefined, enumerable: true })],
  ["a misspelt filter", { filtre: { metadata: { tenant: "north" } } }],
  ["a filter of an unknown field", { filter: { tenant: "north" } }],
  ["a filter that another object hides", Object.create({ filter: { metadata: { tenant: "north" } } })],
  ["a blank owner", { owner: " " }],
  ["an unknown role", { role: "admin" }],
])("access that says %s lets nobody in, and only the server's log learns why", async (_, given: unknown) => {
  const errors: unknown[] = [];
  const url = await serve({ access: () => given as never, onError: (error) => errors.push(error) });
  const reply = await post(url, {}, "initialize", initialize);
  expect(reply.status).toBe(500);
  expect(await reply.text()).toContain("The server failed to answer. Its log says why");
  expect(errors).toHaveLength(1);
  await (await post(url, {}, "initialize", initialize)).text();
  expect(errors).toHaveLength(1);
});
