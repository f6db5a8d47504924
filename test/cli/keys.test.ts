// In test:all alone: it starts the command as a process ten times, and a server twice.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import type { KeyInfo } from "../../src/server/callers/manage-keys.js";
import { citewell, citewellJson, commandFile } from "../support/citewell.js";
import { clientOf } from "../support/served.js";
import { temporaryFolder } from "../support/temporary-folder.js";

type Made = KeyInfo & { readonly key: string };

async function serve(folder: string, words: readonly string[]) {
  const child = spawn(process.execPath, [commandFile, "serve", "--json", ...words], { cwd: folder });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return (JSON.parse(line) as { readonly url: string }).url;
}

const bearer = ({ key }: Made) => ({ authorization: `Bearer ${key}` });

test("keys are made, listed, used and revoked while the server runs, and an audit log tells them apart", async () => {
  const cwd = await temporaryFolder();
  await mkdir(join(cwd, "docs"));
  await writeFile(join(cwd, "docs/keys.md"), "# Keys\n\nAPI keys expire after 90 days.\n");
  const empty = await citewell(["keys"], { cwd });
  expect(empty.stdout).toContain('There are no keys. Make one: citewell keys make "Ada\'s notebook"');
  const first = await citewell(["keys", "make", "Ada's notebook"], { cwd });
  expect(first.stdout).toMatch(/^cw_[a-z0-9]{12}_[\w-]{43}\n$/);
  expect(first.stderr).toContain("it is not shown again. Revoke it with: citewell keys revoke ");
  const words = [
    "--filter",
    "product=auth",
    "--metadata",
    "product=auth",
    "--expires",
    "30",
    "--requests-per-minute",
    "5",
  ];
  const desk = await citewellJson<Made>(["keys", "make", "Help desk", "--role", "add", ...words], { cwd });
  expect(desk).toMatchObject({
    name: "Help desk",
    role: "add",
    filter: { metadata: { product: "auth" } },
    metadata: { product: "auth" },
    limits: { requestsPerMinute: 5 },
  });
  expect(Math.round((desk.expiresAtMs! - Date.now()) / 86_400_000)).toBe(30);
  const listed = await citewell(["keys"], { cwd });
  expect(listed.stdout.split("\n")).toEqual([
    expect.stringMatching(/^[a-z0-9]{12} {2}ask {5}holds {15}Ada's notebook: all documents$/),
    expect.stringMatching(
      /^[a-z0-9]{12} {2}add {5}until \d{4}-\d\d-\d\d {4}Help desk: \{"metadata":\{"product":"auth"\}\}, uploads carry /,
    ),
    "",
  ]);
  const kept = await readFile(join(cwd, ".citewell/keys.json"), "utf8");
  expect(kept).not.toContain(desk.key.split("_")[2]);

  const url = await serve(cwd, ["docs", "--keys", "--audit", "audit.jsonl"]);
  const ada = clientOf(url, { authorization: `Bearer ${first.stdout.trim()}` });
  expect((await ada.json("GET", "/api/status")).documents).toBe(1);
  expect((await clientOf(url, bearer(desk)).json("GET", "/api/status")).documents).toBe(0);
  const late = await citewellJson<Made>(["keys", "make", "Late"], { cwd });
  expect((await clientOf(url, bearer(late)).send("GET", "/api/status")).status).toBe(200);
  const revoked = await citewell(["keys", "revoke", late.id.slice(0, 8)], { cwd });
  expect(revoked.stdout).toBe("The key of Late is refused from now on.\n");
  await expect
    .poll(async () => (await clientOf(url, bearer(late)).send("GET", "/api/status")).status, { timeout: 9000 })
    .toBe(401);
  await ada.json("POST", "/api/search", { question: "When do keys expire?" });
  await expect
    .poll(async () => readFile(join(cwd, "audit.jsonl"), "utf8"), { timeout: 9000 })
    .toContain('"event":"search"');
  const unknown = await citewell(["keys", "revoke", "nothing"], { cwd });
  expect([unknown.exitCode, unknown.stderr]).toEqual([2, 'citewell: There is no key with the id "nothing"\n']);
});

test("groups of a file of callers say what keys see, and what cannot be meant is refused before the server starts", async () => {
  const cwd = await temporaryFolder();
  await mkdir(join(cwd, "docs"));
  await writeFile(join(cwd, "docs/keys.md"), "# Keys\n\nAPI keys expire after 90 days.\n");
  await writeFile(
    join(cwd, "callers.json"),
    JSON.stringify({ groups: { north: { filter: { title: "None" } }, all: {} } }),
  );
  const [north, all] = [
    await citewellJson<Made>(["keys", "make", "North", "--group", "north"], { cwd }),
    await citewellJson<Made>(["keys", "make", "All", "--group", "all"], { cwd }),
  ];
  const url = await serve(cwd, ["docs", "--keys", "--callers", "callers.json"]);
  expect((await clientOf(url, bearer(north)).json("GET", "/api/status")).documents).toBe(0);
  expect((await clientOf(url, bearer(all)).json("GET", "/api/status")).documents).toBe(1);
  for (const [callers, words, said] of [
    [{ group: {} }, [], 'must hold { "openId": …, "groups": … }'],
    [{}, [], 'must hold { "openId": …, "groups": … }'],
    [{ groups: { north: { filters: {} } } }, ["--keys"], 'did you mean "filter"'],
    [{ openId: { issuer: "http://login.example.com", audience: "docs" } }, [], "must begin with https://"],
    [{ groups: {} }, ["--keys", "--token", "let-me-in-please"], "cannot both say who a caller is"],
    [{ groups: {} }, ["--keys", "--filter", "a=1"], "leave --filter out"],
    [{ groups: {} }, [], "groups are those of keys and of people who sign in"],
  ] as const) {
    await writeFile(join(cwd, "wrong.json"), JSON.stringify(callers));
    const refused = await citewell(["serve", "--callers", "wrong.json", ...words], { cwd });
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining(said)]);
  }
});
