import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { reasonToRefuse, type Sender } from "../../../src/server/guard/same-origin.js";
import { loopbackNames } from "../../../src/server/options.js";
import { served } from "../../support/served.js";

const own: Sender = { method: "POST", host: "127.0.0.1:8080", origin: null, site: null };
const local = { hosts: loopbackNames, origins: [] };

test.each<[string, Partial<Sender>, boolean]>([
  ["a program without an origin", {}, true],
  ["its own page", { origin: "http://127.0.0.1:8080", site: "same-origin" }, true],
  [
    "its own page under another name of this machine",
    { host: "localhost:8080", origin: "http://localhost:8080" },
    true,
  ],
  ["its own page at an IPv6 address", { host: "[::1]:8080", origin: "http://[::1]:8080" }, true],
  ["a link to it on another page", { method: "GET", site: "cross-site" }, true],
  ["a page of another site", { origin: "https://evil.example", site: "cross-site" }, false],
  ["a page on another port of this machine", { origin: "http://127.0.0.1:3000", site: "same-site" }, false],
  ["a form of another site, from a browser that sends no origin", { site: "cross-site" }, false],
  ["a page in a sandbox, whose origin is null", { origin: "null", site: "cross-site" }, false],
  ["a name that was rebound to this address", { host: "evil.example:8080", origin: "http://evil.example:8080" }, false],
  ["a rebound name that only reads", { method: "GET", host: "evil.example:8080" }, false],
  ["a name that begins like one of its own", { host: "localhost.evil.example" }, false],
  ["no name at all", { host: null }, false],
])("%s: is let in is %j", (_, sender, isIn) => {
  expect(reasonToRefuse({ ...own, ...sender }, local) === undefined).toBe(isIn);
});

test("names and origins that were given are let in, and no others", () => {
  const trusted = { hosts: ["docs.example.com"], origins: ["https://app.example.com"] };
  const at = (host: string, origin: string) => reasonToRefuse({ ...own, host, origin }, trusted);
  expect(at("docs.example.com", "https://app.example.com")).toBeUndefined();
  expect(at("DOCS.example.com:443", "https://app.example.com")).toBeUndefined();
  expect(at("docs.example.com", "https://app.example.com.evil.example")).toContain("may not use this server");
  expect(at("localhost", "https://app.example.com")).toContain("Add the name to hosts");
  expect(reasonToRefuse({ ...own, host: "any.example" }, { hosts: undefined, origins: [] })).toBeUndefined();
});

const keys = { uri: "keys", text: "API keys expire after 90 days." };

/** A request as a browser sends it whose user is at this page; `fetch` would not let a test set these headers. */
function browse(url: string, path: string, headers: Readonly<Record<string, string>>, body?: string) {
  return new Promise<{ status: number; text: string; headers: Readonly<Record<string, unknown>> }>((done, failed) => {
    const sent = request(url + path, { method: body === undefined ? "GET" : "POST", headers }, (reply) => {
      let text = "";
      reply.setEncoding("utf8").on("data", (part: string) => (text += part));
      reply.on("end", () => done({ status: reply.statusCode!, text, headers: reply.headers }));
    });
    sent.on("error", failed).end(body);
  });
}

describe("a server on this machine without a token", () => {
  test("refuses a page whose name was rebound to it, before anything is read", async () => {
    const { url } = await served([keys]);
    const { status, text } = await browse(url, "/api/documents", { host: "evil.example" });
    expect(status).toBe(403);
    expect(text).not.toContain("keys");
  });

  test("refuses a post of another page, though it needs no permission of the browser's to be sent", async () => {
    const { url, kb } = await served([keys]);
    const headers = { origin: "https://evil.example", "content-type": "text/plain" };
    const { status } = await browse(url, "/api/conversations", headers, '{"question":"When do API keys expire?"}');
    expect(status).toBe(403);
    expect(await kb.conversations()).toEqual([]);
  });

  test("tells the pages of origins that were given that they may read", async () => {
    const { url } = await served([keys], { origins: ["https://app.example.com"] });
    const given = await browse(url, "/api/status", { origin: "https://app.example.com" });
    expect(given.status).toBe(200);
    expect(given.headers["access-control-allow-origin"]).toBe("https://app.example.com");
    const other = await browse(url, "/api/status", { origin: "https://other.example.com" });
    expect(other.status).toBe(403);
    expect(other.headers).not.toHaveProperty("access-control-allow-origin");
  });
});
