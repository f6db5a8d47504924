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
        `<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"/>
           <text:list-level-style-bullet text:level="2"/></text:list-style>
         <style:style style:name="P2" style:parent-style-name="Preformatted_20_Text"/>`,
      ),
    ).toBe("1. one\n   - a\n2. two\n\n```\nif x:\n  y()\n```\n\nAfter.");
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
    const manifest = `<manifest:manifest><manifest:file-entry><manifest:encryption-data/></manifest:file-entry></manifest:manifest>`;
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

  test("values are as they are stored, under the sheet's name", async () => {
    const { text: found } = await sheets(
      row(cell("What") + cell("Value")),
      row(cell("date") + cell("21.11.26", `office:value-type="date" office:date-value="2026-11-21"`)),
      row(cell("time") + cell("2:05", `office:value-type="time" office:time-value="PT26H05M00S"`)),
      row(cell("number") + cell("1.234,50", `office:value-type="float" office:value="1234.5"`)),
      row(cell("share") + cell("25 %", `office:value-type="percentage" office:value="0.25"`)),
      row(cell("truth") + cell("wahr", `office:value-type="boolean" office:boolean-value="true"`)),
      row(cell("text") + cell(`a|b<office:annotation><text:p>remark</text:p></office:annotation><text:line-break/>c`)),
    );
    expect(found).toBe(
      "# Sales\n\n| What | Value |\n| --- | --- |\n| date | 2026-11-21 |\n| time | 26:05:00 |\n| number | 1234.5 |\n" +
        "| share | 0.25 |\n| truth | TRUE |\n| text | a\\|b c |",
    );
  });

  test("the empty rest of a sheet is dropped, repeated rows are rows, and more than a million are refused", async () => {
    const filler = `table:number-columns-repeated="16384"`;
    const { text: found } = await sheets(
      row(cell("A", `table:number-columns-repeated="2"`) + `<table:table-cell ${filler}/>`),
      row(cell("1"), `table:number-rows-repeated="3"`),
      row(`<table:table-cell ${filler}/>`, `table:number-rows-repeated="1048000"`),
    );
    expect(found).toBe("# Sales\n\n| A | A |\n| --- | --- |\n| 1 |  |\n| 1 |  |\n| 1 |  |");
    await expect(sheets(row(cell("x"), `table:number-rows-repeated="1000001"`))).rejects.toMatchObject({
      code: "too-large",
    });
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
