import { expect, test } from "vitest";
import type { Document } from "../../../src/core/types.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import type { WireExcerpt } from "../../../src/server/api/wire.js";
import { cellsOf } from "../../../src/server/api/excerpts/table-rows.js";
import { excerptOf } from "../../../src/server/api/excerpts/excerpt.js";
import { type Served, served } from "../../support/served.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

/** The excerpt of the document whose address ends so. */
async function excerptFrom({ kb, send }: Served, ending: string, more = ""): Promise<WireExcerpt> {
  const found = (await kb.documents()).find(({ uri }) => uri.endsWith(ending))!;
  const reply = await send("GET", `/api/passages?uri=${encodeURIComponent(found.uri)}${more}`);
  expect(reply.status).toBe(200);
  return (await reply.json()) as WireExcerpt;
}

async function servedFiles(files: Record<string, string>, options: Parameters<typeof served>[1] = {}) {
  const server = await served([], options);
  await server.kb.ingest(readFolder(await temporaryFolder(files)));
  return server;
}

const mail = `From: Ada <ada@example.com>
To: Bob <bob@example.com>, carol@example.com
Cc: Dan <dan@example.com>
Date: Tue, 3 Mar 2026 09:30:00 +0100
Subject: The keys
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: text/plain

The keys expire in May.
--b
Content-Type: text/markdown; name="a plan.md"
Content-Disposition: attachment; filename="a plan.md"

from: nobody. Renew them.
--b
Content-Type: application/octet-stream; name="keys.bin"
Content-Disposition: attachment; filename="keys.bin"

none
--b--
`;

test("a mail comes with its head, in which attachments that were read have their addresses", async () => {
  const server = await servedFiles({ "letter.eml": mail, "note.md": "---\nfrom: Ada\nto: [Bob]\n---\nKeys." });
  const letter = await excerptFrom(server, "letter.eml");
  expect(letter.mail).toEqual({
    from: "Ada <ada@example.com>",
    to: ["Bob <bob@example.com>", "carol@example.com"],
    cc: ["Dan <dan@example.com>"],
    date: "2026-03-03T08:30:00Z",
    attachments: [{ name: "a plan.md", uri: `${letter.uri}#a%20plan.md` }, { name: "keys.bin" }],
  });
  expect(letter).toMatchObject({
    title: "The keys",
    text: expect.stringMatching(/^From: Ada <ada@example\.com>\n.*\n\nThe keys expire in May\.$/s) as string,
  });
  expect((await excerptFrom(server, "#a%20plan.md")).mail).toBeUndefined();
  expect((await excerptFrom(server, "note.md")).mail).toBeUndefined();
});

test("an attachment that the caller may not see is named without its address", async () => {
  const letter: Document = {
    uri: "file:///a/letter.eml",
    text: "Keys.",
    metadata: { from: "Ada", attachments: ["plan.md"], team: "north" },
  };
  const plan: Document = { uri: "file:///a/letter.eml#plan.md", text: "Plan.", metadata: { team: "south" } };
  const own = await served([letter, plan], { access: () => ({ filter: { metadata: { team: "north" } } }) });
  expect((await excerptFrom(own, "letter.eml")).mail?.attachments).toEqual([{ name: "plan.md" }]);
  const all = await served([letter, plan]);
  expect((await excerptFrom(all, "letter.eml")).mail?.attachments).toEqual([{ name: "plan.md", uri: plan.uri }]);
});

test("a notebook comes with the places at which its cells begin", async () => {
  const cells = [
    { cell_type: "markdown", source: "# Keys" },
    { cell_type: "code", source: "1 + 1", outputs: [{ data: { "text/plain": "2" } }] },
  ];
  const server = await servedFiles({ "keys.ipynb": JSON.stringify({ cells, metadata: {} }), "a.md": "# Keys" });
  const notebook = await excerptFrom(server, ".ipynb");
  expect(notebook.cells?.map((start) => notebook.text.slice(start, start + 6))).toEqual(["# Keys", "```\n1 "]);
  expect((await excerptFrom(server, ".ipynb", "&start=10&end=12&around=0")).cells).toEqual([]);
  expect((await excerptFrom(server, "a.md")).cells).toBeUndefined();
});

test("a row of a table comes with the rows around it, cell by cell, where they are asked for", async () => {
  const csv = `gate,opens,note\nnorth,06:00,\nsouth,07:00,"By the river: mind\nthe dog: it bites"\nwest,09:30,Late\neast,10:00,Never\n`;
  const server = await servedFiles({ "gates.csv": csv, "keys.csv": "id,holder\n7,Ada\n8,Bob\n9,Carol\n" });
  expect((await excerptFrom(server, "gates.csv#row=3")).rows).toBeUndefined();
  const { rows, text } = await excerptFrom(server, "gates.csv#row=3", "&rows=1");
  expect(rows?.columns).toEqual(["gate", "opens", "note"]);
  expect(rows?.rows.map(({ number, cells }) => [number, ...cells.map(({ value }) => value)])).toEqual([
    [2, "north", "06:00"],
    [3, "south", "07:00", "By the river: mind\nthe dog: it bites"],
    [4, "west", "09:30", "Late"],
  ]);
  for (const { start, value } of rows!.rows[1]!.cells) expect(text.slice(start, start! + value.length)).toBe(value);
  expect(rows?.rows[0]?.cells.every(({ start }) => start === undefined)).toBe(true);
  const named = await excerptFrom(server, "keys.csv#8", "&rows=5");
  expect(named.rows?.columns).toEqual(["id", "holder"]);
  expect(named.rows?.rows.map(({ cells }) => cells.map(({ value }) => value).join())).toEqual([
    "7,Ada",
    "8,Bob",
    "9,Carol",
  ]);
});

test("rows that the caller may not see are not among those around", async () => {
  const rows = ["north", "south", "north"].map((team, index): Document => ({
    uri: `file:///a/gates.csv#row=${index + 2}`,
    text: `team: ${team}`,
    metadata: { team },
  }));
  const server = await served(rows, { access: () => ({ filter: { metadata: { team: "north" } } }) });
  const { rows: seen } = await excerptFrom(server, "#row=2", "&rows=9");
  expect(seen?.rows.map(({ number }) => number)).toEqual([2, 4]);
});

test("a text that is not made of all its columns has no cells, and its title is one", () => {
  expect(cellsOf({ text: "Just words.", metadata: { a: "b" } })).toBeUndefined();
  expect(cellsOf({ text: "name: Keys\na: b", title: "Keys", metadata: { a: "b" } })).toEqual([
    { name: "name", value: "Keys", start: 6 },
    { name: "a", value: "b", start: 14 },
  ]);
});

test("an excerpt cuts no row of a Markdown table, and says the head of one that begins above it", () => {
  const lines = Array.from({ length: 200 }, (_, index) => `| pump ${index} | ${index} euros |`);
  const head = "| pump | price |\n| --- | --- |\n";
  const text = `# Prices\n\n${head}${lines.join("\n")}\n\nThe end.`;
  const document: Document = { uri: "file:///prices.xlsx", mediaType: "text/markdown", text };
  const around = (words: string, characters: number, of = document) => {
    const start = of.text.indexOf(words);
    return excerptOf(of, { start, end: start + words.length }, characters);
  };
  const middle = around("pump 120", 100);
  expect(middle.tableHead).toBe(head);
  expect(middle.text.split("\n").every((line) => /^\| pump \d+ \| \d+ euros \|$/.test(line))).toBe(true);
  expect(middle.text.length).toBeGreaterThan(180);
  for (const characters of [1, 20, 35, 45]) {
    const first = around("pump 1 |", characters);
    expect([first.tableHead, first.text.startsWith("| pump ")]).toEqual(
      characters < 35 ? [head, true] : [undefined, true],
    );
  }
  const plain = around("pump 120", 100, { ...document, mediaType: "text/plain" });
  expect([plain.tableHead, plain.from]).toEqual([undefined, text.indexOf("pump 120") - 100]);
  // Lines with bars that are no table have no head.
  expect(around("| b", 0, { ...document, text: "| a\n| b\n| c" }).tableHead).toBeUndefined();
});
