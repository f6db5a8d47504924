import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { citewell, citewellJson, type IndexJson, type SearchJson } from "../support/citewell-here.js";
import { scriptedUpstream, type ScriptedReply } from "../support/scripted-upstream.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { tinyPdf } from "../support/tiny-pdf.js";

const here = ["--allow-private", "--requests-per-second", "100"];
const page = (text: string): ScriptedReply => ({ text, headers: { "content-type": "text/html" } });

/** A site of two pages, which its sitemap lists. */
async function site(): Promise<string> {
  const pages: Record<string, ScriptedReply> = {
    "/guide": page("<title>Guide</title><main><p>Turn the blue valve first."),
    "/faq": page("<title>FAQ</title><main><p>The red lamp means low pressure."),
  };
  const { baseUrl } = await scriptedUpstream(({ path }) => pages[path] ?? { status: 404, text: "no such page" });
  const list = ["/guide", "/faq"].map((path) => `<url><loc>${baseUrl}${path}</loc></url>`).join("");
  pages["/sitemap.xml"] = { text: `<urlset>${list}</urlset>`, headers: { "content-type": "application/xml" } };
  return baseUrl;
}

describe("web addresses", () => {
  test("are planned, indexed and searched like files: a page, a sitemap, and a whole site", async () => {
    const base = await site();
    const cwd = await temporaryFolder();
    const added = (count: number) => ({ added: count, updated: 0, unchanged: 0, deleted: 0, failed: 0 });
    const plan = await citewellJson<{ outcomes: object }>(["plan", `${base}/guide`, ...here], { cwd });
    expect(plan.outcomes).toEqual(added(1));
    const one = await citewellJson<IndexJson>(["index", `${base}/guide`, ...here], { cwd });
    expect(one.documents).toEqual(added(1));
    const { hits } = await citewellJson<SearchJson>(["search", "blue valve"], { cwd });
    expect(hits[0]).toMatchObject({ uri: `${base}/guide`, text: "Turn the blue valve first." });
    for (const words of [[`${base}/sitemap.xml`], [`${base}/`, "--sitemap"]]) {
      const all = await citewellJson<IndexJson>(["index", ...words, ...here], { cwd: await temporaryFolder() });
      expect(all.documents).toEqual(added(2));
    }
  });

  test("of this machine are refused without --allow-private", async () => {
    const base = await site();
    const { exitCode, stdout } = await citewell(["index", `${base}/guide`], { cwd: await temporaryFolder() });
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/Failed {4}1\n.*127\.0\.0\.1.*--allow-private/s);
  });
});

describe("--rows", () => {
  const tickets = "key,subject,body,note\nT-1,Valve,Turn the blue valve.,ask Ann\n";

  test("maps columns to parts of a document, as the configuration file does", async () => {
    const cwd = await temporaryFolder({ "tickets.csv": tickets });
    const rows = ["--rows", "id=key,title=subject", "--rows", "text=body,text=note"];
    await citewellJson(["index", "tickets.csv", ...rows], { cwd });
    const { hits } = await citewellJson<SearchJson>(["search", "blue valve"], { cwd });
    expect(hits).toMatchObject([{ title: "Valve", text: "Turn the blue valve.\n\nask Ann" }]);
    expect(hits[0]!.uri).toMatch(/tickets\.csv#T-1$/);

    await writeFile(join(cwd, "citewell.config.json"), JSON.stringify({ rows: { id: "key", text: "note" } }));
    await citewellJson(["index", "tickets.csv"], { cwd });
    const again = await citewellJson<SearchJson>(["search", "Ann"], { cwd });
    expect(again.hits).toMatchObject([{ text: "ask Ann" }]);
  });

  test("lists the existing columns when one is missing, once for all rows", async () => {
    const cwd = await temporaryFolder({ "tickets.csv": `${tickets}T-2,Lamp,Red.,none\n` });
    const report = await citewellJson<IndexJson>(["index", "tickets.csv", "--rows", "text=words"], { cwd });
    expect(report.failures).toMatchObject([
      { error: expect.stringMatching(/tickets\.csv: there is no column "words": it has key, subject, body, note$/) },
    ]);
  });

  test.each([
    ["body", "Write part=column, the part being one of text, title, id, uri, metadata"],
    ["words=body", '"words=body" names no part of a document'],
    ["id=a,id=b", "There is one column for id, and both a and b were named."],
  ])("%s is refused", async (rows, message) => {
    const { exitCode, stderr } = await citewell(["index", "x.csv", "--rows", rows]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe("--metadata", () => {
  test("is put on every document, over its own; numbers and booleans are such, and a run with other values updates", async () => {
    const cwd = await temporaryFolder({ "a.md": "---\ntenant: b\n---\nTurn the blue valve." });
    const index = async (...entries: readonly string[]) => {
      const flags = entries.flatMap((entry) => ["--metadata", entry]);
      return (await citewellJson<IndexJson>(["index", "a.md", ...flags], { cwd })).documents;
    };
    const found = async (...conditions: readonly string[]) => {
      const flags = conditions.flatMap((condition) => ["--filter", condition]);
      return (await citewellJson<SearchJson>(["search", "valve", ...flags], { cwd })).hits.length;
    };
    const large = "12345678901234567891";
    const entries = ["year=2024", "isPublic=true", 'code="007"', "note=a=b c", `id=${large}`];
    expect(await index("tenant=a", ...entries)).toMatchObject({ added: 1 });
    expect(await found("tenant=a", "isPublic=true", "code=007", "note=a=b c", `id="${large}"`)).toBe(1);
    // Bounds hold for numbers alone.
    expect(await found("year>2023", "year<2025")).toBe(1);
    expect(await found("tenant=b")).toBe(0);
    expect(await index("tenant=a", ...entries)).toMatchObject({ unchanged: 1 });
    expect(await index("tenant=c", ...entries)).toMatchObject({ updated: 1 });
    expect([await found("tenant=a"), await found("tenant=c")]).toEqual([0, 1]);
  });

  test.each([
    [["tenant="], '--metadata "tenant=": it must be name=value, such as tenant=a or year=2024'],
    [["=a"], '--metadata "=a": it must be name=value, such as tenant=a or year=2024'],
    [["tenant"], '--metadata "tenant": it must be name=value, such as tenant=a or year=2024'],
    [["tenant=a", "tenant=b"], "--metadata: tenant is given twice"],
  ])("%j is refused with one line", async (entries, message) => {
    const cwd = await temporaryFolder({ "a.md": "Words." });
    const flags = entries.flatMap((entry) => ["--metadata", entry]);
    const { exitCode, stderr } = await citewell(["plan", "a.md", ...flags], { cwd });
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: `citewell: ${message}\n` });
  });
});

test("chunk says why a file cannot be read, under the name that was typed; a name with line ends takes one line", async () => {
  const cwd = await temporaryFolder({ "zero.pdf": "", "two\nlines.md": "# Lines\n\nWords." });
  expect(await citewell(["chunk", "zero.pdf"], { cwd })).toMatchObject({
    exitCode: 1,
    stderr: "citewell: zero.pdf is empty (0 bytes) (citewell explain unreadable)\n",
  });
  await citewell(["index", "two\nlines.md"], { cwd });
  const { stdout } = await citewell(["search", "words"], { cwd });
  expect(stdout).toMatch(/^1\. two\uFFFDlines\.md:1 /);
});

test("chunk says on which page a chunk of a PDF starts", async () => {
  const cwd = await temporaryFolder({ "a.pdf": tinyPdf([["One."], [], ["Three."]]) });
  const { stdout } = await citewell(["chunk", "a.pdf"], { cwd });
  expect(stdout).toMatch(/^── 1\/\d+ .* tokens {2}page 1/);
});
