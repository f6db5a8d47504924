import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inCommandWords } from "../../src/cli/command-words.js";
import { citewell, citewellJson, type IndexJson } from "../support/citewell.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { tinyPdf } from "../support/tiny-pdf.js";

describe("a message names what somebody at a command line can change", () => {
  test.each([
    [["chunk", "docs"], /docs is a folder: name one of its files, or see .* citewell plan\n$/],
    [
      ["index", "nowhere"],
      /There is no file or folder at .*nowhere\. If it is gone for good, citewell remove takes out what was indexed of it\n$/,
    ],
    [
      ["index", "docs/*.md"],
      /no file or folder at .*\*\.md: a pattern goes into --include, the folder alone into the path/,
    ],
    [
      ["index", "docs", "--include", "../**"],
      /--include "\.\.\/\*\*" leads out of .*docs: globs are relative to the folder/,
    ],
    [
      ["index", "docs", "--max-cost", "1"],
      /citewell: --max-cost needs the price of a million tokens: set --price as well\n$/,
    ],
    [["index", "http://127.0.0.1:9/", "--watch"], /--watch keeps up with files, and .* is not made of files/],
    [
      ["index", "docs", "--store", "docs"],
      /docs would be read and hold the store too: give the store a folder of its own/,
    ],
  ])("%j", async (words, message) => {
    const cwd = await temporaryFolder({ "docs/a.md": "# Moles\n\nA mole digs.\n" });
    const { exitCode, stdout, stderr } = await citewell(words, { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(message);
  });

  test("in every sentence that the library says of its options", () => {
    expect(inCommandWords("/a/b cannot be listed (EACCES): allow it, or pass it over with exclude")).toMatch(
      /with --exclude$/,
    );
    expect(inCommandWords("file:///a has 70 bytes, and maxFileBytes is 9")).toBe(
      "file:///a has 70 bytes, more than --max-file-bytes allows",
    );
    expect(inCommandWords("file:///a took longer than 9 ms to read: raise timeoutMs, or split the file")).toBe(
      "file:///a took longer than 9 ms to read: raise --file-timeout, or split the file",
    );
    expect(inCommandWords("The service asks to wait 60 s: try again then, or allow the call a longer deadlineMs")).toBe(
      "The service asks to wait 60 s: try again then",
    );
  });
});

test("a path behind a glob is read, and globs may be given one by one", async () => {
  const cwd = await temporaryFolder({
    "docs/a.md": "# A",
    "docs/drafts/b.md": "# B",
    "docs/old/c.md": "# C",
    "more/d.md": "# D",
  });
  const words = ["plan", "--exclude", "drafts/**", "docs", "--exclude", "old/**", "more"];
  expect(await citewellJson<{ documents: number }>(words, { cwd })).toMatchObject({ documents: 2 });
});

test("a store within the folder that is read is no document of it, whatever its name", async () => {
  const cwd = await temporaryFolder({ "docs/a.md": "# Moles\n\nA mole digs.\n" });
  const words = ["index", "docs", "--store", "docs/in (a) store"];
  await citewell(words, { cwd });
  const { stdout } = await citewell(words, { cwd });
  expect(stdout).toMatch(/^Documents {2}1 unchanged\nChunks .*\nUpstream .*\n$/);
});

test("what was read in part is said, with the name that was typed", async () => {
  const cwd = await temporaryFolder();
  await mkdir(join(cwd, "my docs"));
  await writeFile(join(cwd, "my docs/scan.pdf"), tinyPdf([["One."], [], ["Three."]]));
  const { stdout } = await citewell(["plan", "my docs"], { cwd });
  expect(stdout).toMatch(/Remarks {4}1\n {2}my docs\/scan\.pdf: 1 of its 3 pages hold no text/);
  const { warnings } = await citewellJson<IndexJson & { warnings: string[] }>(["index", "my docs"], { cwd });
  expect(warnings).toEqual([expect.stringMatching(/my%20docs\/scan\.pdf: 1 of its 3 pages/)]);
});
