import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { messageOf } from "../../src/cli/output/failure.js";
import { LoadError, OptionsError } from "../../src/core/errors.js";
import { citewell, citewellJson, type IndexJson } from "../support/citewell-here.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { tinyPdf } from "../support/tiny-pdf.js";

describe("a message names what a user of the command line can change", () => {
  test.each([
    [["chunk", "docs"], /docs is a folder: name one of its files, or plan the whole folder with citewell plan\n$/],
    [
      ["index", "nowhere"],
      /There is no file or folder at .*nowhere\. If it is gone for good, citewell remove takes its documents out of the store \(citewell explain missing\)\n$/,
    ],
    [
      ["index", "docs/*.md"],
      /no file or folder at .*\*\.md: a pattern is not a path\. Name the folder, and give the pattern to --include/,
    ],
    [
      ["index", "docs", "--include", "../**"],
      /^citewell: the glob "\.\.\/\*\*" leads out of .*docs: globs are relative to the folder/,
    ],
    [
      ["index", "docs", "--budget-cost", "1"],
      /citewell: --budget-cost needs the price of a million tokens: set price as well\n$/,
    ],
    [
      ["index", "docs", "--max-tokens", "100"],
      /^citewell: --max-tokens is now --budget-tokens; the size of a chunk is --chunk-tokens\n$/,
    ],
    [["migrate", "--max-tokens=100"], /^citewell: --max-tokens is now --budget-tokens; .*\n$/],
    [["migrate", "--max-cost", "1"], /^citewell: --max-cost is now --budget-cost\n$/],
    [["index", "http://127.0.0.1:9/", "--watch"], /--watch follows files, and .* is not made of files/],
    [
      ["index", "docs", "--store", "docs"],
      /docs is both the folder to read and the store: give the store a folder of its own/,
    ],
  ])("%j", async (words, message) => {
    const cwd = await temporaryFolder({ "docs/a.md": "# Moles\n\nA mole digs.\n" });
    const { exitCode, stdout, stderr } = await citewell(words, { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(message);
  });

  test.each([
    [
      new LoadError("too-large", "file:///a", "file:///a has more than 9 bytes, which is maxFileBytes", {
        option: "maxFileBytes",
      }),
      "file:///a has more than 9 bytes, which is --max-file-bytes",
    ],
    [
      new LoadError("timeout", "file:///a", "file:///a took longer than 9 ms: raise timeoutMs", {
        option: "timeoutMs",
      }),
      "file:///a took longer than 9 ms: raise --file-timeout",
    ],
    [
      new OptionsError("options", "maxCost 1 buys no token", { call: "ingest", option: "maxCost" }),
      "--budget-cost 1 buys no token",
    ],
    [
      new Error("It failed: set allowPrivate", { cause: Object.assign(new Error(), { option: "allowPrivate" }) }),
      "It failed: set --allow-private",
    ],
    [new Error("maxFileBytes in a sentence of somebody else"), "maxFileBytes in a sentence of somebody else"],
  ])("the flag replaces the option that the error names (%#)", (error, said) => {
    expect(messageOf(error)).toBe(said);
  });
});

test("a file that is too large and a private address are refused, with the flag to change", async () => {
  const cwd = await temporaryFolder({
    "docs/a.md": "# Moles\n\nA mole digs.\n",
    "docs/b.md": "A mole.",
    "rows.jsonl": '{"text": "A mole digs deep."}\n',
  });
  const { stdout } = await citewell(["plan", "docs", "rows.jsonl", "--max-file-bytes", "9"], { cwd });
  expect(stdout).toMatch(/docs\/a\.md has 22 bytes, and files of more than 9 bytes are passed over/);
  expect(stdout).toMatch(/rows\.jsonl.* is longer than 9, which is --max-file-bytes/);
  const page = await citewell(["plan", "http://127.0.0.1:9/"], { cwd });
  expect(page.stdout + page.stderr).toMatch(/127\.0\.0\.1, which is not .* public internet: set --allow-private/);
});

test("a path after a glob is read, and globs may be given one by one", async () => {
  const cwd = await temporaryFolder({
    "docs/a.md": "# A",
    "docs/drafts/b.md": "# B",
    "docs/old/c.md": "# C",
    "more/d.md": "# D",
  });
  const words = ["plan", "--exclude", "drafts/**", "docs", "--exclude", "old/**", "more"];
  expect(await citewellJson<{ documents: number }>(words, { cwd })).toMatchObject({ documents: 2 });
});

test("a store inside the indexed folder is never read as documents, whatever its name", async () => {
  const cwd = await temporaryFolder({ "docs/a.md": "# Moles\n\nA mole digs.\n" });
  const words = ["index", "docs", "--store", "docs/in (a) store"];
  await citewell(words, { cwd });
  const { stdout } = await citewell(words, { cwd });
  expect(stdout).toMatch(/^Documents {2}1 unchanged\nChunks .*\nUpstream .*\n$/);
});

test("a file read only in part is reported under the name that was typed", async () => {
  const cwd = await temporaryFolder();
  await mkdir(join(cwd, "my docs"));
  await writeFile(join(cwd, "my docs/scan.pdf"), tinyPdf([["One."], [], ["Three."]]));
  const { stdout } = await citewell(["plan", "my docs"], { cwd });
  expect(stdout).toMatch(/Remarks {4}1\n {2}my docs\/scan\.pdf: 1 of its 3 pages hold no text/);
  const { warnings } = await citewellJson<IndexJson & { warnings: string[] }>(["index", "my docs"], { cwd });
  expect(warnings).toEqual([expect.stringMatching(/my%20docs\/scan\.pdf: 1 of its 3 pages/)]);
});
