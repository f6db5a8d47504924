import { connect } from "node:net";
import { expect, test } from "vitest";
import { served } from "../../support/served.js";

const keys = { uri: "keys", text: "API keys expire after 90 days." };

/** Sends bytes as they stand, since clients would refuse to, and returns all that comes back. */
function raw(url: string, lines: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let reply = "";
    const socket = connect(Number(port), hostname, () => socket.write(`${lines.join("\r\n")}\r\n\r\n`));
    socket.setEncoding("utf8").on("data", (part: string) => (reply += part));
    socket.on("end", () => resolve(reply)).on("error", reject);
  });
}

const statusOf = (reply: string) => Number(reply.split(" ", 2)[1]);

test("a server of one name is reached by no other, whatever a request claims of how it came", async () => {
  const { url } = await served([keys], { hosts: ["docs.example.com"] });
  const get = (path: string, ...headers: string[]) =>
    raw(url, [`GET ${path} HTTP/1.1`, "Connection: close", ...headers]);
  expect(statusOf(await get("/api/status", "Host: docs.example.com"))).toBe(200);
  for (const headers of [
    ["Host: evil.example", "X-Forwarded-Host: docs.example.com"],
    ["Host: evil.example", "Forwarded: host=docs.example.com"],
    ["Host: docs.example.com.evil.example"],
    ["Host: docs.example.com@evil.example"],
    ["Host: evil.example:80#docs.example.com"],
    ["Host: docs.example.com", "Host: evil.example"],
    ["Host: "],
    [],
  ]) {
    expect([headers, statusOf(await get("/api/status", ...headers)) >= 400]).toEqual([headers, true]);
  }
  // A whole address in the first line is the proxy's form of a request: its name counts for nothing.
  expect(statusOf(await get("http://docs.example.com/api/status", "Host: evil.example"))).toBe(403);
});

test("no header leads a request to another route or method, or past the token", async () => {
  const { url } = await served([keys], { token: "a-token-of-ours", trustProxy: 1 });
  const tricks = [
    "X-Original-URL: /livez",
    "X-Rewrite-URL: /livez",
    "X-HTTP-Method-Override: GET",
    "X-Forwarded-For: 127.0.0.1",
    "X-Forwarded-Prefix: /livez",
    "X-Real-IP: 127.0.0.1",
    "X-Forwarded-User: admin",
    "Remote-User: admin",
  ];
  for (const path of [
    "/api/status",
    "/api/documents",
    "/v1/models",
    "/API/status",
    "//api/status",
    "/livez/../api/status",
    "/%61pi/status",
  ]) {
    const reply = await raw(url, [`GET ${path} HTTP/1.1`, "Host: localhost", "Connection: close", ...tricks]);
    expect([path, reply.includes("90 days") || reply.includes('"documents"') || reply.includes('"object"')]).toEqual([
      path,
      false,
    ]);
    expect([path, [401, 404].includes(statusOf(reply))]).toEqual([path, true]);
  }
});

test("two bodies in one request are refused, so that none is smuggled past a proxy", async () => {
  const { url } = await served([keys]);
  const reply = await raw(url, [
    "POST /api/search HTTP/1.1",
    "Host: localhost",
    "Content-Length: 5",
    "Transfer-Encoding: chunked",
    "",
    "0",
    "",
    "GET /api/status HTTP/1.1",
    "Host: localhost",
  ]);
  expect(statusOf(reply)).toBe(400);
  expect(reply.match(/HTTP\/1\.1 /g)).toHaveLength(1);
});

test("the redirect that takes the token out of the address leads to no other server", async () => {
  const { url } = await served([keys], { token: "a-token-of-ours" });
  for (const path of [
    "/?token=a-token-of-ours",
    "//evil.example/?token=a-token-of-ours",
    "/\\evil.example/?token=a-token-of-ours",
    "http://evil.example/?token=a-token-of-ours",
  ]) {
    const reply = await raw(url, [
      `GET ${path} HTTP/1.1`,
      "Host: localhost",
      "X-Forwarded-Host: evil.example",
      "Connection: close",
    ]);
    const location = /^location: (.*)\r$/im.exec(reply)?.[1];
    expect([path, location === undefined || /^\/(?![/\\])/.test(location)]).toEqual([path, true]);
  }
});

test("behind two proxies the caller is the one that the outer of them saw, in every way of writing the header", async () => {
  const { url } = await served([keys], { trustProxy: 2, limits: { requestsPerMinute: 2 } });
  const status = async (...headers: string[]) =>
    statusOf(await raw(url, ["GET /api/status HTTP/1.1", "Host: localhost", "Connection: close", ...headers]));
  // Both lines are one list, as HTTP has it.
  expect(await status("X-Forwarded-For: 9.9.9.9", "X-Forwarded-For: 1.1.1.1, 10.0.0.1")).toBe(200);
  expect(await status("X-Forwarded-For: 8.8.8.8, 1.1.1.1,10.0.0.1")).toBe(200);
  expect(await status("X-Forwarded-For: 7.7.7.7,, 1.1.1.1 , 10.0.0.1,")).toBe(429);
  expect(await status("X-Forwarded-For: 1.1.1.1, 2.2.2.2, 10.0.0.1")).toBe(200);
});
