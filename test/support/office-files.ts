import { strToU8, zipSync } from "fflate";

/** Packed files of office programs and books, as small as their formats allow. Texts are XML. */

const packed = (parts: Readonly<Record<string, string>>): Uint8Array =>
  zipSync(Object.fromEntries(Object.entries(parts).map(([path, text]) => [path, strToU8(text)])));

const relationships = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

function relations(targets: readonly (readonly [kind: string, target: string])[]): string {
  const rows = targets.map(
    ([kind, target], index) => `<Relationship Id="r${index + 1}" Type="${relationships}/${kind}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${rows.join("")}</Relationships>`;
}

/** @param body elements of WordprocessingML */
export function docxFile(body: string): Uint8Array {
  const type = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";
  return packed({
    "[Content_Types].xml": `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="${type}"/></Types>`,
    "_rels/.rels": relations([["officeDocument", "word/document.xml"]]),
    "word/document.xml": `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`,
  });
}

/** A presentation of slides, each a title and its lines. */
export function pptxFile(slides: readonly (readonly [title: string, ...lines: string[]])[]): Uint8Array {
  const shape = (lines: readonly string[], kind: string) =>
    `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${kind}"/></p:nvPr></p:nvSpPr><p:txBody>${lines
      .map((line) => `<a:p><a:r><a:t>${line}</a:t></a:r></a:p>`)
      .join("")}</p:txBody></p:sp>`;
  const parts = slides.map(([title, ...lines], index): [string, string] => [
    `ppt/slides/slide${index + 1}.xml`,
    `<p:sld><p:cSld><p:spTree>${shape([title], "title")}${shape(lines, "body")}</p:spTree></p:cSld></p:sld>`,
  ]);
  return packed({
    "ppt/presentation.xml": `<p:presentation><p:sldIdLst>${slides.map((_, index) => `<p:sldId r:id="r${index + 1}"/>`).join("")}</p:sldIdLst></p:presentation>`,
    "ppt/_rels/presentation.xml.rels": relations(
      slides.map((_, index) => ["slide", `slides/slide${index + 1}.xml`] as const),
    ),
    ...Object.fromEntries(parts),
  });
}

/** A workbook of one sheet. */
export function xlsxFile(name: string, rows: readonly (readonly string[])[]): Uint8Array {
  const lines = rows.map(
    (cells) => `<row>${cells.map((cell) => `<c t="inlineStr"><is><t>${cell}</t></is></c>`).join("")}</row>`,
  );
  return packed({
    "xl/workbook.xml": `<workbook><sheets><sheet name="${name}" r:id="r1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relations([["worksheet", "worksheets/sheet1.xml"]]),
    "xl/worksheets/sheet1.xml": `<worksheet><sheetData>${lines.join("")}</sheetData></worksheet>`,
  });
}

/** A book of one chapter. @param body of its page, as HTML */
export function epubFile(title: string, body: string): Uint8Array {
  return packed({
    "META-INF/container.xml": `<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>`,
    "book.opf": `<package xmlns:dc="d"><metadata><dc:title>${title}</dc:title></metadata><manifest><item id="a" href="one.xhtml"/></manifest><spine><itemref idref="a"/></spine></package>`,
    "one.xhtml": `<html><body>${body}</body></html>`,
  });
}

/** @param body elements of an OpenDocument text */
export function odtFile(body: string): Uint8Array {
  return packed({
    "content.xml": `<office:document-content><office:body><office:text>${body}</office:text></office:body></office:document-content>`,
  });
}
