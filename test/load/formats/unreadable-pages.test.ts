import { expect, test } from "vitest";
import { createRunContext, type RunEvent } from "../../../src/core/pipeline.js";
import { collect } from "../../../src/core/stream.js";
import { readFile } from "../../../src/load/sources/read-file.js";
import { pdfOf } from "../../support/tiny-pdf.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

/** A PDF string that a page shows, in Helvetica unless another font is named. */
type Shown = string | { readonly font: string; readonly shown: string };

const square = "500 0 0 0 400 500 d1 0 0 400 500 re f";
const glyphs = ["a1", "a2", "a3", "a4", "a5", "a6"];
/** A font of pictures with names that say nothing, as DVI programs make of bitmaps. */
const bitmaps =
  "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 500 500] /FontMatrix [0.001 0 0 0.001 0 0] /FirstChar 1 /LastChar 6 " +
  `/Widths [500 500 500 500 500 500] /Encoding << /Type /Encoding /Differences [1 ${glyphs.map((name) => `/${name}`).join(" ")}] >> ` +
  `/CharProcs << ${glyphs.map((name) => `/${name} 7 0 R`).join(" ")} >> /Resources << >> >>`;
/** A font of numbered glyphs that names no characters. */
const numbered =
  "<< /Type /Font /Subtype /Type0 /BaseFont /AAAAAA+Some /Encoding /Identity-H /DescendantFonts [<< /Type /Font " +
  "/Subtype /CIDFontType2 /BaseFont /AAAAAA+Some /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> " +
  "/DW 500 /FontDescriptor << /Type /FontDescriptor /FontName /AAAAAA+Some /Flags 4 /FontBBox [0 0 500 500] " +
  "/ItalicAngle 0 /Ascent 500 /Descent 0 /CapHeight 500 /StemV 80 >> >>] >>";
const map =
  "begincmap 1 begincodespacerange <00> <FF> endcodespacerange 2 beginbfrange <41> <5A> <E041> <61> <7A> <E061> endbfrange endcmap";

function pdf(pages: readonly (readonly Shown[])[]): Uint8Array {
  const stream = (content: string) => `<< /Length ${content.length} >>\nstream\n${content}\nendstream`;
  const fonts = "/Plain 3 0 R /Bitmaps 4 0 R /Numbered 5 0 R /Private 6 0 R";
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, at) => `${9 + 2 * at} 0 R`).join(" ")}] >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    bitmaps,
    numbered,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 8 0 R >>",
    stream(square),
    stream(map),
  ];
  for (const lines of pages) {
    const drawn = lines.map((line, at) => {
      const { font, shown } = typeof line === "string" ? { font: "Plain", shown: `(${line})` } : line;
      return `BT /${font} 10 Tf 50 ${700 - 14 * at} Td ${shown} Tj ET`;
    });
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${objects.length + 2} 0 R /Resources << /Font << ${fonts} >> >> >>`,
      stream(drawn.join("\n")),
    );
  }
  return pdfOf(objects);
}

async function read(bytes: Uint8Array) {
  const events: RunEvent[] = [];
  const context = createRunContext({ report: (event) => events.push(event) });
  const folder = await temporaryFolder({ "x.pdf": bytes });
  const documents = await collect(readFile(`${folder}/x.pdf`).read(context));
  const said = [
    ...events.flatMap((event) => (event.type === "warning" ? [event.message] : [])),
    ...[...context.failures.values()].map(({ message }) => message),
  ];
  return { text: documents[0]?.text, said: said.map((line) => line.replace(/^\S+x\.pdf:? /, "")) };
}

const plain = ["Moles dig tunnels under the garden.", "They eat worms all year."];
const drawn: Shown = { font: "Bitmaps", shown: "<010203040506010203040506>" };
const partly = (count: string, pages: string) =>
  `${count} can be read in part or not at all, since their fonts do not say which characters the glyphs are: page ${pages}. ` +
  "Read it with a recognizer (--ocr)";

test("pages whose fonts have no map of characters are named as read in part, one by one and in ranges", async () => {
  const whole = await read(
    pdf([plain, [drawn], [drawn, drawn], ["Voles hide in the grass."], [drawn, "Figure 7"], plain]),
  );
  expect(whole.text).toContain("Voles hide in the grass.");
  expect(whole.said).toEqual([partly("3 of its 6 pages", "2–3, 5")]);
});

test.each<[string, Shown]>([
  ["numbers of glyphs", { font: "Numbered", shown: "<000300240025000300260027>" }],
  ["characters of private use", { font: "Private", shown: "(Moles dig tunnels)" }],
])("a page whose fonts have %s alone is named", async (_, shown) => {
  expect((await read(pdf([plain, [shown]]))).said).toEqual([partly("1 of its 2 pages", "2")]);
});

test("a page with one strange glyph among words, a bullet, or nothing drawn is none of them", async () => {
  const strange: Shown = { font: "Bitmaps", shown: "<0102>" };
  const spaces: Shown = { font: "Plain", shown: "(   )" };
  const { said } = await read(pdf([plain, [...plain, ...plain, strange], [], [spaces]]));
  expect(said).toEqual(["2 of its 4 pages hold no text of their own: blank, or scanned and in need of OCR (page 3–4)"]);
});

test("a file of such pages alone fails, and is not called a scan", async () => {
  const { text, said } = await read(pdf([[drawn], [drawn]]));
  expect(text).toBeUndefined();
  expect(said).toEqual([
    expect.stringContaining(
      "the fonts of page 1–2 do not say which characters their glyphs are; read it with a recognizer",
    ),
  ]);
});
