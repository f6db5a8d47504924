import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { citewell, commandFile, handbook } from "../../support/citewell.js";
import { httpClient } from "../../support/mcp-clients.js";
import { audience, openIdProvider } from "../../support/open-id-provider.js";

let folder: string;
let store: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "citewell-test-"));
  store = join(folder, "store");
  await citewell(["index", handbook, "--store", store]);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** `citewell mcp …`, with everything that it wrote. */
function started(words: readonly string[]) {
  const child = spawn(process.execPath, [commandFile, "mcp", ...words], { stdio: "pipe" });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout });
  output.on("line", (line) => lines.push(line));
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const ended = once(child, "close");
  return {
    child,
    lines,
    say: (message: object | string) =>
      void child.stdin.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`),
    heard: async (count: number) => {
      await expect.poll(() => lines.length, { timeout: 15_000 }).toBe(count);
    },
    end: async () => ({ exit: await ended, stderr }),
  };
}

const hello = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};
const search = {
  jsonrpc: "2.0",
  id: 2,
  method: "tools/call",
  params: { name: "search", arguments: { query: "leave" } },
};

describe("citewell mcp on stdin and stdout", () => {
  test("writes messages of the protocol to stdout and nothing else, whatever it is sent", async () => {
    const server = started(["--store", store]);
    server.say(hello);
    await server.heard(1);
    server.say("this is no message");
    server.say(`{"jsonrpc":"2.0","id":3,"method":"no/such/method"}`);
    await server.heard(2);
    server.say(search);
    await server.heard(3);
    server.child.stdin.end();
    expect((await server.end()).exit).toEqual([0, null]);
    const messages = server.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    for (const message of messages) expect(message).toMatchObject({ jsonrpc: "2.0" });
    expect(messages[0]).toMatchObject({ id: 1, result: { protocolVersion: "2025-11-25" } });
    expect(messages[1]).toMatchObject({ id: 3, error: { code: -32601 } });
    expect(messages[2]).toMatchObject({ id: 2, result: { structuredContent: { passages: expect.any(Array) } } });
  });

  test.each(["SIGTERM", "SIGINT"] as const)("ends at %s, with nothing to say", async (signal) => {
    const server = started(["--store", store]);
    server.say(hello);
    await server.heard(1);
    server.child.kill(signal);
    expect(await server.end()).toEqual({ exit: [0, null], stderr: "" });
  });

  test("shows only documents that --filter lets through", async () => {
    const server = started(["--store", store, "--filter", "title=Laptops"]);
    server.say(hello);
    await server.heard(1);
    server.say({ jsonrpc: "2.0", id: 2, method: "resources/list" });
    await server.heard(2);
    const { result } = JSON.parse(server.lines[1]!) as { result: { resources: { title: string }[] } };
    expect(result.resources.map(({ title }) => title)).toEqual(["Laptops"]);
  });

  test("says on stderr what is wrong with its settings, and ends", async () => {
    const missing = await citewell(["mcp", "--store", join(folder, "none")]);
    expect(missing).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining("none") });
    const wrong = await citewell(["mcp", "--store", store, "--port", "1"]);
    expect(wrong).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: "citewell: --port, --token, --no-token, --keys, --keys-file and --callers belong to --http\n",
    });
  });
});

describe("citewell mcp --http", () => {
  /** Its address and token, as it prints them. */
  async function served(words: readonly string[]) {
    const server = started(["--store", store, "--http", "--json", ...words]);
    await server.heard(1);
    return { ...server, ...(JSON.parse(server.lines[0]!) as { url: string; token?: string }) };
  }
  const post = (url: string, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
      body: JSON.stringify(hello),
    });

  test("serves whoever has the token that it printed, and ends at SIGTERM with a client connected", async () => {
    const { url, token, child, end } = await served([]);
    expect(token).toMatch(/^[\w-]{24}$/);
    const client = await httpClient("2025-11-25", url, { authorization: `Bearer ${token}` });
    onTestFinished(() => client.close());
    expect((await client.listTools()).tools).toHaveLength(3);
    expect((await post(url)).status).toBe(401);
    expect((await post(url, { authorization: `Bearer ${token}x` })).status).toBe(401);
    expect((await post(url.replace("/mcp", "/"), { authorization: `Bearer ${token}` })).status).toBe(404);
    expect((await post(url, { authorization: `Bearer ${token}`, origin: "https://example.com" })).status).toBe(403);
    child.kill("SIGTERM");
    expect(await end()).toEqual({ exit: [0, null], stderr: "" });
  });

  test("takes a token of the user's own, or none", async () => {
    const own = await served(["--token", "secret-token"]);
    expect(own.token).toBe("secret-token");
    expect((await post(own.url, { authorization: "Bearer secret-token" })).status).toBe(200);
    const open = await served(["--no-token"]);
    expect(open.token).toBeUndefined();
    expect((await post(open.url)).status).toBe(200);
    expect((await post(open.url, { origin: "https://example.com" })).status).toBe(403);
  });

  test("lets callers in by the keys of citewell keys, with --filter around what each key sees", async () => {
    const make = async (...words: string[]) =>
      (await citewell(["keys", "make", "test", "--store", store, ...words])).stdout.trim();
    const laptops = await make("--filter", "title=Laptops");
    const all = await make();
    const titlesFor = async (url: string, key: string) => {
      const client = await httpClient("2025-11-25", url, { authorization: `Bearer ${key}` });
      const { resources } = await client.listResources();
      await client.close();
      return resources.map(({ title }) => title);
    };
    const { url, token, lines } = await served(["--keys"]);
    expect([token, JSON.parse(lines[0]!)]).toEqual([undefined, { url }]);
    expect(await titlesFor(url, laptops)).toEqual(["Laptops"]);
    expect((await titlesFor(url, all)).length).toBeGreaterThan(1);
    const refused = await post(url);
    expect([refused.status, await refused.text()]).toEqual([401, expect.stringContaining("send a key")]);
    const narrow = await served(["--keys-file", join(store, "keys.json"), "--filter", "title=Laptops"]);
    expect(await titlesFor(narrow.url, all)).toEqual(["Laptops"]);
    const [, id] = laptops.split("_");
    await citewell(["keys", "revoke", id!, "--store", store]);
    await expect
      .poll(async () => (await post(url, { authorization: `Bearer ${laptops}` })).status, { timeout: 10_000 })
      .toBe(401);
  });

  test("lets people in by the provider of --callers, and says what cannot go together", async () => {
    const provider = await openIdProvider();
    const callers = join(folder, "callers.json");
    const groups = { "/it": { filter: { title: "Laptops" } } };
    await writeFile(callers, JSON.stringify({ openId: { issuer: provider.issuer, audience }, groups }));
    const { url } = await served(["--callers", callers]);
    const client = await httpClient("2026-07-28", url, {
      authorization: `Bearer ${await provider.token({ groups: "/it" })}`,
    });
    onTestFinished(() => client.close());
    expect((await client.listResources()).resources.map(({ title }) => title)).toEqual(["Laptops"]);
    expect((await post(url, { authorization: `Bearer ${await provider.token()}` })).status).toBe(403);
    for (const words of [
      ["--keys", "--token", "secret-token"],
      ["--callers", callers, "--no-token"],
    ]) {
      expect(await citewell(["mcp", "--http", "--store", store, ...words])).toEqual({
        exitCode: 2,
        stdout: "",
        stderr:
          "citewell: Callers are known by their own keys with --keys and --callers: leave --token and --no-token out\n",
      });
    }
  });
});
