// In test:all alone: it starts the server as a process for each case, for 25 s.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { citewell, commandFile } from "../support/citewell.js";
import { clientOf } from "../support/served.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function folderWithDocuments(): Promise<string> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "docs"));
  await writeFile(join(folder, "docs/keys.md"), "# Keys\n\nAPI keys expire after 90 days.\n");
  return folder;
}

/** The command until the test ends, from its first line on. */
async function serve(folder: string, ...words: readonly string[]) {
  const child = spawn(process.execPath, [commandFile, "serve", "--json", ...words], { cwd: folder });
  onTestFinished(() => void child.kill("SIGKILL"));
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const { url, ...others } = JSON.parse(line) as { readonly url: string };
  expect(others).toEqual({});
  const end = async () => {
    child.kill("SIGINT");
    const [exitCode] = (await once(child, "close")) as [number | null];
    return { exitCode, complaints };
  };
  return { ...clientOf(url), end };
}

test("a folder becomes a server that answers from it, and Ctrl-C ends it", async () => {
  const folder = await folderWithDocuments();
  const { events, json, end } = await serve(folder, "docs", "--title", "Handbook");
  expect(await json("GET", "/api/status")).toMatchObject({
    title: "Handbook",
    documents: 1,
    mayWrite: true,
    chatModel: false,
  });
  const answer = (await events("/api/ask", { question: "When do API keys expire?" })).at(-1);
  expect(answer).toMatchObject({
    type: "finish",
    text: expect.stringContaining("API keys expire after 90 days.") as string,
  });
  const { exitCode, complaints } = await end();
  expect(exitCode).toBe(0);
  expect(complaints).toContain("Documents  1 added");
});

test("an uploaded file is kept in the store's folder, and served again the next time", async () => {
  const folder = await folderWithDocuments();
  const first = await serve(folder);
  expect((await first.send("PUT", "/api/uploads/hours.md", "The vault opens at nine.")).status).toBe(202);
  await expect
    .poll(async () => (await first.json("GET", "/api/documents")).documents, { timeout: 10_000 })
    .toHaveLength(1);
  await first.end();
  const second = await serve(folder);
  expect((await second.json("GET", "/api/uploads")).uploads).toMatchObject([{ name: "hours.md", state: "done" }]);
  await second.end();
});

test("with --read-only, or a --filter, nothing is uploaded or deleted, and a filter hides what it does not let through", async () => {
  const folder = await folderWithDocuments();
  await citewell(["index", "docs"], { cwd: folder });
  const reading = await serve(folder, "--read-only");
  expect(await reading.json("GET", "/api/status")).toMatchObject({ documents: 1, mayWrite: false });
  expect((await reading.send("PUT", "/api/uploads/hours.md", "text")).status).toBe(403);
  await reading.end();
  const filtered = await serve(folder, "--filter", "uri^=file:///nowhere/");
  expect(await filtered.json("GET", "/api/status")).toMatchObject({ documents: 0, mayWrite: false });
  await filtered.end();
});

test.each([
  [["--host", "0.0.0.0"], /0\.0\.0\.0 can be reached from other machines: give a --token/],
  [["--host", "0.0.0.0", "--filter", "a=b"], /0\.0\.0\.0 can be reached from other machines: give a --token/],
  [["--token", "short"], /must have at least 8 characters/],
  [["no-such-folder"], /no-such-folder/],
])("serve %j is refused in one line", async (words, message) => {
  const { exitCode, stderr } = await citewell(["serve", ...words], { cwd: await folderWithDocuments() });
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(message);
  expect(stderr.trim().split("\n")).toHaveLength(1);
});

test("with a --token, the page is opened by it, and requests are logged without it", async () => {
  const folder = await folderWithDocuments();
  const { url, send, end } = await serve(folder, "docs", "--token", "let-me-in-please", "--log");
  expect((await send("GET", "/api/status")).status).toBe(401);
  const opened = await fetch(`${url}/?token=let-me-in-please`, { redirect: "manual" });
  const cookie = opened.headers.get("set-cookie")!.split(";")[0]!;
  expect((await send("GET", "/api/status", undefined, { cookie })).status).toBe(200);
  const { complaints } = await end();
  expect(complaints).toContain('"path":"/api/status","status":200');
  expect(complaints).not.toContain("let-me-in-please");
});

test("the line break at the end of a token that was read from a file is no part of it", async () => {
  const { send, end } = await serve(await folderWithDocuments(), "--token", "let-me-in-please\n");
  const status = async (token: string) =>
    (await send("GET", "/api/status", undefined, { authorization: `Bearer ${token}` })).status;
  expect([await status("let-me-in-please"), await status("let-me-out")]).toEqual([200, 401]);
  await end();
});

test("a token that is refused is not shown", async () => {
  const { exitCode, stderr } = await citewell(["serve", "--token", "hunter2 hunter2"], {
    cwd: await folderWithDocuments(),
  });
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining("token: must hold no white space")]);
  expect(stderr).not.toContain("hunter2");
});

test("flags for who is on call serve figures, tell callers apart behind a proxy, and limit them", async () => {
  const folder = await folderWithDocuments();
  const flags = ["docs", "--metrics", "--trust-proxy", "1", "--requests-per-minute", "1", "--token", "a-token-of-ours"];
  const { send, end } = await serve(folder, ...flags);
  const authorization = "Bearer a-token-of-ours";
  const from = async (address: string, path = "/api/status") =>
    send("GET", path, undefined, { authorization, "x-forwarded-for": address });
  expect((await send("GET", "/readyz")).status).toBe(200);
  expect((await send("GET", "/metrics")).status).toBe(401);
  expect((await from("10.0.0.1")).status).toBe(200);
  expect((await from("10.0.0.1")).status).toBe(429);
  expect((await from("10.0.0.2")).status).toBe(200);
  expect(await (await from("10.0.0.9", "/metrics")).text()).toContain('route="/api/status",status="429"} 1');
  expect((await end()).exitCode).toBe(0);
  const refused = await citewell(["serve", "--metrics", "--filter", "product=auth"], { cwd: folder });
  expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("give a --token") as string });
});

test("settings of answers are offered alone on this machine, and to others only where a flag says so", async () => {
  const folder = await folderWithDocuments();
  const settings = { maxPassages: 50, maxInstructionCharacters: 4000 };
  const guard = ["--token", "long-enough"];
  for (const [words, choices] of [
    [[], { chatModels: [], ...settings }],
    [["--offer-model", "citewell/local-extractive-d"], { chatModels: ["citewell/local-extractive-d"], ...settings }],
    [guard, undefined],
    [[...guard, "--offer-settings"], { chatModels: [], ...settings }],
  ] as const) {
    const { send, events, end } = await serve(folder, "docs", ...words);
    const headers = { authorization: "Bearer long-enough" };
    const status = (await (await send("GET", "/api/status", undefined, headers)).json()) as { choices?: unknown };
    expect([words, status.choices]).toEqual([words, choices]);
    if (choices?.chatModels.length === 1) {
      const asked = { question: "When do API keys expire?", settings: { chatModel: choices.chatModels[0] } };
      expect((await events("/api/ask", asked)).at(-1)).toMatchObject({ type: "finish", model: choices.chatModels[0] });
    }
    await end();
  }
});
