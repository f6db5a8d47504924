import { request as nodeRequest } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { tool } from "../../../src/core/tool.js";
import type { WireEvent } from "../../../src/server/api/wire.js";
import type { NewKey } from "../../../src/server/callers/key.js";
import { keyFile } from "../../../src/server/callers/key-file.js";
import { makeKey } from "../../../src/server/callers/manage-keys.js";
import type { ServerOptions } from "../../../src/server/options.js";
import { served } from "../../support/served.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const documents = [{ uri: "keys", title: "Keys", text: "API keys expire after 90 days." }];
const question = 'Please open a ticket with the subject "keys expire"';

async function withKeys(options: ServerOptions = {}) {
  const book = keyFile(join(await temporaryFolder(), "keys.json"));
  const server = await served(documents, { keys: book, ...options });
  const keyOf = async (key: NewKey) => (await makeKey(book, key)).key;
  return { ...server, keyOf, asKey: async (key: NewKey) => server.as(bearer(await keyOf(key))) };
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** Status of a request whose headers are sent as they are written, also several of one name. */
function rawStatus(address: string, headers: Record<string, string | string[]>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = nodeRequest(address, { headers }, (reply) => {
      reply.resume();
      resolve(reply.statusCode!);
    });
    sent.on("error", reject).end();
  });
}

describe("an approval", () => {
  async function withTickets() {
    const tickets: string[] = [];
    const openTicket = tool({
      name: "open_ticket",
      description: "Opens a ticket for the people who run the service.",
      input: z.object({ subject: z.string() }),
      writes: true,
      run: ({ subject }) => `Ticket ${tickets.push(subject)}`,
    });
    const server = await withKeys({ ask: { answer: { tools: [openTicket], approve: "later" } } });
    const ada = await server.asKey({ name: "ada", role: "manage" });
    const asked = await ada.events("/api/conversations", { question });
    const { id } = asked[0] as Extract<WireEvent, { type: "conversation" }>;
    const { approvalId } = (asked.at(-1) as Extract<WireEvent, { type: "finish" }>).waiting[0]!;
    return {
      ...server,
      ada,
      tickets,
      path: `/api/conversations/${id}/approvals`,
      allow: { approvals: { [approvalId]: true } },
    };
  }

  test("by another's key, or one that may only add, runs nothing", async () => {
    const { asKey, ada, tickets, path, allow } = await withTickets();
    const bob = await asKey({ name: "bob", role: "manage" });
    expect((await bob.send("POST", path, allow)).status).toBe(404);
    const own = await bob.events("/api/conversations", { question });
    const { id } = own[0] as Extract<WireEvent, { type: "conversation" }>;
    // An approval of another conversation, in one's own.
    await bob.send("POST", `/api/conversations/${id}/approvals`, allow).then((reply) => reply.text());
    const adder = await asKey({ name: "adder", role: "add" });
    const theirs = await adder.events("/api/conversations", { question });
    const { approvalId } = (theirs.at(-1) as Extract<WireEvent, { type: "finish" }>).waiting[0]!;
    const { id: their } = theirs[0] as Extract<WireEvent, { type: "conversation" }>;
    const allowOwn = { approvals: { [approvalId]: true } };
    expect((await adder.send("POST", `/api/conversations/${their}/approvals`, allowOwn)).status).toBe(403);
    expect(tickets).toEqual([]);
    await ada.events(path, allow);
    expect(tickets).toEqual(["keys expire"]);
  });

  test("that is sent again, or many times at once, runs its call once", async () => {
    const { ada, tickets, path, allow } = await withTickets();
    const replies = await Promise.all(Array.from({ length: 8 }, () => ada.send("POST", path, allow)));
    await Promise.all(replies.map((reply) => reply.text()));
    expect(tickets).toEqual(["keys expire"]);
    for (let again = 0; again < 3; again++) await (await ada.send("POST", path, allow)).text();
    await (
      await ada.send("POST", path, {
        approvals: Object.fromEntries(Object.keys(allow.approvals).map((id) => [id, false])),
      })
    ).text();
    expect(tickets).toEqual(["keys expire"]);
  });
});

describe("headers", () => {
  test("that proxies of others set say nothing about who a caller is", async () => {
    const { send, keyOf, url } = await withKeys({ trustProxy: 1 });
    const key = await keyOf({ name: "ada", role: "manage" });
    for (const headers of [
      { "x-forwarded-user": "ada", "x-auth-request-user": "ada", "remote-user": "ada", "x-remote-user": "ada" },
      { "x-api-key": key },
      { authorization: `Basic ${Buffer.from(`ada:${key}`).toString("base64")}` },
      { authorization: `Bearer\t${key}, Bearer x` },
      { authorization: key },
      { "x-http-method-override": "GET", "x-original-url": "/livez", "x-rewrite-url": "/livez" },
      { "x-original-authorization": `Bearer ${key}`, "proxy-authorization": `Bearer ${key}` },
      { cookie: `citewell=${key}` },
      { cookie: `token=${key}; citewell_=${key}` },
    ] as Record<string, string>[]) {
      expect([headers, (await send("GET", "/api/status", undefined, headers)).status]).toEqual([headers, 401]);
    }
    // A key in the address of the API would stand in every log on the way.
    for (const query of [`token=${key}`, `key=${key}`, `access_token=${key}`]) {
      expect((await send("GET", `/api/status?${query}`)).status).toBe(401);
    }
    expect(await rawStatus(`${url}/api/status`, { authorization: [`Bearer x`, `Bearer ${key}`] })).toBe(401);
    expect((await send("GET", "/api/status", undefined, bearer(key))).status).toBe(200);
  });

  test("do not get a key more than its limit, nor a caller without a key another address", async () => {
    const { asKey } = await withKeys({ trustProxy: 1 });
    const ada = await asKey({ name: "ada", limits: { requestsPerMinute: 2 } });
    const statuses = [];
    for (let at = 0; at < 3; at++) {
      const forged = { "x-forwarded-for": `10.0.0.${at}`, forwarded: `for=10.0.0.${at}`, "x-real-ip": `10.0.0.${at}` };
      statuses.push((await ada.send("GET", "/api/status", undefined, forged)).status);
    }
    expect(statuses).toEqual([200, 200, 429]);
    // Behind one proxy, the last address is that proxy's own word, and those before it are the caller's.
    const open = await served(documents, { trustProxy: 1, limits: { requestsPerMinute: 2 } });
    const byProxy = [];
    for (let at = 0; at < 3; at++) {
      const forged = { "x-forwarded-for": `10.0.0.${at}, 203.0.113.7` };
      byProxy.push((await open.send("GET", "/api/status", undefined, forged)).status);
    }
    expect(byProxy).toEqual([200, 200, 429]);
  });

  test("that name another host or another page are refused, whatever the proxy is said to be", async () => {
    const { keyOf, url } = await withKeys({ hosts: ["docs.example.com", "127.0.0.1"], trustProxy: 1 });
    const key = bearer(await keyOf({ name: "ada" }));
    const statusWith = (headers: Record<string, string>) => rawStatus(`${url}/api/status`, { ...key, ...headers });
    expect(await statusWith({ host: "docs.example.com" })).toBe(200);
    expect(await statusWith({ host: "DOCS.example.com:443" })).toBe(200);
    for (const host of [
      "evil.example",
      "docs.example.com.evil.example",
      "docs.example.com@evil.example",
      "evil.example#docs.example.com",
      "docs.example.com:80:evil.example",
      "docs.example.com evil.example",
    ]) {
      expect([host, await statusWith({ host })]).toEqual([host, expect.toBeOneOf([400, 403])]);
    }
    expect(await statusWith({ host: "evil.example", "x-forwarded-host": "docs.example.com" })).toBe(403);
    for (const origin of [
      "https://evil.example",
      "https://docs.example.com.evil.example",
      "http://docs.example.com:8080",
    ]) {
      expect([origin, await statusWith({ host: "docs.example.com", origin })]).toEqual([origin, 403]);
    }
  });
});
