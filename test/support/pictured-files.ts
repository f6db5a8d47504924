import { createHash } from "node:crypto";
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

/** A drawing of 600 by 400 pixels with these shapes of SVG, as PNG. */
export function drawing(shapes: string): Promise<Buffer> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="400"><rect width="600" height="400" fill="#fff"/>${shapes}</svg>`;
  return sharp(Buffer.from(svg)).png({ compressionLevel: 0 }).toBuffer();
}

/** A bar chart, a bar for each value. */
export function barChart(values: readonly number[], colour = "#3366aa"): Promise<Buffer> {
  const bars = values.map(
    (value, index) =>
      `<rect x="${60 + index * 100}" y="${350 - value}" width="60" height="${value}" fill="${colour}"/>`,
  );
  return drawing(`${bars.join("")}<path d="M40 20V350H580" stroke="#222" fill="none" stroke-width="3"/>`);
}

/** Words for each picture of a folder, by its hash. */
export type PictureWords = Map<string, string>;

/**
 * A PDF of a scanned form, a deck with a bar chart, a notebook with a plot, and a page with a diagram and a photo, with words that stand
 * only in the pictures.
 */
export async function picturedFolder(): Promise<{ readonly folder: string; readonly words: PictureWords }> {
  const folder = await temporaryFolder();
  const words: PictureWords = new Map();
  const note = (bytes: Uint8Array, text: string) => words.set(createHash("sha256").update(bytes).digest("hex"), text);
  const chart = await barChart([120, 180, 240, 300]);
  note(chart, "A bar chart of turnover by year. The Osprey division reached 300 million crowns in 2024.");
  await writeFile(join(folder, "deck.pptx"), deck(chart));
  const plot = await barChart([40, 90, 160, 250], "#aa3333");
  note(plot, "A plot of the learning curve. The Walrus optimizer converged after 42 epochs.");
  const cells = [
    { cell_type: "code", source: "plot()", outputs: [{ data: { "image/png": plot.toString("base64") } }] },
  ];
  await writeFile(join(folder, "plot.ipynb"), JSON.stringify({ cells }));
  const diagram = await drawing(
    '<circle cx="150" cy="200" r="90" fill="#88bb88"/><rect x="360" y="120" width="180" height="160" fill="#bb88bb"/><path d="M240 200H360" stroke="#222" stroke-width="4"/>',
  );
  note(diagram, "A diagram of the backup path. The Falcon gateway copies each ledger to the vault at Lund.");
  const beach = await photo(71);
  note(beach, "A photo of a beach. The lighthouse of Skagen stands behind three fishing boats.");
  await mkdir(join(folder, "images"));
  await writeFile(join(folder, "images/diagram.png"), diagram);
  await writeFile(join(folder, "images/beach.png"), beach);
  const page =
    "# Operations\n\nHow copies are made.\n\n![Copies](images/diagram.png)\n\n## Outing\n\n![Outing](images/beach.png)\n";
  await writeFile(join(folder, "page.md"), page);
  const scan = [[[500, 0, 0, 500, 50, 150], { width: 200, height: 200, grey: grain(1, 40_000) }]] as const;
  await writeFile(join(folder, "form.pdf"), scannedPdf([{ pictures: scan }]));
  return { folder, words };
}

/** The words about the scanned form, whose picture is known only when its page is unpacked. */
export const formWords = "A scanned form. The applicant Ingrid Solheim asks for a permit to keep eleven reindeer.";
