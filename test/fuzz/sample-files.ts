import { tinyPdf } from "../support/tiny-pdf.js";
import { packed } from "./mutate.js";

export interface SampleFile {
  readonly ending: string;
  readonly bytes: Uint8Array;
  readonly isPacked: boolean;
}

const officeRelations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const relations = (...each: readonly (readonly [id: string, kind: string, target: string])[]) =>
  `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${each.map(([id, kind, target]) => `<Relationship Id="${id}" Type="${officeRelations}/${kind}" Target="${target}"/>`).join("")}</Relationships>`;
const openDocument = (kind: string, body: string) =>
  packed({
    "content.xml": `<office:document-content><office:automatic-styles><style:style style:name="P1" style:parent-style-name="Title"/></office:automatic-styles><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`,
    "meta.xml":
      "<office:document-meta><office:meta><dc:title>Of harbours</dc:title></office:meta></office:document-meta>",
  });

const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Harbours</title></head><body><nav><ul><li><a href="/">Home</a></li></ul></nav>
<main><article><h1>Harbours</h1><p>Ships lie in a harbour, <b>mostly</b> at night.<br>See <a href="x">the map</a>. <img alt="a map" src="m.png"></p>
<ul><li>one<ol><li>two</li></ol></li></ul><pre><code class="language-js">a = 1;</code></pre><table><tr><th>A</th><th rowspan="2">B</th></tr><tr><td>1</td></tr></table>
<dl><dt>quay</dt><dd>a wall</dd></dl><blockquote><p>Said.</p></blockquote><math><mfrac><mi>a</mi><mn>2</mn></mfrac></math> 10<sup>6</sup></article></main>
<div class="comments">${"<p>An opinion of somebody, which is long enough, and has commas, to be weighed.</p>".repeat(8)}</div><footer>(c)</footer></body></html>`;

const samples: Readonly<Record<string, string | Uint8Array>> = {
  ".md":
    "---\ntitle: Harbours\ntags: [a, b]\n---\n# Harbours\n\nShips lie in it.\n\n```js\na = 1;\n```\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n- one\n  - two\n",
  ".html": html,
  ".txt": "Harbours\n\nShips lie in a harbour, mostly at night.\n",
  ".py": 'def lie(ship):\n    """Ships lie."""\n    return ship\n',
  ".xml": '<?xml version="1.0" encoding="utf-8"?><a><b c="d">Ships</b></a>',
  ".csv": 'id,title,text\n1,Harbours,"Ships, and ""boats"""\n2,Rivers,Water\n',
  ".tsv": "id\ttitle\ttext\n1\tHarbours\tShips\n",
  ".json": '[{"id":1,"title":"Harbours","text":"Ships"},{"id":2,"text":"Boats","year":2024}]',
  ".jsonl": '{"id":1,"title":"Harbours","text":"Ships"}\n{"id":2,"text":"Boats"}\n',
  ".pdf": tinyPdf(
    [[{ bold: "Harbours" }, "Ships lie in it, mostly at night."], ["On the second page there is more."]],
    "Harbours",
  ),
  ".epub": packed({
    "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
    "OPS/book.opf":
      '<package><metadata><dc:title>Harbours</dc:title></metadata><manifest><item id="a" href="a.xhtml"/></manifest><spine><itemref idref="a"/></spine></package>',
    "OPS/a.xhtml": html,
  }),
  ".docx": packed({
    "[Content_Types].xml":
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
    "_rels/.rels": relations(["a", "officeDocument", "word/document.xml"]),
    "word/_rels/document.xml.rels": relations(["s", "styles", "styles.xml"]),
    "word/styles.xml":
      '<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style w:type="paragraph" w:styleId="H"><w:name w:val="heading 1"/></w:style></w:styles>',
    "word/document.xml":
      '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:pPr><w:pStyle w:val="H"/></w:pPr><w:r><w:t>Harbours</w:t></w:r></w:p><w:p><w:r><w:t>Ships lie in it.</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>1</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:body></w:document>',
  }),
  ".pptx": packed({
    "ppt/presentation.xml": '<p:presentation><p:sldId r:id="a"/></p:presentation>',
    "ppt/_rels/presentation.xml.rels": relations(["a", "slide", "slides/slide1.xml"]),
    "ppt/slides/slide1.xml":
      '<p:sld><p:sp><p:nvPr><p:ph type="ctrTitle"/></p:nvPr><a:p><a:r><a:t>Harbours</a:t></a:r></a:p></p:sp><a:tbl><a:tr><a:tc><a:p><a:r><a:t>1</a:t></a:r></a:p></a:tc></a:tr></a:tbl></p:sld>',
  }),
  ".xlsx": packed({
    "xl/workbook.xml": '<workbook><sheets><sheet name="Ships" r:id="b"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": relations(["b", "worksheet", "worksheets/sheet1.xml"]),
    "xl/sharedStrings.xml": "<sst><si><t>Name</t></si></sst>",
    "xl/worksheets/sheet1.xml":
      '<worksheet><sheetData><row><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>Length</t></is></c></row><row><c r="A2"><v>1</v></c><c r="B2" t="b"><v>1</v></c><c r="C2"><v>2.5</v></c></row></sheetData></worksheet>',
  }),
  ".odt": openDocument(
    "text",
    '<text:p text:style-name="P1">Harbours</text:p><text:h text:outline-level="2">Ships</text:h><text:p>They<text:s text:c="3"/>lie.</text:p><text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>',
  ),
  ".ods": openDocument(
    "spreadsheet",
    '<table:table table:name="Ships"><table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="2" office:value-type="string"><text:p>a</text:p></table:table-cell></table:table-row></table:table>',
  ),
  ".odp": openDocument(
    "presentation",
    '<draw:page draw:name="1"><draw:frame presentation:class="title"><draw:text-box><text:p>Harbours</text:p></draw:text-box></draw:frame></draw:page>',
  ),
};

/** One small file of each format that the loaders know. */
export const sampleFiles: readonly SampleFile[] = Object.entries(samples).map(([ending, content]) => {
  const bytes = Buffer.from(content as Uint8Array);
  return { ending, bytes, isPacked: bytes.subarray(0, 2).toString() === "PK" };
});
