import { strToU8, zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { loadDocx } from "../../../src/load/formats/office/docx.js";
import { loadEpub } from "../../../src/load/formats/office/epub.js";
import { numeral } from "../../../src/load/formats/office/list-numbers.js";
import type { Loader } from "../../../src/load/formats/loader.js";
import { unpack } from "../../../src/load/formats/office/package.js";
import { loadPdf } from "../../../src/load/formats/pdf/pdf.js";
import { loadPptx } from "../../../src/load/formats/office/slides.js";
import { markdownOfSheets, type Cell, type Sheet } from "../../../src/load/formats/office/sheets.js";
import { loadXlsx } from "../../../src/load/formats/office/xlsx.js";

const { signal } = new AbortController();

const load = async (loader: Loader, parts: Readonly<Record<string, string>>) => {
  const bytes = zipSync(Object.fromEntries(Object.entries(parts).map(([path, text]) => [path, strToU8(text)])));
  return loader({ path: "/x", uri: "file:///x", bytes }, signal);
};

describe("a packed file", () => {
  const zeros = zipSync({
    "a.xml": new Uint8Array(2_000_000),
    "b.xml": new Uint8Array(2_000_000),
    c: new Uint8Array(9),
  });
  const file = { uri: "file:///x", bytes: zeros };
  const isXml = (path: string) => path.endsWith(".xml");

  test("that unpacks to more than the limit is refused before it is unpacked", () => {
    expect(zeros.length).toBeLessThan(10_000);
    expect(unpack(file, isXml, 4_000_000).paths).toEqual(["a.xml", "b.xml"]);
    expect(() => unpack(file, isXml, 3_000_000)).toThrow("file:///x unpacks to more than 3 MB: split it");
  });

  test("that unpacks to hundreds of times its size is refused", () => {
    const bytes = zipSync({ "a.xml": Buffer.alloc(21_000_000, "<a/>") });
    expect(() => unpack({ uri: "file:///x", bytes }, isXml)).toThrow(
      "file:///x unpacks to more than 250 times its size: remove what repeats in it",
    );
  });

  test("with a text of millions of words in one piece is refused, and with the same in paragraphs it is not", () => {
    const pack = (text: string) => ({ uri: "file:///x", bytes: zipSync({ "a.xml": strToU8(text) }) });
    const words = "word ".repeat(1_200_000);
    expect(unpack(pack(`<p>${words}</p><p>${words}</p>`), isXml).paths).toEqual(["a.xml"]);
    const reason = "file:///x holds a text of more than 10 MB in one piece: divide it into paragraphs";
    expect(() => unpack(pack(`<p>${words}</p><p>${words}${words}</p>`), isXml)).toThrow(reason);
    expect(() => unpack(pack(`<p>${words}${words}`), isXml)).toThrow(reason);
  });

  test("that understates its unpacked size is unpacked no further than that", () => {
    const lying = Buffer.from(zeros);
    // The size of a part stands at 24 of its entry in the list at the end, which PK 1 2 marks.
    const entry = lying.indexOf(Buffer.from([0x50, 0x4b, 1, 2]));
    lying.writeUInt32LE(10, entry + 24);
    expect(unpack({ ...file, bytes: lying }, isXml, 3_000_000).bytes("a.xml")).toHaveLength(10);
  });
});

describe("EPUB", () => {
  const container = `<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>`;
  const book = `<package xmlns:dc="d"><metadata><dc:title>A Book</dc:title><dc:creator>A. Author</dc:creator></metadata>
    <manifest><item id="b" href="two.xhtml"/><item id="a" href="one%20a.xhtml"/></manifest>
    <spine><itemref idref="a"/><itemref idref="b"/><itemref idref="gone"/></spine></package>`;
  const parts = {
    "META-INF/container.xml": container,
    "OPS/book.opf": book,
    "OPS/one a.xhtml": "<html><head><title>x</title></head><body><h1>One</h1><p>First.</p></body></html>",
    "OPS/two.xhtml": "<html><body><h1>Two</h1><p>Second.</p></body></html>",
  };

  test("chapters stand in the order of reading, under the book's title", async () => {
    expect(await load(loadEpub, parts)).toEqual({
      text: "# One\n\nFirst.\n\n# Two\n\nSecond.",
      anchors: [],
      mediaType: "text/markdown",
      title: "A Book",
      metadata: { author: "A. Author" },
    });
  });

  test("a chapter that is listed repeatedly is read once", async () => {
    const again = book.replace("</spine>", `${'<itemref idref="b"/>'.repeat(1000)}</spine>`);
    const { text } = await load(loadEpub, { ...parts, "OPS/book.opf": again });
    expect(text).toBe("# One\n\nFirst.\n\n# Two\n\nSecond.");
  });

  test("a chapter is found by an address with a fragment, and by one with a bare percent sign", async () => {
    const named = book.replace("two.xhtml", "two.xhtml#start").replace("one%20a.xhtml", "100%.xhtml");
    const { text } = await load(loadEpub, { ...parts, "OPS/book.opf": named, "OPS/100%.xhtml": "<p>All of it." });
    expect(text).toBe("All of it.\n\n# Two\n\nSecond.");
  });

  test("a chapter with an empty title element is read as XML", async () => {
    const head = `<head><title/><link href="x"/><script src="x"/></head>`;
    const chapter = `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">${head}<body><p>First.</p></body></html>`;
    const { text } = await load(loadEpub, { ...parts, "OPS/one a.xhtml": chapter });
    expect(text).toBe("First.\n\n# Two\n\nSecond.");
  });

  test("asides, footers and the words of drawings are part of a chapter; its navigation is not", async () => {
    const chapter = `<html><body><nav><a href="#a">Contents</a></nav><section><h1>One</h1><p>First.</p>
      <aside><p>Mind <a href="#x">the gap.</a></p></aside></section><aside epub:type="footnote"><p>A note.</p></aside>
      <svg viewBox="0 0 9 9"><style>text { fill: red }</style><text x="1">Harbour</text><text x="2">River <tspan>mouth</tspan></text></svg>
      <footer>By A.</footer></body></html>`;
    const { text } = await load(loadEpub, { ...parts, "OPS/one a.xhtml": chapter });
    expect(text).toBe(
      "# One\n\nFirst.\n\nMind the gap.\n\nA note.\n\nHarbour\n\nRiver mouth\n\nBy A.\n\n# Two\n\nSecond.",
    );
  });

  test("a locked book, and a file that is not a book, are errors that say so", async () => {
    const locked = `<encryption><CipherReference URI="OPS/two.xhtml"/></encryption>`;
    await expect(async () => load(loadEpub, { ...parts, "META-INF/encryption.xml": locked })).rejects.toThrow(
      "is locked by its publisher",
    );
    await expect(async () => load(loadEpub, { "a.xml": "<a/>" })).rejects.toThrow("is not an EPUB book");
    await expect(async () =>
      loadEpub({ path: "/x", uri: "file:///x", bytes: new Uint8Array() }, signal),
    ).rejects.toThrow("file:///x is empty (0 bytes)");
  });
});

describe("Word", () => {
  const namespace = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
  const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  const relations = (kind: string, target: string) =>
    `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="${office}/${kind}" Target="${target}"/></Relationships>`;
  const textOf = async (body: string, styles = "", numbering = "") => {
    const type = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";
    const { text } = await load(loadDocx, {
      "[Content_Types].xml": `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="${type}"/></Types>`,
      "_rels/.rels": relations("officeDocument", "word/document.xml"),
      "word/_rels/document.xml.rels": relations("styles", "styles.xml").replace(
        "</Relationships>",
        `<Relationship Id="b" Type="${office}/numbering" Target="numbering.xml"/>$&`,
      ),
      "word/numbering.xml": `<w:numbering ${namespace}>${numbering}</w:numbering>`,
      "word/styles.xml": `<w:styles ${namespace}>${styles}</w:styles>`,
      "word/document.xml": `<w:document ${namespace}><w:body>${body}</w:body></w:document>`,
    });
    return text;
  };
  const run = (text: string, properties = "") =>
    `<w:r>${properties && `<w:rPr>${properties}</w:rPr>`}<w:t xml:space="preserve">${text}</w:t></w:r>`;
  const paragraph = (content: string, style?: string) =>
    `<w:p>${style === undefined ? "" : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`}${content}</w:p>`;

  test("a paragraph is a heading by the outline level of its style, or of the style that is made from", async () => {
    const style = (id: string, name: string, more: string) =>
      `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/>${more}</w:style>`;
    const styles = [
      style("H", "heading 1", ""),
      style("a", "Company&apos;s chapter", '<w:basedOn w:val="b"/>'),
      style("b", "Chapter", '<w:basedOn w:val="H"/>'),
      style("c", "Part", '<w:pPr><w:outlineLvl w:val="2"/></w:pPr>'),
      style("d", "Not a part", '<w:basedOn w:val="c"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr>'),
      style("e", "Circle", '<w:basedOn w:val="e"/>'),
    ];
    const body = ["a", "b", "c", "d", "e"].map((id) => paragraph(run(`In ${id}`), id)).join("");
    expect(await textOf(body, styles.join(""))).toBe("# In a\n\n# In b\n\n### In c\n\nIn d\n\nIn e");
  });

  test("deleted and hidden text is left out, inserted and right-to-left text is kept", async () => {
    const deleted = "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>";
    const inserted = `<w:ins>${run("added ")}</w:ins>`;
    expect(await textOf(paragraph(run("Kept ") + deleted + inserted + run("hidden", "<w:vanish/>") + run("end")))).toBe(
      "Kept added end",
    );
    expect(
      await textOf(paragraph(`<w:dir w:val="rtl">${run("שלום ")}<w:bdo w:val="rtl">${run("עולם")}</w:bdo></w:dir>`)),
    ).toBe("שלום עולם");
  });

  test("a word with its reading above is the word, and a page break separates words", async () => {
    const ruby = `<w:r><w:ruby><w:rt>${run("かん")}</w:rt><w:rubyBase>${run("漢")}</w:rubyBase></w:ruby></w:r>`;
    expect(await textOf(paragraph(ruby + run("字")))).toBe("漢字");
    expect(await textOf(paragraph(`${run("one")}<w:r><w:br w:type="page"/></w:r>${run("two")}`))).toBe("one\ntwo");
  });

  const level = (index: number, format: string, words: string, more = "") =>
    `<w:lvl w:ilvl="${index}"><w:start w:val="1"/><w:numFmt w:val="${format}"/>${more}<w:lvlText w:val="${words}"/></w:lvl>`;
  const definition = (id: number, ...levels: readonly string[]) =>
    `<w:abstractNum w:abstractNumId="${id}">${levels.join("")}</w:abstractNum>`;
  const list = (id: number, of: number, more = "") =>
    `<w:num w:numId="${id}"><w:abstractNumId w:val="${of}"/>${more}</w:num>`;
  const startAt = (index: number, start: number) =>
    `<w:lvlOverride w:ilvl="${index}"><w:startOverride w:val="${start}"/></w:lvlOverride>`;
  const numbered = (words: string, id: number, at = 0, more = "") =>
    `<w:p><w:pPr>${more}<w:numPr><w:ilvl w:val="${at}"/><w:numId w:val="${id}"/></w:numPr></w:pPr>${words && run(words)}</w:p>`;

  test("a list goes on after other text, starts where it says, and shows its format", async () => {
    const numbering =
      definition(0, level(0, "decimal", "%1."), level(1, "lowerLetter", "(%2)"), level(2, "bullet", "\u{2022}")) +
      definition(1, level(0, "upperRoman", "Article %1"), level(1, "decimal", "%1.%2", "<w:isLgl/>")) +
      list(1, 0) +
      list(2, 0, startAt(0, 12)) +
      list(3, 1) +
      list(4, 0);
    const body =
      numbered("one", 1) +
      numbered("first", 1, 1) +
      numbered("second", 1, 1) +
      numbered("dot", 1, 2) +
      paragraph(run("Between.")) +
      numbered("", 1) +
      numbered("three", 1) +
      numbered("first again", 1, 1) +
      numbered("Carrying on", 2) +
      numbered("thirteen", 2) +
      numbered("Another list of one definition", 4) +
      numbered("Duties", 3) +
      numbered("More", 3) +
      numbered("of them", 3, 1) +
      numbered("no list", 0);
    expect((await textOf(body, "", numbering)).split("\n").filter(Boolean)).toEqual([
      "1. one",
      "   (a) first",
      "   (b) second",
      "       - dot",
      "Between.",
      "3. three",
      "   (a) first again",
      "12. Carrying on",
      "13. thirteen",
      "14. Another list of one definition",
      "Article I Duties",
      "Article II More",
      "           2.1 of them",
      "no list",
    ]);
  });

  test("headings have the numbers that their style gives them; a level may go on across the one above", async () => {
    const style = (id: string, name: string, more: string) =>
      `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/>${more}</w:style>`;
    const inList = '<w:pPr><w:numPr><w:numId w:val="5"/></w:numPr></w:pPr>';
    const styles =
      style("H1", "heading 1", inList) +
      style("H2", "heading 2", inList) +
      style("Own", "Own", '<w:basedOn w:val="H1"/>') +
      style("Off", "Off", '<w:basedOn w:val="H1"/><w:pPr><w:numPr><w:numId w:val="0"/></w:numPr></w:pPr>') +
      '<w:style w:type="numbering" w:styleId="L"><w:pPr><w:numPr><w:numId w:val="6"/></w:numPr></w:pPr></w:style>';
    const numbering =
      definition(
        0,
        level(0, "chineseCounting", "第%1章", '<w:pStyle w:val="H1"/>'),
        level(1, "decimal", "§%2", '<w:lvlRestart w:val="0"/><w:pStyle w:val="H2"/>'),
      ) +
      '<w:abstractNum w:abstractNumId="1"><w:numStyleLink w:val="L"/></w:abstractNum>' +
      list(5, 1) +
      list(6, 0);
    const body = ["H1", "H2", "H2", "Own", "H2", "Off"].map((id) => paragraph(run(`In ${id}`), id)).join("");
    expect((await textOf(body, styles, numbering)).split("\n\n")).toEqual([
      "# 第一章 In H1",
      "## §1 In H2",
      "## §2 In H2",
      "# 第二章 In Own",
      "## §3 In H2",
      "# In Off",
    ]);
  });

  test("a level that is skipped counts as if it had an item", async () => {
    const numbering =
      definition(0, level(0, "decimal", "%1."), level(1, "decimal", "%1.%2"), level(2, "decimal", "%1.%2.%3")) +
      list(1, 0);
    const body = [0, 2, 1, 1, 0].map((at) => numbered("words", 1, at)).join("");
    const lines = (await textOf(body, "", numbering)).split("\n").filter(Boolean);
    expect(lines.map((line) => /[\d.]+(?= words)/.exec(line)?.[0])).toEqual(["1.", "1.1.1", "1.2", "1.3", "2."]);
  });

  test("deleted items and the copies of text boxes for newer programs are not counted", async () => {
    const numbering = definition(0, level(0, "decimal", "%1.")) + list(1, 0);
    const deleted = `<w:p><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr><w:rPr><w:del w:id="1"/></w:rPr></w:pPr><w:del w:id="2"><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>`;
    const box = `<w:p><w:r><mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice Requires="wps">${numbered("in", 1)}</mc:Choice><mc:Fallback><w:txbxContent>${numbered("in", 1)}</w:txbxContent></mc:Fallback></mc:AlternateContent></w:r></w:p>`;
    const body = numbered("one", 1) + deleted + box + numbered("three", 1);
    expect((await textOf(body, "", numbering)).split("\n").filter(Boolean)).toEqual(["1. one", "2. in", "3. three"]);
  });

  test.each([
    ["lowerLetter", [1, 26, 27, 53], ["a", "z", "aa", "aaa"]],
    [
      "upperRoman",
      [1, 4, 9, 14, 40, 90, 400, 1999, 2026, 4000],
      ["I", "IV", "IX", "XIV", "XL", "XC", "CD", "MCMXCIX", "MMXXVI", "4000"],
    ],
    ["lowerRoman", [3], ["iii"]],
    [
      "ordinal",
      [1, 2, 3, 4, 11, 12, 13, 21, 112],
      ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "112th"],
    ],
    ["decimalZero", [7, 10], ["07", "10"]],
    ["decimalEnclosedCircle", [1, 20, 21], ["①", "⑳", "21"]],
    ["taiwaneseCountingThousand", [1, 10, 12, 20, 99, 100], ["一", "十", "十二", "二十", "九十九", "一〇〇"]],
    ["hebrew1", [5], ["5"]],
  ])("numbers in the format %s", (format, numbers, expected) => {
    expect(numbers.map((number) => numeral(number, format))).toEqual(expected);
  });
});

describe("PowerPoint", () => {
  const relations = (...targets: readonly (readonly [id: string, kind: string, target: string])[]) =>
    `<Relationships>${targets.map(([id, kind, target]) => `<Relationship Id="${id}" Type="http://x/${kind}" Target="${target}"/>`).join("")}</Relationships>`;
  const paragraph = (text: string) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`;
  const shape = (kind: string, ...lines: readonly string[]) =>
    `<p:sp><p:nvPr><p:ph type="${kind}"/></p:nvPr><p:txBody>${lines.map(paragraph).join("")}</p:txBody></p:sp>`;

  test("slides come in the order of the show, each a page, with tables and notes", async () => {
    const cell = (text: string) => `<a:tc>${paragraph(text)}</a:tc>`;
    const table = `<a:tbl><a:tr>${cell("a")}${cell("b")}</a:tr><a:tr>${cell("1|2")}${cell("3")}</a:tr></a:tbl>`;
    const { text, anchors } = await load(loadPptx, {
      "ppt/presentation.xml": `<p:presentation><p:sldId r:id="r2"/><p:sldId r:id="r3"/><p:sldId r:id="r1"/></p:presentation>`,
      "ppt/_rels/presentation.xml.rels": relations(
        ["r1", "slide", "slides/slide1.xml"],
        ["r2", "slide", "slides/slide2.xml"],
        ["r3", "slide", "slides/slide3.xml"],
        ["r4", "theme", "theme/theme1.xml"],
      ),
      "ppt/slides/slide1.xml": `<p:sld>${shape("body", "Last words.")}${table}</p:sld>`,
      "ppt/slides/slide2.xml": `<p:sld>${shape("ctrTitle", "Hello &amp; welcome")}${shape("body", "One", "Two")}${shape("sldNum", "1")}</p:sld>`,
      "ppt/slides/slide3.xml": "<p:sld/>",
      "ppt/slides/_rels/slide2.xml.rels": relations(["n", "notesSlide", "../notesSlides/n1.xml"]),
      "ppt/notesSlides/n1.xml": `<p:notes>${shape("sldImg", "no")}${shape("body", "Say this.")}</p:notes>`,
    });
    expect(text).toBe(
      "# Hello & welcome\n\nOne\nTwo\n\nSay this.\n\nLast words.\n\n| a | b |\n| --- | --- |\n| 1\\|2 | 3 |",
    );
    expect(anchors).toEqual([
      { start: 0, page: 1 },
      { start: text.indexOf("Last"), page: 3 },
    ]);
  });

  test("a shape repeated for older programs appears once, and a power gets a caret", async () => {
    const again = `<mc:AlternateContent><mc:Choice>${shape("body", "Said.")}</mc:Choice><mc:Fallback>${shape("body", "Said.")}</mc:Fallback></mc:AlternateContent>`;
    const raised = `<a:r><a:rPr baseline="30000"/><a:t>6</a:t></a:r>`;
    const { text } = await load(loadPptx, {
      "ppt/presentation.xml": `<p:presentation><p:sldId r:id="a"/></p:presentation>`,
      "ppt/_rels/presentation.xml.rels": relations(["a", "slide", "s.xml"]),
      "ppt/s.xml": `<p:sld>${again}<p:sp><a:p><a:r><a:t>10</a:t></a:r>${raised}<a:br/><a:fld><a:t>2024</a:t></a:fld></a:p></p:sp></p:sld>`,
    });
    expect(text).toBe("Said.\n\n10^6 2024");
  });

  test("an old or encrypted file is an error that says what to do", async () => {
    const old = Buffer.from("d0cf11e0a1b11ae1", "hex");
    await expect(async () => loadPptx({ path: "/x", uri: "file:///x", bytes: old }, signal)).rejects.toThrow(
      "is encrypted, or in the format of Office 97: open it and save it",
    );
  });
});

test("sheets of an Excel file are tables under their names, in their order, cells in their columns", async () => {
  const sheet = (rows: string) => `<worksheet><sheetData>${rows}</sheetData></worksheet>`;
  const { text, anchors } = await load(loadXlsx, {
    "xl/workbook.xml": `<workbook><sheets><sheet name="Prices &amp; more" r:id="b"/><sheet name="Empty" r:id="a"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="a" Type="x/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="b" Type="x/worksheet" Target="/xl/worksheets/sheet2.xml"/></Relationships>`,
    "xl/sharedStrings.xml": `<sst><si><t>Part</t></si><si><r><t>N</t></r><r><t>ut</t></r><rPh><t>no</t></rPh></si></sst>`,
    "xl/worksheets/sheet1.xml": sheet(""),
    "xl/worksheets/sheet2.xml": sheet(`
      <row><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>Price|€</t></is></c></row>
      <row><c r="A2" t="s"><v>1</v></c><c r="B2" t="b"><v>1</v></c><c r="C2"><f>1+1</f><v>2.5</v></c><c r="XFD2"><v>9</v></c></row>
      <row><c r="A3"/></row>`),
  });
  expect(text).toBe(
    "# Prices & more\n\n| Part |  | Price\\|€ |  |\n| --- | --- | --- | --- |\n| Nut | TRUE | 2.5 | 9 |",
  );
  expect(anchors).toEqual([]);
});

test("a sheet whose names have a prefix is read, signs that XML lacks are decoded, and numbers have fifteen digits", async () => {
  const main = 'xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
  const cell = (value: string) => `<x:c><x:v>${value}</x:v></x:c>`;
  const values = ["0.30000000000000004", "1.0000000000000001E-2", "12345678901234567890", "2.50"];
  const { text } = await load(loadXlsx, {
    "xl/workbook.xml": `<x:workbook ${main}><x:sheets><x:sheet name="S" r:id="a"/></x:sheets></x:workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="a" Type="x/worksheet" Target="s.xml"/></Relationships>`,
    "xl/sharedStrings.xml": `<x:sst ${main}><x:si><x:t>two_x000D_words_x005F_</x:t></x:si></x:sst>`,
    "xl/s.xml": `<x:worksheet ${main}><x:row><x:c t="s"><x:v>0</x:v></x:c>${values.map(cell).join("")}</x:row></x:worksheet>`,
  });
  expect(text.split("\n")[2]).toBe("| two words_ | 0.3 | 0.01 | 12345678901234567890 | 2.50 |");
});

describe("numbers of an Excel file", () => {
  const codes = {
    percent: "0.0%",
    euro: '#,##0.00\\ "€"',
    dollar: "[$$-409]#,##0.00;[Red]-[$$-409]#,##0.00",
    german: "[$-407]dd. mmmm yyyy",
    stamp: "yyyy\\-mm\\-dd hh:mm",
    clock: "h:mm",
    duration: "[h]:mm:ss",
    phrase: '"day" 0',
    digits: "00000",
    broken: "0 [",
  };
  type Style = keyof typeof codes | 0 | 3 | 10 | 14 | 22;
  const shown = async (cells: readonly (readonly [style: Style, value: string, type?: string])[], from1904 = false) => {
    const names = Object.keys(codes);
    const custom = Object.values(codes).map(
      (code, index) => `<numFmt numFmtId="${164 + index}" formatCode="${code.replaceAll('"', "&quot;")}"/>`,
    );
    const idOf = (style: Style) => (typeof style === "number" ? style : 164 + names.indexOf(style));
    const values = cells.map(([, value, type = "n"], index) => `<c s="${index}" t="${type}"><v>${value}</v></c>`);
    const { text } = await load(loadXlsx, {
      "xl/workbook.xml": `<workbook><workbookPr date1904="${from1904 ? 1 : 0}"/><sheets><sheet name="S" r:id="a"/></sheets></workbook>`,
      "xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="a" Type="x/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
      "xl/styles.xml": `<styleSheet><numFmts>${custom.join("")}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>${cells.map(([style]) => `<xf numFmtId="${idOf(style)}"/>`).join("")}</cellXfs></styleSheet>`,
      "xl/worksheets/sheet1.xml": `<worksheet><row>${values.join("")}</row></worksheet>`,
    });
    return text.split("\n")[2]!.slice(2, -2).split(" | ");
  };

  test.each<[Style, string, string]>([
    ["percent", "0.255", "25.5%"],
    [10, "0.5", "50.00%"],
    ["euro", "1234.5", "1,234.50 €"],
    ["dollar", "-1234.5", "-$1,234.50"],
    [3, "1234567", "1,234,567"],
    ["german", "45356", "05. März 2024"],
    ["stamp", "45356.75", "2024-03-05 18:00"],
    ["clock", "0", "0:00"],
    ["duration", "1.25", "30:00:00"],
    ["phrase", "45000", "day 45000"],
    ["digits", "123", "00123"],
  ])("in the format %s show %s as %s", async (style, stored, expected) => {
    expect(await shown([[style, stored]])).toEqual([expected]);
  });

  test("stay as they are stored, to fifteen digits, without a format or with one that no program knows", async () => {
    expect(
      await shown([
        [0, "45000"],
        [0, "0.30000000000000004"],
        ["broken", "2.5"],
        ["stamp", "-3"],
        [14, "3e9"],
      ]),
    ).toEqual(["45000", "0.3", "2.5", "-3", "3e9"]);
  });

  test("that are dates in the reader's own format, or stored as such, are ISO 8601", async () => {
    expect(
      await shown([
        [14, "45356"],
        [22, "45356.75"],
        [14, "2024-03-05T00:00:00", "d"],
        ["clock", "2024-03-05T09:05:00Z", "d"],
        [14, "soon", "d"],
      ]),
    ).toEqual(["2024-03-05", "2024-03-05 18:00", "2024-03-05", "9:05", "soon"]);
  });

  test("count days from 1900, with its leap day that never was, or from 1904", async () => {
    const days = (...numbers: readonly string[]) => numbers.map((number) => [14, number] as const);
    expect(await shown(days("1", "59", "61"))).toEqual(["1900-01-01", "1900-02-28", "1900-03-01"]);
    expect(await shown(days("0", "43538"), true)).toEqual(["1904-01-01", "2023-03-15"]);
    expect(await shown([["percent", "0.5"]], true)).toEqual(["50.0%"]);
  });
});

test("a wide sheet is read to its last column, and hidden sheets are left out with a word about it", async () => {
  const columns = Array.from({ length: 300 }, (_, column) => `c${column}`);
  const row = columns.map((name) => `<c t="str"><v>${name}</v></c>`).join("");
  const sheets = [
    ["Wide", ""],
    ["Secret", ' state="hidden"'],
    ["Macros", ' state="veryHidden"'],
  ];
  const { text, warnings } = await load(loadXlsx, {
    "xl/workbook.xml": `<workbook><sheets>${sheets.map(([name, state], index) => `<sheet name="${name}" r:id="i${index}"${state}/>`).join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships>${sheets.map((_, index) => `<Relationship Id="i${index}" Type="x/worksheet" Target="s.xml"/>`).join("")}</Relationships>`,
    "xl/s.xml": `<worksheet><row>${row}</row></worksheet>`,
  });
  expect(text.split("\n").slice(0, 3)).toEqual(["# Wide", "", `| ${columns.join(" | ")} |`]);
  expect(text).not.toContain("# Secret");
  expect(warnings).toEqual([
    '2 of its 3 sheets are hidden and left out ("Secret", "Macros"): show them to have them read',
  ]);
});

test("tables of more cells than fit into memory are refused, and a mark far to the right does not widen a table", () => {
  const sheet = (rows: Sheet["rows"]) => [{ name: "S", isHidden: false, rows }];
  const marks = Array.from({ length: 4 }, (_, row): Cell[] => [
    [0, "a"],
    ...(row === 2 ? [[16_383, "z"] as const] : []),
  ]);
  const { text } = markdownOfSheets("file:///x", sheet(marks), 13);
  expect(text.split("\n").slice(2)).toEqual(["| a |  |", "| --- | --- |", "| a |  |", "| a | z |", "| a |  |"]);
  expect(() => markdownOfSheets("file:///x", sheet(marks), 12)).toThrow(
    "file:///x has tables of more than 12 cells: split it",
  );
});

test("a file with the wrong ending is an error that names its real kind", async () => {
  const file = (content: string) => ({ path: "/x", uri: "file:///x", bytes: Buffer.from(content, "latin1") });
  const renamed = (kind: string) =>
    `file:///x is ${kind} by its first bytes, whatever its name says: give it the ending`;
  await expect(async () => loadXlsx(file("%PDF-1.4 …"), signal)).rejects.toThrow(renamed("a PDF file"));
  await expect(async () => loadPptx(file("Only words.\n"), signal)).rejects.toThrow(renamed("text"));
  await expect(async () => loadPdf(file("PK\x03\x04 no PDF"), signal)).rejects.toThrow(renamed("a ZIP file"));
  await expect(async () => loadPdf(file("Only words.\n"), signal)).rejects.toThrow(renamed("text"));
  await expect(async () => loadPdf(file(""), signal)).rejects.toThrow("file:///x is empty (0 bytes)");
  await expect(async () => loadXlsx(file("PK\x03\x04 cut off"), signal)).rejects.toThrow("file:///x is damaged");
});
