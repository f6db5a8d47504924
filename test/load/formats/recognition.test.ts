// In test:all alone: it recognises the text of scanned pages, for 36 s.
import { readFileSync } from "node:fs";
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, describe, expect, test } from "vitest";
import type { TextRecognizer } from "../../../src/core/ports.js";
import { createRunContext, type RunEvent } from "../../../src/core/pipeline.js";
import { collect } from "../../../src/core/stream.js";
import { openKnowledgeBase } from "../../../src/index.js";
import { boxesOf } from "../../../src/text/blocks/word-boxes.js";
import { tesseract } from "../../../src/load/formats/recognition/tesseract.js";
import { textOfPages } from "../../../src/load/formats/recognized-pages.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { citewell, citewellJson, root, type IndexJson, type SearchJson } from "../../support/citewell.js";
import { readAll } from "../../support/read-all.js";
import { scannedPdf, type GreyPixels } from "../../support/scanned-pdf.js";
import { shareOfWords } from "../../support/share-of-words.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const letter = readFileSync(join(root, "test/fixtures/scans/letter.png"));
/** The words of the letter, by the program that printed it. */
const words = readFileSync(join(root, "test/fixtures/scans/letter.txt"), "utf8");
const dataFolder = join(root, "node_modules/@tesseract.js-data/eng/4.0.0_best_int");
const recognizer = tesseract({ dataFolder });
afterAll(() => recognizer.close());

/** Says of each picture how large it is, as a recogniser that is somebody's own. */
const measuring: TextRecognizer = {
  name: "measuring",
  recognize: async (picture) => {
    const { width, height } = await sharp(picture).metadata();
    return width < 20 ? "" : `${width} by ${height}`;
  },
};

async function greyLetter(degrees = 0): Promise<GreyPixels> {
  const { data, info } = await sharp(letter).rotate(degrees).grayscale().raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, grey: data };
}

describe("pictures", () => {
  test.each(["png", "jpeg", "webp", "gif", "tiff"] as const)(
    "the words of a letter are read from a %s",
    async (format) => {
      const how = format === "tiff" ? { compression: "lzw" as const } : {};
      const picture = await sharp(letter).toFormat(format, how).toBuffer();
      const { documents, failures } = await readAll(`letter.${format}`, picture, { recognizer });
      expect(failures).toEqual([]);
      const { text, title, anchors, metadata } = documents[0]!;
      expect(shareOfWords(words, text)).toBeGreaterThan(0.97);
      expect(shareOfWords(text, words)).toBeGreaterThan(0.97);
      expect({ title, anchors, metadata }).toEqual({
        title: "letter",
        anchors: [{ start: 0, page: 1 }],
        metadata: { recognizedBy: "tesseract eng" },
      });
    },
  );

  test.each(["deflate", "jpeg"] as const)("a TIFF packed by %s says how to save it", async (compression) => {
    const picture = await sharp(letter).tiff({ compression }).toBuffer();
    const { failures } = await readAll("fax.tif", picture, { recognizer });
    expect(failures).toEqual([expect.stringContaining("save it as PNG, or a TIFF with LZW compression")]);
  });

  test("each page of a TIFF is read, and a chain of pages that runs in a circle ends", async () => {
    const page = async (width: number) => sharp(letter).resize(width).tiff({ compression: "none" }).toBuffer();
    const [first, second] = [await page(100), await page(200)];
    const both = joinTiffs(first, second);
    const { documents } = await readAll("fax.tif", both, { recognizer: measuring });
    expect(documents[0]!.anchors).toEqual([
      { start: 0, page: 1 },
      { start: documents[0]!.text.indexOf("200"), page: 2 },
    ]);
    // The last page names the first as the next one.
    const circle = joinTiffs(first, second, first.readUInt32LE(4));
    expect((await readAll("fax.tif", circle, { recognizer: measuring })).documents[0]!.anchors).toHaveLength(2);
  });

  test("without a recognizer they are passed over; what is no picture, too large or without words fails with a reason", async () => {
    const folder = await temporaryFolder({ "a.md": "word", "letter.png": letter });
    expect(await collect(readFolder(folder))).toHaveLength(1);
    const blank = await sharp({ create: { width: 10, height: 10, channels: 3, background: "white" } })
      .png()
      .toBuffer();
    // A header alone: of 100,000 by 100,000 pixels.
    const huge = Buffer.from(blank);
    huge.writeUInt32BE(100_000, 16);
    huge.writeUInt32BE(100_000, 20);
    const failures = async (content: Uint8Array) =>
      (await readAll("x.png", content, { recognizer: measuring })).failures.join();
    expect(await failures(Buffer.from("no picture at all"))).toMatch(/is no picture that can be read/);
    expect(await failures(Buffer.alloc(0))).toMatch(/is empty/);
    expect(await failures(blank)).toMatch(/shows no words that measuring recognises/);
    expect(await failures(huge)).toMatch(/100000×100000 pixels, and at most 50 million are read/);
    const damaged = await readAll("x.png", letter.subarray(0, 3000), { recognizer });
    expect(damaged.documents.length + damaged.failures.length).toBe(1);
  });
});

/** Two TIFFs as one of two pages; `next` is what the second names as the next page. */
function joinTiffs(first: Buffer, second: Buffer, next = 0): Buffer {
  const both = Buffer.concat([first, second]);
  const directory = (at: number) => 2 + 12 * both.readUInt16LE(at) + at;
  const start = first.readUInt32LE(4);
  const moved = first.length + second.readUInt32LE(4);
  both.writeUInt32LE(moved, directory(start));
  both.writeUInt32LE(next, directory(moved));
  // Offsets of the second file are now further on: those of its pixels, and of values of more than four bytes.
  for (let entry = moved + 2; entry < directory(moved); entry += 12) {
    const [tag, kind, count] = [both.readUInt16LE(entry), both.readUInt16LE(entry + 2), both.readUInt32LE(entry + 4)];
    const isOffset = tag === 273 && count === 1;
    const sizeBytes = count * ([0, 1, 1, 2, 4, 8][kind] ?? 1);
    if (isOffset || sizeBytes > 4) both.writeUInt32LE(both.readUInt32LE(entry + 8) + first.length, entry + 8);
  }
  return both;
}

describe("scans", () => {
  test("pages of a PDF without text are read from their pictures, and are cited by their pages", async () => {
    const grey = await greyLetter();
    const half = { ...grey, height: 219, grey: grey.grey.subarray(0, 219 * grey.width) };
    const rest = { ...grey, height: 219, grey: grey.grey.subarray(219 * grey.width) };
    const upright = [500, 0, 0, 250, 50, 500];
    const pdf = scannedPdf([
      { text: "Page one was printed." },
      // In two strips, the lower one first.
      {
        pictures: [
          [[500, 0, 0, 125, 50, 500], rest],
          [[500, 0, 0, 125, 50, 625], half],
        ],
      },
      { text: "Page three was printed." },
      {},
      { pictures: [[upright, grey]], isMask: true },
      // Scanned sideways, and to be turned by the reader.
      { pictures: [[[250, 0, 0, 500, 50, 100], await greyLetter(90)]], rotate: 270 },
      { pictures: [[upright, await sharp(letter).jpeg().toBuffer()]] },
    ]);
    const { documents, failures } = await readAll("report.pdf", pdf, { recognizer });
    expect(failures).toEqual([]);
    const { text, anchors, metadata } = documents[0]!;
    expect(metadata).toMatchObject({ pages: 7, recognizedBy: "tesseract eng" });
    expect(anchors!.map(({ page }) => page)).toEqual([1, 2, 3, 5, 6, 7]);
    const pages = anchors!.map(({ start }, index) => text.slice(start, anchors![index + 1]?.start).trim());
    expect(pages[0]).toBe("Page one was printed.");
    expect(pages[2]).toBe("Page three was printed.");
    for (const page of [pages[1]!, pages[3]!, pages[4]!, pages[5]!]) {
      expect(shareOfWords(words, page)).toBeGreaterThan(0.97);
      expect(shareOfWords(page, words)).toBeGreaterThan(0.97);
    }
    // The same picture at the same place: in strips, as a mask and as a JPEG. Then the one that is turned.
    const [inStrips, asMask, turned, asJpeg] = [1, 3, 4, 5].map((page) => {
      const { start } = anchors![page]!;
      return boxesOf(documents[0]!, { start, end: start + 12 })[0]!;
    });
    for (const edge of ["left", "top", "right", "bottom"] as const) {
      expect(asMask![edge]).toBeCloseTo(inStrips![edge], 1);
      expect(asJpeg![edge]).toBeCloseTo(inStrips![edge], 1);
    }
    const [left, right, top, bottom] = [50 / 612, 550 / 612, 42 / 792, 292 / 792];
    expect(inStrips!.left > left && inStrips!.right < right).toBe(true);
    expect(inStrips!.top > top && inStrips!.bottom < bottom).toBe(true);
    // A reader shows the turned page 792 wide and 612 high, and the picture 500 by 250 on it.
    expect(turned!.right - turned!.left).toBeCloseTo(((inStrips!.right - inStrips!.left) * 612) / 792, 1);
    expect(turned!.bottom - turned!.top).toBeCloseTo(((inStrips!.bottom - inStrips!.top) * 792) / 612, 1);
  });

  test("a scan without a recognizer fails with the way out, and so does one without words", async () => {
    const blank = scannedPdf([{}, {}]);
    expect((await readAll("scan.pdf", blank)).failures.join()).toMatch(
      /holds no text on any of its 2 pages: where that is a scan, give it a text layer .* or read it with a recognizer \(--ocr\)/,
    );
    expect((await readAll("scan.pdf", blank, { recognizer: measuring })).failures.join()).toMatch(
      /holds no text: 2 of its pages hold no text, and measuring recognised none there/,
    );
  });

  test("at most 1,000 pages of a file are recognised, a few at a time, and the rest is named", async () => {
    const picture = { width: 24, height: 24, grey: new Uint8Array(576) };
    const pages = Array.from({ length: 1003 }, () => ({ pictures: [[[24, 0, 0, 24, 0, 0], picture]] as const }));
    let [asked, most] = [0, 0];
    const counting: TextRecognizer = {
      name: "counting",
      recognize: async () => {
        most = Math.max(most, ++asked);
        return `Page number ${asked}.`;
      },
    };
    const folder = await temporaryFolder({ "long.pdf": scannedPdf(pages) });
    const warnings: string[] = [];
    const report = (event: RunEvent) => void (event.type === "warning" && warnings.push(event.message));
    const [document] = await collect(readFolder(folder, { recognizer: counting }).read(createRunContext({ report })));
    expect(asked).toBe(1000);
    expect(document!.anchors).toHaveLength(1000);
    expect(warnings.join()).toMatch(/3 of its pages hold no text, and counting recognised none there/);
  });

  test("files are read again once their words are recognised, by another program too, and not otherwise", async () => {
    const folder = await temporaryFolder({
      "scan.pdf": scannedPdf([{ pictures: [[[9, 0, 0, 9, 0, 0], await greyLetter()]] }]),
    });
    const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
    const outcome = async (given?: TextRecognizer) => {
      const { documents } = await kb.ingest(readFolder(folder, given ? { recognizer: given } : {}));
      return Object.entries(documents)
        .flatMap(([name, count]) => (count === 1 ? [name] : []))
        .join();
    };
    expect(await outcome()).toBe("failed");
    expect(await outcome(measuring)).toBe("added");
    expect(await outcome(measuring)).toBe("unchanged");
    expect(await outcome({ ...measuring, name: "another" })).toBe("updated");
    await kb.close();
  });
});

describe("recognizers", () => {
  test("one that comes no further is given up after the time for a page, and one that does is waited for", async () => {
    const stuck: TextRecognizer = { name: "stuck", recognize: () => new Promise(() => {}) };
    const { failures } = await readAll("letter.png", letter, { recognizer: stuck, timeoutMs: 100 });
    expect(failures.join()).toMatch(/took longer than 100 ms to read/);
    let steps = 0;
    const slow: TextRecognizer = {
      name: "slow",
      recognize: (_, { onProgress } = {}) =>
        new Promise((resolve) => {
          const timer = setInterval(() => {
            onProgress?.();
            if (++steps < 40) return;
            clearInterval(timer);
            resolve("read in the end");
          }, 50);
        }),
    };
    const read = await readAll("letter.png", letter, { recognizer: slow, timeoutMs: 1500 });
    expect(read.documents[0]!.text).toBe("read in the end");
  });

  test("a picture that is given up costs none of those after it, and a closed one can be used again", async () => {
    const own = tesseract({ dataFolder });
    const stop = new AbortController();
    const given = own.recognize(letter, { signal: stop.signal, onProgress: () => stop.abort(new Error("enough")) });
    await expect(given).rejects.toThrow("enough");
    await expect(own.recognize(Buffer.from("no picture"))).rejects.toThrow(/read image/);
    expect(shareOfWords(words, await own.recognize(letter))).toBeGreaterThan(0.97);
    await own.close();
    expect(await own.recognize(letter)).toContain("swing bridge");
    await own.close();
  });

  test("a folder without language data, or without a language, is refused with what it has", async () => {
    expect(() => tesseract({ dataFolder: join(root, "nowhere") })).toThrow(/There is no folder of language data/);
    expect(() => tesseract({ dataFolder: join(root, "src") })).toThrow(
      /has no data of any language \(it has none\): files such as/,
    );
    expect(() => tesseract({ dataFolder, languages: ["eng", "deu"] })).toThrow(/no data of eng, deu \(it has eng\)/);
  });

  test("--ocr reads scans from the command line, and the process ends by itself", async () => {
    const folder = await temporaryFolder({ "docs/letter.png": letter });
    await mkdir(join(folder, "data"));
    await copyFile(join(dataFolder, "eng.traineddata.gz"), join(folder, "data/eng.traineddata.gz"));
    const { documents } = await citewellJson<IndexJson>(["index", "docs", "--ocr", "data"], { cwd: folder });
    expect(documents).toMatchObject({ added: 1, failed: 0 });
    const { hits } = await citewellJson<SearchJson>(["search", "swing bridge"], { cwd: folder });
    expect(hits[0]).toMatchObject({ page: 1 });
    const refused = await citewell(["index", "docs", "--ocr", "nothing"], { cwd: folder });
    expect(refused.stderr).toMatch(/There is no folder of language data at .*nothing/);
  });
});

test("recognised pages stand in their places, between pages that have a text", () => {
  const anchors = [
    { start: 0, page: 2 },
    { start: 5, heading: 1 },
    { start: 12, page: 5 },
  ];
  const texts = new Map([
    [6, { text: "six" }],
    [1, { text: "one" }],
    [3, { text: "three" }],
  ]);
  const merged = textOfPages("two\n\nHead.\n\nfive", anchors, texts);
  expect(merged.text).toBe("one\n\ntwo\n\nHead.\n\nthree\n\nfive\n\nsix");
  expect(
    merged.anchors.map(({ start, page, heading }) => [merged.text.slice(start, start + 3), page ?? `h${heading}`]),
  ).toEqual([
    ["one", 1],
    ["two", 2],
    ["Hea", "h1"],
    ["thr", 3],
    ["fiv", 5],
    ["six", 6],
  ]);
});
