import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { strToU8, zipSync } from "fflate";
import sharp from "sharp";
import { scannedPdf } from "./scanned-pdf.js";
import { temporaryFolder } from "./temporary-folder.js";

/** A picture with grain, as photos have it; another seed is another picture. */
export function photo(seed: number, size = 200): Promise<Buffer> {
  return sharp(grain(seed, size * size * 3), { raw: { width: size, height: size, channels: 3 } })
    .png()
    .toBuffer();
}

function grain(seed: number, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (index * seed * 2_654_435_761) >>> 24);
}

/** A deck of one slide, with a title and a picture. */
export function deck(media: Uint8Array): Uint8Array {
  const relation = (id: string, kind: string, target: string) =>
    `<Relationship Id="${id}" Type="http://x/${kind}" Target="${target}"/>`;
  return zipSync({
    "ppt/presentation.xml": strToU8('<p:presentation><p:sldId r:id="r1"/></p:presentation>'),
    "ppt/_rels/presentation.xml.rels": strToU8(
      `<Relationships>${relation("r1", "slide", "slides/slide1.xml")}</Relationships>`,
    ),
    "ppt/slides/slide1.xml": strToU8(
      '<p:sld><p:sp><a:p><a:r><a:t>Sales</a:t></a:r></a:p></p:sp><p:pic><p:cNvPr descr="Bars by year"/><a:blip r:embed="r2"/></p:pic></p:sld>',
    ),
    "ppt/slides/_rels/slide1.xml.rels": strToU8(
      `<Relationships>${relation("r2", "image", "../media/image1.png")}</Relationships>`,
    ),
    "ppt/media/image1.png": media,
  });
}

/**
 * A folder with a picture in each kind of file: Markdown with a file beside it, a scanned page of a PDF, a slide, and the output of a
 * notebook. The file beside the Markdown is a document of its own, too.
 */
export async function everyKind(): Promise<string> {
  const folder = await temporaryFolder();
  const page = [[[400, 0, 0, 400, 50, 200], { width: 200, height: 200, grey: grain(1, 40_000) }]] as const;
  const output = { data: { "image/png": (await photo(3)).toString("base64") } };
  const cells = [{ cell_type: "code", source: "plot()", outputs: [output] }];
  await mkdir(join(folder, "images"));
  await writeFile(join(folder, "images/flow.png"), await photo(5));
  await writeFile(join(folder, "a.md"), "# Guide\n\n![The flow](images/flow.png)\n\nWords that follow.\n");
  await writeFile(join(folder, "form.pdf"), scannedPdf([{ text: "First page" }, { pictures: page }]));
  await writeFile(join(folder, "deck.pptx"), deck(await photo(7)));
  await writeFile(join(folder, "plot.ipynb"), JSON.stringify({ cells }));
  return folder;
}
