import { watch } from "node:fs";
import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  citewell,
  citewellJson,
  handbook,
  root,
  type AskJson,
  type IndexJson,
  type SearchJson,
} from "../support/citewell.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** A folder with the handbook in `docs`, indexed. */
async function indexedFolder(): Promise<string> {
  const cwd = await temporaryFolder();
  await cp(handbook, join(cwd, "docs"), { recursive: true });
  const { exitCode, stderr } = await citewell(["index", "docs"], { cwd });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return cwd;
}

test("--version prints the version in package.json", async () => {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { readonly version: string };
  expect((await citewell(["--version"])).stdout).toBe(`${version}\n`);
});

describe("index", () => {
  test("reports the outcome of every document, and a second run sends nothing upstream", async () => {
    const cwd = await temporaryFolder();
    await cp(handbook, join(cwd, "docs"), { recursive: true });
    const first = await citewellJson<IndexJson>(["index", "docs"], { cwd });
    expect(first.documents).toEqual({ added: 3, updated: 0, unchanged: 0, deleted: 0, failed: 0 });
    expect(first.chunks.total).toBe(first.chunks.embedded);
    expect(first.requests).toBeGreaterThan(0);
    expect(first.tokens).toBeGreaterThan(0);

    const second = await citewellJson<IndexJson>(["index", "docs"], { cwd });
    expect(second.documents).toEqual({ added: 0, updated: 0, unchanged: 3, deleted: 0, failed: 0 });
    expect(second.requests).toBe(0);
    expect(second.chunks).toEqual({ total: first.chunks.total, embedded: 0, reused: first.chunks.total, deleted: 0 });
  });

  test("follows changes, moves and deletions, and embeds only what is new", async () => {
    const cwd = await indexedFolder();
    await writeFile(join(cwd, "docs/laptops.md"), "# Laptops\n\nLaptops are replaced every five years.\n");
    await cp(join(cwd, "docs/leave.md"), join(cwd, "docs/holidays.md"));
    await rm(join(cwd, "docs/leave.md"));
    const report = await citewellJson<IndexJson>(["index", "docs"], { cwd });
    expect(report.documents).toEqual({ added: 1, updated: 1, unchanged: 1, deleted: 1, failed: 0 });
    expect(report.chunks.embedded).toBe(1);
  });

  test("a document that was emptied keeps no passages", async () => {
    const cwd = await indexedFolder();
    await writeFile(join(cwd, "docs/leave.md"), "\n");
    const report = await citewellJson<IndexJson>(["index", "docs"], { cwd });
    expect(report.documents).toEqual({ added: 0, updated: 0, unchanged: 2, deleted: 1, failed: 0 });
    const { hits } = await citewellJson<SearchJson>(["search", "days of paid leave"], { cwd });
    expect(hits.filter(({ uri }) => uri.endsWith("leave.md"))).toEqual([]);
  });

  test("prints a readable summary", async () => {
    const cwd = await temporaryFolder();
    await cp(handbook, join(cwd, "docs"), { recursive: true });
    const { stdout } = await citewell(["index", "docs"], { cwd });
    expect(stdout).toMatch(
      /^Documents {2}3 added\nChunks {5}\d+ \(\d+ embedded, 0 reused\)\nUpstream {3}\d+ requests?, /,
    );
  });
});

describe("plan", () => {
  test("says what index then does, and creates no store", async () => {
    const cwd = await temporaryFolder();
    await cp(handbook, join(cwd, "docs"), { recursive: true });
    const touched: (string | null)[] = [];
    const watcher = watch(cwd, (_, name) => touched.push(name));
    onTestFinished(() => watcher.close());
    const plan = await citewellJson<Record<string, unknown>>(["plan", "docs", "--price", "2"], { cwd });
    expect(await readdir(cwd)).toEqual(["docs"]);
    expect(touched).not.toContain(".citewell");
    const report = await citewellJson<IndexJson>(["index", "docs"], { cwd });
    expect(plan).toEqual({
      documents: 3,
      outcomes: report.documents,
      chunks: report.chunks.total,
      tokens: expect.any(Number),
      requests: report.requests,
      reused: 0,
      cost: (Number(plan.tokens) * 2) / 1e6,
      failures: [],
      skipped: [],
      warnings: [],
    });
    const again = await citewellJson<Record<string, unknown>>(["plan", "docs"], { cwd });
    expect(again).toMatchObject({ tokens: 0, requests: 0, reused: plan.chunks });
  });
});

describe("a budget", () => {
  test("stops with exit code 1 and says how to go on; the next run continues", async () => {
    const cwd = await temporaryFolder();
    await cp(handbook, join(cwd, "docs"), { recursive: true });
    const { exitCode, stdout, stderr } = await citewell(["index", "docs", "--budget-tokens", "150"], { cwd });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringMatching(
        /^citewell: The budget is 150 tokens: .*run again (with a larger budget )?to go on\.\n$/,
      ),
    });
    expect(stdout).toMatch(/^Documents {2}.*\d unfinished\n/);
    expect((await citewellJson<IndexJson>(["index", "docs"], { cwd })).documents.failed).toBe(0);
  });

  test("in money needs a price", async () => {
    const cwd = await temporaryFolder();
    await cp(handbook, join(cwd, "docs"), { recursive: true });
    const { exitCode, stderr } = await citewell(["index", "docs", "--budget-cost", "1"], { cwd });
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("needs the price") });
  });
});

describe("migrate", () => {
  const [old, renewed] = ["citewell/local-lexical-m3", "citewell/local-lexical"];

  test("moves a store to another model, and back", async () => {
    const cwd = await indexedFolder();
    const refused = await citewell(["search", "leave", "--embedding-model", renewed], { cwd });
    expect(refused).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`migrate --embedding-model ${renewed}`),
    });
    await rm(join(cwd, "docs"), { recursive: true });
    const { exitCode, stdout, stderr } = await citewell(["migrate", "--embedding-model", renewed], { cwd });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^Documents {2}3 added\n[\s\S]*Moved from .* to .*\n.*migrate --back/);
    const found = await citewellJson<SearchJson>(["search", "days of paid leave", "--embedding-model", renewed], {
      cwd,
    });
    expect(found.hits[0]?.uri).toMatch(/leave\.md$/);
    expect(await citewellJson(["migrate", "--back"], { cwd })).toEqual({ back: true });
    await citewellJson<SearchJson>(["search", "days of paid leave", "--embedding-model", old], { cwd });
  });
});

describe("search", () => {
  test.each(["hybrid", "dense", "lexical"])("finds the passage in mode %s, with spans of the file", async (mode) => {
    const cwd = await indexedFolder();
    const { hits } = await citewellJson<SearchJson>(["search", "recovery key of encrypted disks", "--mode", mode], {
      cwd,
    });
    const [best] = hits;
    expect(best?.uri).toMatch(/\/docs\/laptops\.md$/);
    const text = await readFile(fileURLToPath(best!.uri), "utf8");
    expect(text.slice(best!.start, best!.end)).toBe(best!.text);
  });

  test("shows file, line and words", async () => {
    const cwd = await indexedFolder();
    const { stdout } = await citewell(["search", "laptops replaced", "--limit", "1"], { cwd });
    expect(stdout).toMatch(/^1\. docs\/laptops\.md:1 {2}\(.*dense 1.*\)\n[\s\S]*Laptops are replaced every four years/);
  });
});

describe("ask", () => {
  test("answers with a citation whose words are at that place in the file", async () => {
    const cwd = await indexedFolder();
    const { answer, answered, citations } = await citewellJson<AskJson>(
      ["ask", "How many days of leave do employees get?"],
      { cwd },
    );
    expect(answered).toBe(true);
    expect(answer).toMatch(/27 days.*\[1\]/);
    const [citation] = citations;
    expect(citation).toMatchObject({ number: 1, supported: true, line: 7 });
    const text = await readFile(fileURLToPath(citation!.uri), "utf8");
    expect(text.slice(citation!.start, citation!.end)).toBe(citation!.quote);
  });

  test("answers a Chinese question from a Chinese document", async () => {
    const cwd = await indexedFolder();
    const { answer, answered, citations } = await citewellJson<AskJson>(["ask", "加班需要向谁申请？"], { cwd });
    expect(answered).toBe(true);
    expect(answer).toContain("部门经理");
    expect(citations[0]).toMatchObject({ supported: true });
    expect(citations[0]!.uri).toMatch(/kaoqin\.md$/);
  });

  test("says so when the documents do not hold the answer", async () => {
    const cwd = await indexedFolder();
    const { answered, citations } = await citewellJson<AskJson>(
      ["ask", "Which telescope discovered the rings of Uranus?"],
      { cwd },
    );
    expect({ answered, citations }).toEqual({ answered: false, citations: [] });
  });

  test("prints the answer with its numbered sources: file, line and quoted words", async () => {
    const cwd = await indexedFolder();
    const { stdout } = await citewell(["ask", "How often are laptops replaced?"], { cwd });
    expect(stdout).toMatch(
      /every four years[\s\S]*\n\nSources\n\[1\] docs\/laptops\.md:3 {2}“.*every four years.*”.*\n$/,
    );
  });
});

describe("how documents are cut", () => {
  test("follows the flags, is kept for later runs, and survives a migration", async () => {
    const cwd = await temporaryFolder();
    await cp(handbook, join(cwd, "docs"), { recursive: true });
    const flags = ["--strategy", "fixed", "--chunk-tokens", "24", "--overlap-tokens", "0", "--parent-tokens", "0"];
    const plan = await citewellJson<{ chunks: number }>(["plan", "docs", ...flags], { cwd });
    const first = await citewellJson<IndexJson>(["index", "docs", ...flags], { cwd });
    expect(first.chunks.total).toBe(plan.chunks);
    expect(first.chunks.total).toBeGreaterThan(10);
    expect(await citewellJson<IndexJson>(["index", "docs"], { cwd })).toMatchObject({ documents: { unchanged: 3 } });
    const kept = await citewellJson<IndexJson>(["migrate"], { cwd });
    expect(kept).toMatchObject({ requests: 0, chunks: { total: first.chunks.total } });
    const wider = await citewellJson<IndexJson>(["migrate", "--chunk-tokens", "200"], { cwd });
    expect(wider.chunks.total).toBeLessThan(first.chunks.total);
    await writeFile(join(cwd, "citewell.config.json"), JSON.stringify({ chunk: { maxTokens: 24, parentTokens: 0 } }));
    expect(await citewellJson<IndexJson>(["index", "docs"], { cwd })).toMatchObject({
      chunks: { total: first.chunks.total },
    });
  });

  test("semantic chunks of a file are found by the embedder, and the cost is printed", async () => {
    const file = join(handbook, "leave.md");
    const { stdout, stderr, exitCode } = await citewell([
      "chunk",
      file,
      "--strategy",
      "semantic",
      "--max-tokens",
      "48",
      "--json",
    ]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: expect.stringMatching(/^Sentences compared by .*: [1-9]\d* requests?, [1-9]\d* tokens\n$/),
    });
    const { text, chunks } = JSON.parse(stdout) as { text: string; chunks: { start: number; end: number }[] };
    expect(chunks.length).toBeGreaterThan(1);
    expect(chunks.at(-1)!.end).toBe(text.length);
  });
});

describe("chunk", () => {
  test("shows spans that cover the file and stay within the limit", async () => {
    const file = join(handbook, "leave.md");
    const { text, chunks } = await citewellJson<{
      text: string;
      chunks: { start: number; end: number; tokens: number }[];
    }>(["chunk", file, "--max-tokens", "40"]);
    expect(text).toBe(await readFile(file, "utf8"));
    expect(chunks.length).toBeGreaterThan(1);
    let covered = 0;
    for (const { start, end, tokens } of chunks) {
      expect(start).toBeLessThanOrEqual(covered);
      expect(tokens).toBeLessThanOrEqual(40);
      covered = end;
    }
    expect(covered).toBe(text.length);
  });
});

describe("read", () => {
  const paragraph = "The harbour opens on Monday, the council says, after a winter of repairs to its walls and gates.";
  const article = `<title>Harbour news</title>\n<div><h1>Harbour news</h1>\n<p>By Ada Writer</p>\n${`<p>${paragraph}</p>\n`.repeat(8)}
<figure><figcaption>Ships at the quay</figcaption></figure></div>`;

  test("shows a text with the places of its source, what is left out of it, and what is not read and why", async () => {
    const cwd = await temporaryFolder({ "a.html": article, "b.pdf": "no PDF", "c.mp4": "film" });
    const { stdout, exitCode } = await citewell(["read", "."], { cwd });
    expect(stdout).toMatch(/── a\.html\ntitle: Harbour news\n/);
    expect(stdout).toContain(`line 4     ${paragraph}`);
    expect(stdout).toContain('Left out of a.html: 1 captions, such as "Ships at the quay"');
    expect(stdout).toMatch(/Skipped: c\.mp4.*transcribe it/);
    expect(stdout).toMatch(/Failed: b\.pdf/);
    expect(exitCode).toBe(1);
  });

  test("is a converter: the text alone as Markdown, or the document with its anchors as JSON", async () => {
    const cwd = await temporaryFolder({ "a.html": article });
    const { stdout } = await citewell(["read", "a.html", "--as", "markdown"], { cwd });
    expect(stdout).toBe(`${Array.from({ length: 8 }, () => paragraph).join("\n\n")}\n`);
    const { stdout: json } = await citewell(["read", "a.html", "--as", "json"], { cwd });
    const { documents } = JSON.parse(json) as { documents: object[] };
    expect(documents).toMatchObject([
      {
        title: "Harbour news",
        anchors: expect.arrayContaining([{ start: 0, line: 4 }]),
        leftOut: expect.arrayContaining([{ what: "captions", count: 1, example: "Ships at the quay" }]),
      },
    ]);
  });

  test("shows rows as the columns that are named make documents of them, all other columns as metadata", async () => {
    const cwd = await temporaryFolder({ "t.csv": "key,subject,words,reply,team\n7,Doors,It is stuck,Call Bob,site\n" });
    const rows = ["--rows", "id=key,title=subject,text=words,text=reply"];
    const { stdout } = await citewell(["read", "t.csv", ...rows, "--as", "json"], { cwd });
    const [document] = (JSON.parse(stdout) as { documents: object[] }).documents;
    expect(document).toMatchObject({ title: "Doors", text: "It is stuck\n\nCall Bob" });
    expect(document).toMatchObject({
      uri: expect.stringMatching(/t\.csv#7$/) as string,
      metadata: { key: "7", team: "site" },
    });
  });
});

describe("help", () => {
  test.each([
    ["--help"],
    ["index", "--help"],
    ["ask", "--help"],
    ["search", "--help"],
    ["chunk", "--help"],
    ["read", "--help"],
    ["local", "--help"],
  ])("%s %s exits 0 and gives examples", async (...words) => {
    const { exitCode, stdout } = await citewell(words.filter(Boolean));
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/Examples?:\n {2}\$ citewell /);
  });
});
