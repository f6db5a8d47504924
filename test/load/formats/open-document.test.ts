import { strToU8, zipSync } from "fflate";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Loader } from "../../../src/load/formats/loader.js";
import { loadOdp } from "../../../src/load/formats/office/slides.js";
import { loadOds } from "../../../src/load/formats/office/ods.js";
import { loadOdt } from "../../../src/load/formats/office/odt.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { collect } from "../../../src/core/stream.js";
import { temporaryFolder } from "../../store/temporary-folder.js";

const { signal } = new AbortController();

const packed = (parts: Readonly<Record<string, string>>) =>
  zipSync(Object.fromEntries(Object.entries(parts).map(([path, text]) => [path, strToU8(text)])));

const load = async (loader: Loader, parts: Readonly<Record<string, string>>) =>
  loader({ path: "/x", uri: "file:///x", bytes: packed(parts) }, signal);

const content = (kind: string, body: string, styles = "") =>
  `<office:document-content><office:automatic-styles>${styles}</office:automatic-styles>
   <office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`;

const text = async (body: string, styles?: string) =>
  (await load(loadOdt, { "content.xml": content("text", body, styles) })).text;

describe("OpenDocument text", () => {
  test("headings, paragraphs and white space are rendered as meant", async () => {
    expect(
      await text(
        `<text:p text:style-name="P1">Guide</text:p>
         <text:h text:outline-level="2">Set<text:span>up</text:span></text:h>
         <text:p>Words <text:span>in <text:a>a link</text:a></text:span>,<text:s text:c="3"/>and<text:tab/>more.<text:line-break/>Next line.</text:p>
         <text:list><text:list-item><text:h text:outline-level="3">Numbered</text:h></text:list-item></text:list>
         <text:p># no heading</text:p>`,
        `<style:style style:name="P1" style:parent-style-name="Title"/>`,
      ),
    ).toBe("# Guide\n\n## Setup\n\nWords in a link, and more.\nNext line.\n\n### Numbered\n\n\\# no heading");
  });

  test("lists are numbered by their style, level by level; code stays unchanged", async () => {
    expect(
      await text(
        `<text:list text:style-name="L1"><text:list-item><text:p>one</text:p>
           <text:list><text:list-item><text:p>a</text:p></text:list-item></text:list></text:list-item>
           <text:list-item><text:p>two</text:p></text:list-item></text:list>
         <text:p text:style-name="Preformatted_20_Text">if x:</text:p><text:p text:style-name="P2"><text:s text:c="2"/>y()</text:p>
         <text:p>After.</text:p>`,
        `<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>
           <text:list-level-style-bullet text:level="2"/></text:list-style>
         <style:style style:name="P2" style:parent-style-name="Preformatted_20_Text"/>`,
      ),
    ).toBe("1. one\n   - a\n2. two\n\n```\nif x:\n  y()\n```\n\nAfter.");
  });

  test("a list goes on counting, starts anew or from a number, and shows its format", async () => {
    const list = (items: string, more = "") => `<text:list text:style-name="L1" ${more}>${items}</text:list>`;
    const item = (words: string, more = "", inside = "") =>
      `<text:list-item ${more}><text:p>${words}</text:p>${inside}</text:list-item>`;
    const inner = (items: string) => `<text:list>${items}</text:list>`;
    const shown = await text(
      list(item("one") + item("two", "", inner(item("a") + item("b"))), `xml:id="first"`) +
        `<text:p>Between.</text:p>` +
        list(item("three"), `text:continue-numbering="true"`) +
        list(item("anew", "", inner(item("a")))) +
        list(`<text:list-item>${inner(item("b"))}</text:list-item>`, `text:continue-numbering="true"`) +
        list(
          item("four") + `<text:list-header><text:p>Unnumbered.</text:p></text:list-header>`,
          `text:continue-list="first"`,
        ) +
        list(item("twelve", `text:start-value="12"`) + item("thirteen")),
      `<text:list-style style:name="L1">
         <text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>
         <text:list-level-style-number text:level="2" style:num-format="a" style:num-prefix="(" style:num-suffix=")"/>
       </text:list-style>`,
    );
    expect(shown.split("\n").filter(Boolean)).toEqual([
      "1. one",
      "2. two",
      "   (a) a",
      "   (b) b",
      "Between.",
      "3. three",
      "1. anew",
      "   (a) a",
      "  (b) b",
      "4. four",
      "  Unnumbered.",
      "12. twelve",
      "13. thirteen",
    ]);
  });

  test("headings have the numbers of the outline, or of the list that they stand in", async () => {
    const heading = (level: number, words: string, more = "") =>
      `<text:h text:outline-level="${level}" ${more}>${words}</text:h>`;
    const outline = `<text:outline-style style:name="Outline">
        <text:outline-level-style text:level="1" style:num-format="I" style:num-suffix="."/>
        <text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/>
        <text:outline-level-style text:level="3" style:num-format=""/></text:outline-style>`;
    const listed = `<text:list text:style-name="L"><text:list-item>${heading(1, "Annex")}</text:list-item></text:list>`;
    const { text: shown } = await load(loadOdt, {
      "styles.xml": `<office:document-styles><office:styles>${outline}</office:styles></office:document-styles>`,
      "content.xml": content(
        "text",
        heading(1, "Nuts") +
          heading(2, "Long") +
          heading(2, "Short") +
          heading(3, "None") +
          heading(1, "Plain", `text:is-list-header="true"`) +
          heading(1, "Bolts", `text:restart-numbering="true" text:start-value="4"`) +
          heading(2, "Wide") +
          listed,
        `<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="A" loext:num-list-format="Annex %1%:"/></text:list-style>`,
      ),
    });
    expect(shown.split("\n\n")).toEqual([
      "# I. Nuts",
      "## I.1 Long",
      "## I.2 Short",
      "### None",
      "# Plain",
      "# IV. Bolts",
      "## IV.1 Wide",
      "# Annex A: Annex",
    ]);
  });

  test("tables have their header, repeated cells and cells over several columns and rows", async () => {
    expect(
      await text(
        `<table:table><table:table-header-rows><table:table-row>
             <table:table-cell><text:p>Name</text:p></table:table-cell><table:table-cell><text:p>A|B</text:p></table:table-cell>
           </table:table-row></table:table-header-rows>
           <table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>both</text:p></table:table-cell>
             <table:table-cell><text:p>1</text:p><text:p>2</text:p></table:table-cell></table:table-row>
           <table:table-row><table:covered-table-cell/><table:table-cell><text:p>3</text:p></table:table-cell></table:table-row>
           <table:table-row><table:table-cell table:number-columns-repeated="2"><text:p>same</text:p></table:table-cell></table:table-row>
         </table:table>`,
      ),
    ).toBe("| Name | A\\|B |\n| --- | --- |\n| both | 1 2 |\n| both | 3 |\n| same | same |");
  });

  test("notes stand at the end by their number; deletions, comments, indexes and readings are left out", async () => {
    const note = (words: string) =>
      `<text:note><text:note-citation>9</text:note-citation><text:note-body><text:p>${words}</text:p></text:note-body></text:note>`;
    expect(
      await text(
        `<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>
         <text:table-of-content><text:p>Contents</text:p></text:table-of-content>
         <text:p>First${note("One.")} and second${note("Two.")}.<office:annotation><text:p>remark</text:p></office:annotation></text:p>
         <text:p><text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>かんじ</text:ruby-text></text:ruby></text:p>
         <text:p><draw:frame><draw:text-box><text:p>In a box.</text:p></draw:text-box></draw:frame></text:p>`,
      ),
    ).toBe("First[1] and second[2].\n\n漢字\n\nIn a box.\n\n[1] One.\n\n[2] Two.");
  });

  test("title and metadata are the file's; prefixes may be any", async () => {
    const oasis = "urn:oasis:names:tc:opendocument:xmlns";
    const loaded = await load(loadOdt, {
      "content.xml": `<o:document-content xmlns:o="${oasis}:office:1.0"><o:body><o:text>
        <ns0:h xmlns:ns0="${oasis}:text:1.0" ns0:outline-level="2">Two</ns0:h></o:text></o:body></o:document-content>`,
      "meta.xml": `<office:document-meta><office:meta><dc:title>A  Guide</dc:title><meta:initial-creator>A. Author</meta:initial-creator>
        <meta:keyword>one</meta:keyword><meta:keyword>two</meta:keyword></office:meta></office:document-meta>`,
    });
    expect(loaded).toEqual({
      text: "## Two",
      anchors: [],
      mediaType: "text/markdown",
      title: "A Guide",
      metadata: { author: "A. Author", keywords: "one, two" },
    });
  });

  test("one that is encrypted, of another kind, or empty, is an error that says so", async () => {
    const manifest = `<manifest:manifest><manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry></manifest:manifest>`;
    const locked = { "META-INF/manifest.xml": manifest, "content.xml": "\u0001" };
    await expect(load(loadOdt, locked)).rejects.toMatchObject({
      code: "unreadable",
      message: "file:///x is encrypted: save a copy of it without a password",
    });
    await expect(load(loadOds, { "content.xml": content("text", "") })).rejects.toThrow(
      "is not an OpenDocument spreadsheet",
    );
    await expect(async () =>
      loadOdt({ path: "/x", uri: "file:///x", bytes: new Uint8Array() }, signal),
    ).rejects.toThrow("file:///x is empty (0 bytes)");
  });
});

describe("OpenDocument sheets", () => {
  const sheets = async (...rows: readonly string[]) =>
    load(loadOds, {
      "content.xml": content("spreadsheet", `<table:table table:name="Sales">${rows.join("")}</table:table>`),
    });
  const row = (cells: string, more = "") => `<table:table-row ${more}>${cells}</table:table-row>`;
  const cell = (shown: string, more = "") => `<table:table-cell ${more}><text:p>${shown}</text:p></table:table-cell>`;

  test("values are as the sheet shows them, under its name", async () => {
    const { text: found } = await sheets(
      row(cell("What") + cell("Value")),
      row(cell("date") + cell("21.11.26", `office:value-type="date" office:date-value="2026-11-21T00:00:00"`)),
      row(cell("time") + cell("00:00", `office:value-type="date" office:date-value="1899-12-30T00:00:00"`)),
      row(
        cell("money") + cell("1.234,50 €", `office:value-type="currency" office:currency="EUR" office:value="1234.5"`),
      ),
      row(cell("share") + cell("25,5 %", `office:value-type="percentage" office:value="0.255"`)),
      row(cell("text") + cell(`a|b<office:annotation><text:p>remark</text:p></office:annotation><text:line-break/>c`)),
    );
    expect(found).toBe(
      "# Sales\n\n| What | Value |\n| --- | --- |\n| date | 21.11.26 |\n| time | 00:00 |\n| money | 1.234,50 € |\n" +
        "| share | 25,5 % |\n| text | a\\|b c |",
    );
  });

  test("values that a program stored without their words are written plainly", async () => {
    const stored = (type: string, more: string) => row(`<table:table-cell office:value-type="${type}" ${more}/>`);
    const { text: found } = await sheets(
      row(cell("Value")),
      stored("date", `office:date-value="2026-11-21T00:00:00"`),
      stored("date", `office:date-value="2026-11-21T09:30:00"`),
      stored("time", `office:time-value="PT26H05M00S"`),
      stored("float", `office:value="1234.5"`),
      stored("percentage", `office:value="0.255"`),
      stored("currency", `office:value="12" office:currency="EUR"`),
      stored("boolean", `office:boolean-value="true"`),
      stored("string", `office:string-value="said"`),
    );
    expect(found.split("\n").slice(4).join(" ")).toBe(
      "| 2026-11-21 | | 2026-11-21 09:30:00 | | 26:05:00 | | 1234.5 | | 25.5% | | 12 EUR | | TRUE | | said |",
    );
  });

  test("the empty rest of a sheet is dropped, and of a column filled to the bottom a thousand rows are kept", async () => {
    const filler = `table:number-columns-repeated="16384"`;
    const { text: found } = await sheets(
      row(cell("A", `table:number-columns-repeated="2"`) + `<table:table-cell ${filler}/>`),
      row(cell("1"), `table:number-rows-repeated="3"`),
      row(`<table:table-cell ${filler}/>`, `table:number-rows-repeated="1048000"`),
    );
    expect(found).toBe("# Sales\n\n| A | A |\n| --- | --- |\n| 1 |  |\n| 1 |  |\n| 1 |  |");
    const { text: filled, warnings } = await sheets(row(cell("x"), `table:number-rows-repeated="1048576"`));
    expect(filled.split("\n")).toHaveLength(1003);
    expect(warnings).toEqual(['sheet "Sales" has 1048576 equal rows in a block, of which 1000 are kept']);
  });

  test("that are hidden, or copies from another file, are left out", async () => {
    const table = (name: string, more = "", inside = "") =>
      `<table:table table:name="${name}" ${more}>${inside}${row(cell(`in ${name}`))}</table:table>`;
    const style = (name: string, display: boolean) =>
      `<style:style style:name="${name}"><style:table-properties table:display="${display}"/></style:style>`;
    const body =
      table("A", `table:style-name="ta1"`) +
      table("B", `table:style-name="ta2"`) +
      table("C", "", "<table:table-source/>");
    const { text: found, warnings } = await load(loadOds, {
      "content.xml": content("spreadsheet", body, style("ta1", true) + style("ta2", false)),
    });
    expect(found).toBe("# A\n\n| in A |\n| --- |");
    expect(warnings).toEqual(['1 of its 2 sheets are hidden and left out ("B"): show them to have them read']);
  });
});

describe("an OpenDocument file of an unusual but valid shape", () => {
  const oasis = "urn:oasis:names:tc:opendocument:xmlns";
  const plain = content(
    "spreadsheet",
    `<table:table table:name="S"><table:table-row><table:table-cell><text:p>Cell</text:p></table:table-cell></table:table-row></table:table>`,
  );
  const expected = "# S\n\n| Cell |\n| --- |";
  const readOf = async (parts: Readonly<Record<string, string | Uint8Array>>) => {
    const bytes = zipSync(
      Object.fromEntries(
        Object.entries(parts).map(([path, part]) => [path, typeof part === "string" ? strToU8(part) : part]),
      ),
    );
    return (await loadOds({ path: "/x", uri: "file:///x", bytes }, signal)).text;
  };

  test("is read where names have no prefix, but a default namespace", async () => {
    const unprefixed = `<document-content xmlns="${oasis}:office:1.0"><body><spreadsheet>
      <table xmlns="${oasis}:table:1.0" xmlns:t="${oasis}:table:1.0" t:name="S"><table-row><table-cell>
      <p xmlns="${oasis}:text:1.0">Cell</p></table-cell></table-row></table></spreadsheet></body></document-content>`;
    expect(await readOf({ "content.xml": unprefixed })).toBe(expected);
  });

  test("is read where only its macros are encrypted, and refused where it is encrypted as a whole", async () => {
    const manifest = (path: string) =>
      `<m:manifest xmlns:m="${oasis}:manifest:1.0"><m:file-entry m:full-path="${path}"><m:encryption-data/></m:file-entry></m:manifest>`;
    expect(await readOf({ "content.xml": plain, "META-INF/manifest.xml": manifest("Basic/Standard/A.xml") })).toBe(
      expected,
    );
    await expect(readOf({ "META-INF/manifest.xml": manifest("encrypted-package") })).rejects.toThrow("is encrypted");
  });

  test("is read in UTF-16", async () => {
    const utf16 = Buffer.from(`\ufeff<?xml version="1.0" encoding="UTF-16"?>${plain}`, "utf16le");
    expect(await readOf({ "content.xml": utf16 })).toBe(expected);
    expect(await readOf({ "content.xml": Buffer.from(utf16).swap16() })).toBe(expected);
  });

  test("is read where all parts are in one, without a package", async () => {
    const meta = "<office:meta><dc:title>Flat</dc:title></office:meta>";
    const flat = `<?xml version="1.0"?>${plain.replace("<office:automatic-styles>", `${meta}$&`)}`;
    const file = { path: "/x", uri: "file:///x", bytes: Buffer.from(flat) };
    expect(await loadOds(file, signal)).toMatchObject({ text: expected, title: "Flat" });
    const long = Buffer.from(flat.replace("Cell", "word ".repeat(2_100_000)));
    await expect(async () => loadOds({ ...file, bytes: long }, signal)).rejects.toMatchObject({ code: "too-large" });
  });
});

test("OpenDocument slides are pages with their titles as headings, followed by their notes", async () => {
  const frame = (words: string, kind = "outline") =>
    `<draw:frame presentation:class="${kind}"><draw:text-box><text:p>${words}</text:p></draw:text-box></draw:frame>`;
  const slide = (...parts: readonly string[]) => `<draw:page>${parts.join("")}</draw:page>`;
  const notes = `<presentation:notes>${frame("Say hello.", "notes")}</presentation:notes>`;
  const { text: found, anchors } = await load(loadOdp, {
    "content.xml": content(
      "presentation",
      slide(frame("Welcome", "title"), frame("Words"), notes) + slide() + slide(frame("End")),
    ),
  });
  expect(found).toBe("# Welcome\n\nWords\n\nSay hello.\n\nEnd");
  expect(anchors).toEqual([
    { start: 0, page: 1 },
    { start: found.indexOf("End"), page: 3 },
  ]);
});

test("a folder's OpenDocument files are read, each by its ending", async () => {
  const folder = temporaryFolder();
  const files = {
    "a.odt": content("text", "<text:p>Text.</text:p>"),
    "b.ods": content(
      "spreadsheet",
      "<table:table table:name='S'><table:table-row><table:table-cell><text:p>Cell</text:p></table:table-cell></table:table-row></table:table>",
    ),
    "c.odp": content(
      "presentation",
      "<draw:page><draw:frame><draw:text-box><text:p>Slide.</text:p></draw:text-box></draw:frame></draw:page>",
    ),
  };
  for (const [name, xml] of Object.entries(files)) writeFileSync(join(folder, name), packed({ "content.xml": xml }));
  const documents = await collect(readFolder(folder));
  expect(documents.map(({ title, text: words }) => [title, words])).toEqual([
    ["a", "Text."],
    ["b", "# S\n\n| Cell |\n| --- |"],
    ["c", "Slide."],
  ]);
});
