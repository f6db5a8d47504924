import { strToU8, zipSync } from "fflate";
import { expect, test } from "vitest";
import { loadHtml } from "../../../src/load/formats/html/html.js";
import { loadDocx } from "../../../src/load/formats/office/docx.js";
import { loadEpub } from "../../../src/load/formats/office/epub.js";
import { loadOdt } from "../../../src/load/formats/office/odt.js";
import { loadOdp } from "../../../src/load/formats/office/slides.js";
import type { Loader, LoadedText } from "../../../src/load/formats/loader.js";
import { photo } from "../../support/pictured-files.js";

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

async function loaded(loader: Loader, name: string, content: string | Uint8Array): Promise<LoadedText> {
  const bytes = typeof content === "string" ? strToU8(content) : content;
  const file = { path: name, uri: name, bytes };
  const { signal } = new AbortController();
  expect(await loader(file, signal)).not.toHaveProperty("pictures");
  return loader({ ...file, wantsPictures: true }, signal);
}

/** The text with a mark at the place of each picture, and the pictures without it. */
function marked({ text, pictures = [] }: LoadedText) {
  const ends = pictures.map(({ offset }) => {
    const end = text.indexOf("\n", offset);
    return end < 0 ? text.length : end;
  });
  const parts = [0, ...ends].map((start, index) => text.slice(start, ends[index]));
  return { text: parts.join("◈"), pictures: pictures.map((picture) => ({ ...picture, offset: undefined })) };
}

test("pictures of a page stand behind the line above them, or where their words are; those around the content are none", async () => {
  const picture = await photo(3);
  const page = [
    "<html><body><nav><img src='logo.png' alt='Logo'></nav><main><h1>Pump</h1>",
    "<p>It has two valves, which are opened by hand before it starts.</p>",
    "<figure><img src='images/the%20plan.png?v=2'></figure>",
    "<p>The left one is red. <img alt='Red valve' src='red.png'> It closes last.</p>",
    `<p>Then it runs.</p><img src="data:image/png;base64,${base64(picture)}"><img src="data:text/html,x">`,
    "<p><img src='https://example.com/far.png' alt='Far away'></p>",
    "</main></body></html>",
  ].join("\n");
  const found = marked(await loaded(loadHtml, "page.html", page));
  expect(found.text).toMatch(
    /^# Pump\n\nIt has two valves.*starts\.◈\n\nThe left one is red\. Red valve It closes last\.◈\n\nThen it runs\.◈◈\n\nFar away◈$/,
  );
  expect(found.pictures).toEqual([
    { path: "images/the plan.png" },
    { path: "red.png", caption: "Red valve" },
    { bytes: expect.any(Uint8Array) },
    { problem: 'is data of the type "text/html", and images in Base64 are read' },
    { elsewhere: "https://example.com/far.png", caption: "Far away" },
  ]);
  expect(base64(found.pictures[2]!.bytes!)).toBe(base64(picture));
});

test("pictures of a book are its own parts, each in its chapter; a missing one is named", async () => {
  const [one, two] = [await photo(3), await photo(5)];
  const chapter = (words: string, source: string) =>
    strToU8(
      `<html><body><h1>${words}</h1>\n<p>About ${words}.</p>\n<img src="${source}" alt="Map of ${words}"/></body></html>`,
    );
  const book = zipSync({
    "META-INF/container.xml": strToU8(
      '<container><rootfiles><rootfile full-path="in/book.opf"/></rootfiles></container>',
    ),
    "in/book.opf": strToU8(
      '<package><manifest><item id="a" href="text/one.xhtml"/><item id="b" href="text/two.xhtml"/><item id="c" href="text/three.xhtml"/></manifest>' +
        '<spine><itemref idref="a"/><itemref idref="b"/><itemref idref="c"/></spine></package>',
    ),
    "in/text/one.xhtml": chapter("Lund", "../pictures/lund.png"),
    "in/text/two.xhtml": chapter("Ystad", "../pictures/ystad.jpg"),
    "in/text/three.xhtml": chapter("Malmö", "gone.png"),
    "in/pictures/lund.png": one,
    "in/pictures/ystad.jpg": two,
  });
  const found = marked(await loaded(loadEpub, "book.epub", book));
  expect(found.text).toBe(
    ["Lund", "Ystad", "Malmö"].map((name) => `# ${name}\n\nAbout ${name}.\n\nMap of ${name}◈`).join("\n\n"),
  );
  expect(found.pictures).toEqual([
    { bytes: new Uint8Array(one), caption: "Map of Lund" },
    { bytes: new Uint8Array(two), caption: "Map of Ystad" },
    { caption: "Map of Malmö", problem: "is gone.png, which is not in the book" },
  ]);
});

test("pictures of OpenDocument stand behind the text, or behind their slide, with their title", async () => {
  const picture = await photo(3);
  const frame = (title: string, path: string) =>
    `<draw:frame><draw:image xlink:href="${path}"/>${title && `<svg:title>${title}</svg:title>`}</draw:frame>`;
  const packed = (kind: string, body: string) =>
    zipSync({
      "content.xml": strToU8(
        `<office:document-content><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`,
      ),
      "Pictures/a.png": picture,
    });
  const boxed = `<draw:frame><draw:text-box><text:p>${frame("A map", "Pictures/a.png")}${frame("", "Pictures/a.png")}</text:p></draw:text-box></draw:frame>`;
  const text = `<text:p>One. ${frame("A plan", "Pictures/a.png")}</text:p><text:p>Two.${frame("", "../elsewhere.png")}${boxed}</text:p>`;
  const odt = marked(await loaded(loadOdt, "a.odt", packed("text", text)));
  const bytes = new Uint8Array(picture);
  expect(odt).toMatchObject({
    text: expect.stringMatching(/^One\.\n\nTwo\.\s*◈◈◈$/) as string,
    pictures: [{ bytes, caption: "A plan" }, { bytes, caption: "A map" }, { bytes }],
  });
  expect(odt.pictures[2]).not.toHaveProperty("caption");
  const page = (words: string, more = "") =>
    `<draw:page><draw:frame><draw:text-box><text:p>${words}</text:p></draw:text-box></draw:frame>${more}</draw:page>`;
  const slides = page("First.", frame("", "Pictures/a.png")) + page("Second.");
  const odp = marked(await loaded(loadOdp, "a.odp", packed("presentation", slides)));
  expect(odp).toEqual({ text: "First.◈\n\nSecond.", pictures: [{ bytes: new Uint8Array(picture), page: 1 }] });
});

test("pictures of Word stand behind the lines that they are in, which are the same without them; a missing one is left out", async () => {
  const [one, two] = [await photo(3), await photo(5)];
  const drawn = (id: string, words = "") =>
    `<w:r><w:drawing><wp:inline><wp:docPr id="1" name="P" descr="${words}"/><a:graphic><a:graphicData><pic:pic><pic:blipFill>` +
    `<a:blip r:embed="${id}"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`;
  const said = (words: string) => `<w:r><w:t xml:space="preserve">${words}</w:t></w:r>`;
  const paragraph = (...runs: readonly string[]) => `<w:p>${runs.join("")}</w:p>`;
  const body = [
    paragraph(said("A pump has two valves.")),
    paragraph(drawn("r1")),
    paragraph(said("The left "), drawn("r2", "Red valve"), said(" closes last.")),
    paragraph(drawn("r9", "Gone")),
    paragraph(said("Then it runs.")),
    paragraph(drawn("r1", "image1.png")),
  ].join("");
  const main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";
  const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  const relations = (rows: readonly (readonly [id: string, kind: string, target: string])[]) =>
    strToU8(
      `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${rows
        .map(([id, kind, target]) => `<Relationship Id="${id}" Type="${office}/${kind}" Target="${target}"/>`)
        .join("")}</Relationships>`,
    );
  const namespaces = [
    ["w", "http://schemas.openxmlformats.org/wordprocessingml/2006/main"],
    ["r", office],
    ["wp", "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"],
    ["a", "http://schemas.openxmlformats.org/drawingml/2006/main"],
    ["pic", "http://schemas.openxmlformats.org/drawingml/2006/picture"],
  ];
  const declared = namespaces.map(([prefix, uri]) => `xmlns:${prefix}="${uri}"`).join(" ");
  const file = zipSync({
    "[Content_Types].xml": strToU8(
      `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="png" ContentType="image/png"/><Override PartName="/word/document.xml" ContentType="${main}"/></Types>`,
    ),
    "_rels/.rels": relations([["r1", "officeDocument", "word/document.xml"]]),
    "word/_rels/document.xml.rels": relations([
      ["r1", "image", "media/one.png"],
      ["r2", "image", "media/two.png"],
      ["r9", "image", "media/gone.png"],
    ]),
    "word/document.xml": strToU8(`<w:document ${declared}><w:body>${body}</w:body></w:document>`),
    "word/media/one.png": one,
    "word/media/two.png": two,
  });
  const found = marked(await loaded(loadDocx, "a.docx", file));
  expect(found.text).toBe("A pump has two valves.◈\n\nThe left Red valve closes last.◈\n\nGone\n\nThen it runs.◈");
  expect(found.pictures.map(({ bytes, caption }) => [base64(bytes!), caption])).toEqual([
    [base64(one), undefined],
    [base64(two), "Red valve"],
    [base64(one), "image1.png"],
  ]);
});
