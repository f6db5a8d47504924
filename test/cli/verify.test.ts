import { readdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { citewell, citewellJson } from "../support/citewell-here.js";
import { temporaryFolder } from "../support/temporary-folder.js";

interface VerifyJson {
  readonly ok: boolean;
  readonly problems: readonly { readonly what: string; readonly message: string; readonly repairable: boolean }[];
  readonly recall: number | null;
}

async function indexed(): Promise<string> {
  const cwd = await temporaryFolder({ "docs/keys.md": "Keys expire.\n", "docs/locks.md": "Locks rust.\n" });
  await citewellJson(["index", "docs"], { cwd });
  return cwd;
}

async function cutLexicalFile(cwd: string): Promise<void> {
  const folder = join(cwd, ".citewell");
  const file = (await readdir(folder)).find((name) => /^lexical-.*\.bin$/.test(name))!;
  await truncate(join(folder, file), 10);
}

test("a sound store gives exit code 0 and exactly { ok, problems, recall }", async () => {
  const cwd = await indexed();
  expect(await citewellJson<VerifyJson>(["verify"], { cwd })).toEqual({ ok: true, problems: [], recall: 1 });
  const { exitCode, stdout } = await citewell(["verify"], { cwd });
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: "Dense search finds 100.0 % of the ten nearest chunks.\nThe store is sound.\n",
  });
});

test("derived data that is damaged gives exit code 1 and the way out, and --repair rebuilds it", async () => {
  const cwd = await indexed();
  await cutLexicalFile(cwd);
  const found = await citewell(["verify"], { cwd });
  expect(found.exitCode).toBe(1);
  expect(found.stdout).toMatch(
    /^lexical: lexical-\S+\.bin has 10 bytes instead of \d+\n.*\nRun citewell verify --repair\.\n$/,
  );
  // Verifying has repaired nothing.
  await cutLexicalFile(cwd);
  const repaired = await citewellJson<VerifyJson>(["verify", "--repair"], { cwd });
  expect(repaired).toEqual({
    ok: true,
    problems: [{ what: "lexical", message: expect.any(String), repairable: true }],
    recall: 1,
  });
  expect(await citewellJson<VerifyJson>(["verify"], { cwd })).toEqual({ ok: true, problems: [], recall: 1 });
});

test("data that cannot be rebuilt is reported as lost, and left as it is", async () => {
  const cwd = await indexed();
  const path = join(cwd, ".citewell/store.sqlite");
  await writeFile(path, "no database at all");
  const found = await citewellJson<VerifyJson>(["verify", "--repair"], { cwd });
  expect(found).toEqual({
    ok: false,
    problems: [{ what: "database", message: expect.stringContaining("is not a valid SQLite file"), repairable: false }],
    recall: null,
  });
  const { exitCode, stdout } = await citewell(["verify", "--repair"], { cwd });
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/This cannot be repaired: restore a backup, or delete the store and index again\.\n$/);
  expect(await readFile(path, "utf8")).toBe("no database at all");
});

test("--drop-unused deletes the vectors of removed documents, only with --repair, and says how many", async () => {
  const cwd = await indexed();
  await citewell(["remove", "docs/keys.md"], { cwd });
  const refused = await citewell(["verify", "--drop-unused"], { cwd });
  expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
  expect(refused.stderr).toBe("citewell: --drop-unused changes the store: use it with --repair\n");
  const { exitCode, stdout } = await citewell(["verify", "--repair", "--drop-unused"], { cwd });
  expect(exitCode).toBe(0);
  expect(stdout).toContain("Dropped 1 vector that no document needs.\nThe store is sound.\n");
  const words = ["verify", "--repair", "--drop-unused"];
  expect(await citewellJson(words, { cwd })).toEqual({ ok: true, problems: [], recall: 1, droppedVectors: 0 });
});
