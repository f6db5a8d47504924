import { expect, test } from "vitest";
import { describeLeftOut, listLeftOut } from "../../src/cli/output/ingest-report.js";
import { LoadError } from "../../src/core/errors.js";
import { citewell } from "../support/citewell.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const folders = { directory: "/papers" };
const failed = (failures: readonly (readonly [string, string])[]) =>
  listLeftOut(
    {
      skipped: [],
      warnings: [],
      failures: failures.map(([uri, message]) => ({ uri, error: new LoadError("malformed", uri, message) })),
    },
    folders,
  );
const numbered = (count: number, make: (index: number) => readonly [string, string]) =>
  Array.from({ length: count }, (_, index) => make(index + 1));

test("failures of one reason are listed together, three of them by name", () => {
  const pdfs = numbered(15, (at) => [`file:///papers/${at}.pdf`, `file:///papers/${at}.pdf is encrypted`]);
  const odd = ["file:///papers/odd.md", "is odd"] as const;
  expect(failed([...pdfs.slice(0, 9), odd, ...pdfs.slice(9)])).toEqual([
    "Failed    16",
    "  1.pdf is encrypted",
    "  2.pdf is encrypted",
    "  3.pdf is encrypted",
    "  and 12 more: same reason",
    "  odd.md: is odd",
  ]);
});

test("four of one reason are all named, and at most twenty lines", () => {
  expect(failed(numbered(4, (at) => [`file:///papers/${at}.pdf`, "is encrypted"]))).toHaveLength(5);
  const many = failed([
    ...numbered(19, (at) => [`file:///papers/${at}.md`, `is odd in way ${at}`]),
    ...numbered(30, (at) => [`file:///papers/${at}.pdf`, "is encrypted"]),
  ]);
  expect(many).toHaveLength(22);
  expect(many.slice(-2)).toEqual(["  1.pdf: is encrypted", "  and 29 more"]);
});

test("rows of one reason are listed together, whatever their place, and a row shows its file once", () => {
  const rows = numbered(9, (at) => [`file:///papers/a.csv#row-${at}`, `file:///papers/a.csv line ${at}: has no text`]);
  expect(failed(rows)).toEqual([
    "Failed    9",
    "  a.csv line 1: has no text",
    "  a.csv line 2: has no text",
    "  a.csv line 3: has no text",
    "  and 6 more: same reason",
  ]);
  expect(failed([["file:///papers/a.md", "Cannot read /papers/a.md: no rights"]])).toEqual([
    "Failed    1",
    "  Cannot read a.md: no rights",
  ]);
});

test("index lists failed rows by file and line", async () => {
  const rows = Array.from({ length: 6 }, () => '{"text": \n').join("");
  const cwd = await temporaryFolder({ "docs/a.jsonl": `{"text": "A mole digs."}\n${rows}{"text": " "}\n` });
  const { stdout } = await citewell(["index", "docs"], { cwd });
  expect(stdout).toMatch(
    /^Failed {4}6\n {2}docs\/a\.jsonl line 2: .*\n {2}docs\/a\.jsonl line 3: .*\n {2}docs\/a\.jsonl line 4: .*\n {2}and 3 more: same reason$/m,
  );
  expect(stdout).toMatch(/^Skipped {4}1\n {2}docs\/a\.jsonl#\S+: blank$/m);
});

test("index names the first of the rows that share a name, with both names", async () => {
  const cwd = await temporaryFolder({ "docs/a.csv": "key,text\nk1,A mole digs.\nk1,A vole digs.\nk1,A cat naps.\n" });
  const { stdout } = await citewell(["index", "docs", "--rows", "id=key,text=text"], { cwd });
  expect(stdout).toContain("Documents  3 added");
  expect(stdout).toMatch(/docs\/a\.csv line 3: a row before it is named "k1" too, so it is "k1;2"\. So are the others/);
});

test("what documents were read without is told by kind, with a file to look at", () => {
  const earlier = { what: "earlier mails", count: 3, documents: 2, uri: "file:///papers/box.mbox#one%40x" };
  expect(describeLeftOut({ leftOut: [earlier] }, folders)).toEqual([
    "Left out   earlier mails at 3 places of 2 documents: see citewell read box.mbox",
  ]);
  expect(describeLeftOut({}, folders)).toEqual([]);
});
