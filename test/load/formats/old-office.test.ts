import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { strToU8, zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { heavyLoaders, type HeavyFormat } from "../../../src/load/formats/heavy-loaders.js";
import { hasCircularChain } from "../../../src/load/formats/office/compound-file.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { collect } from "../../../src/core/stream.js";
import { shareOfWords, words, wordsBeyond } from "../../support/share-of-words.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { tinyPdf } from "../../support/tiny-pdf.js";

const fixtures = fileURLToPath(new URL("../../../test/fixtures/office97/", import.meta.url));
const { signal } = new AbortController();

function fixture(name: string): Buffer {
  return name.endsWith(".ppt")
    ? gunzipSync(readFileSync(join(fixtures, `${name}.gz`)))
    : readFileSync(join(fixtures, name));
}

const load = async (format: HeavyFormat, bytes: Uint8Array | string) =>
  heavyLoaders[format]({ path: "/x", uri: "file:///x", bytes: Buffer.from(bytes) }, signal);

const rtf = async (body: string) => (await load("rtf", `{\\rtf1\\ansi\\ansicpg1252 ${body}}`)).text;

describe("Rich Text", () => {
  test("has headings, numbers of lists, tables, notes and properties, whichever program wrote it", async () => {
    for (const name of ["handbook.rtf", "pandoc.rtf"]) {
      const { text, title } = await load("rtf", fixture(name));
      expect.soft(title, name).toBe("Employee Handbook");
      expect.soft(text, name).toContain("## Working hours");
      expect.soft(text, name).toContain("2. Overtime must be approved in advance by your team lead.");
      expect.soft(text, name).toContain("| Parental leave | 180 | Human resources |");
      expect.soft(text, name).toContain("[1] Policy SEC-17, version 4, of 12 January 2024.");
      expect.soft(text, name).not.toMatch(/\\[a-z]|[{}]/);
    }
    expect((await load("rtf", fixture("handbook.rtf"))).metadata).toEqual({ author: "Maria Olsen" });
  });

  test("decodes letters in the code page of their font, and Unicode with the letters for older programs behind it", async () => {
    expect(await rtf("caf\\'e9 \\u8364?\\u-10179 ?\\u-8703 ? {\\uc2\\u945 al}b \\uc0\\u946 c")).toBe("café €😁 αb βc");
    const fonts =
      "{\\fonttbl{\\f0\\fcharset0 Arial;}{\\f1\\fcharset134 SimSun;}{\\f2\\fcharset204 Arial;}{\\f3\\fcharset2 Wingdings;}}";
    expect(await rtf(`${fonts}\\f1\\'c4\\'e3\\'ba\\'c3 \\f2\\'cf\\'f0\\'e8\\'e2\\'e5\\'f2 \\f3\\'b7\\f0  end`)).toBe(
      "你好 Привет • end",
    );
  });

  test("has no hidden or deleted text, pictures, headers, comments and fields", async () => {
    const body =
      "seen {\\v hidden}{\\deleted gone}{\\pict\\pngblip 89504e47}{\\header top}{\\*\\annotation remark}{\\*\\unknown x}" +
      '{\\field{\\*\\fldinst HYPERLINK "http://a.example"}{\\fldrslt link}}{\\pict\\bin4 }}\\}} end';
    expect(await rtf(body)).toBe("seen link end");
  });

  test("has the words of a link that AbiWord marks as one that other programs may pass over", async () => {
    const { text } = await load("rtf", fixture("abiword.rtf"));
    expect(text).toContain("See the map and tide --help.");
  });

  test("keeps a row that the file breaks off in, and text after a table", async () => {
    expect(await rtf("\\trowd\\intbl a\\cell b\\cell\\row\\trowd\\intbl c\\cell d")).toContain("| c | d |");
    expect(await rtf("\\trowd\\intbl a\\cell b\\cell\\row\\pard after\\par")).toMatch(/\| a \| b \|[^]*\n\nafter$/);
  });

  test("nested a million deep, or cut anywhere, ends without harm", async () => {
    await expect(load("rtf", `{\\rtf1 ${"{".repeat(1_000_000)}`)).rejects.toThrow("groups nested more than 1000 deep");
    const whole = fixture("pandoc.rtf");
    const { text } = await load("rtf", whole);
    let longest = "";
    for (let end = 6; end < whole.length; end += 37) {
      const part = await load("rtf", whole.subarray(0, end));
      expect(wordsBeyond(part.text, text), `of ${end} bytes`).toEqual([]);
      if (part.text.length > longest.length) longest = part.text;
    }
    expect(shareOfWords(text, longest)).toBeGreaterThan(0.9);
    expect(await rtf("}}}} still text")).toBe("still text");
    expect(await rtf("a \\bin999999999999 b")).toBe("a");
    await expect(load("rtf", "No codes at all")).rejects.toThrow("is text by its first bytes");
  });

  test("of a million paragraphs is read, each word of it once", async () => {
    const text = await rtf("a\\par ".repeat(200_000));
    expect(words(text)).toHaveLength(200_000);
  });
});

describe("Word before 2007", () => {
  test("has its paragraphs, tables and notes", async () => {
    const { text } = await load("doc", fixture("handbook.doc"));
    expect(text).toContain("Core hours are 10:00 to 15:30, Monday to Thursday.");
    expect(text).toContain("| Study leave | 5 | Department head |");
    expect(text).toContain("Policy SEC-17, version 4, of 12 January 2024.");
    expect((await load("doc", fixture("prices.doc"))).text).toMatch(/Payment within 30 days — 2\s% discount/);
  });

  test("is what it is by its first bytes, as programs give the ending to Rich Text and pages, too", async () => {
    expect((await load("doc", fixture("pandoc.rtf"))).text).toContain("## Working hours");
    expect((await load("doc", "<html><body><h1>Plan</h1><p>Words of it</p></body></html>")).text).toContain("# Plan");
    await expect(load("doc", "plain words")).rejects.toThrow("is text by its first bytes");
  });
});

describe("Excel before 2007", () => {
  const book = createRequire(import.meta.url)("@e965/xlsx") as typeof import("@e965/xlsx");
  const people = [
    ["Name", "Start"],
    ["Juergen", new Date(Date.UTC(2019, 2, 1))],
    ["Zoe", 12.5],
  ];
  const written = (bookType: import("@e965/xlsx").BookType, numbers?: string) => {
    const sheet = book.utils.aoa_to_sheet(people, { UTC: true, cellDates: bookType === "numbers" });
    const whole = book.utils.book_new();
    book.utils.book_append_sheet(whole, sheet, "People");
    return book.write(whole, { type: "buffer", bookType, ...(numbers !== undefined && { numbers }) }) as Buffer;
  };

  test("has its sheets as tables, days as ISO 8601, and no hidden sheet", async () => {
    expect((await load("xls", fixture("staff.xls"))).text).toContain(
      "| Müller | 2019-03-01 | 54321.5 | 0.125 | TRUE |",
    );
    const { text, warnings } = await load("xls", fixture("budget.xls"));
    expect(text).toContain("| Sum | 11002 | 7000 |");
    expect(text).toContain("# Contacts");
    expect(text).not.toContain("secret");
    expect(warnings).toEqual([expect.stringContaining('"Drafts"')]);
  });

  test("writes out article numbers that Excel shows as powers of ten", async () => {
    for (const name of ["types.xls", "types.xlsb"])
      expect.soft((await load("xls", fixture(name))).text, name).toContain("| large | 1234567890123 |");
  });

  test.each(["biff8", "biff5", "xlsb", "xlml", "html"] as const)("is read as %s, too", async (kind) => {
    const { text } = await load("xls", written(kind));
    expect(text).toContain("| Juergen | ");
    expect(text).toContain("| Zoe | 12.5 |");
  });

  test("Numbers of Apple is read by its tables, as the same books are in Excel", async () => {
    const template = createRequire(import.meta.url)("@e965/xlsx/dist/xlsx.zahl") as string;
    expect((await load("numbers", written("numbers", template))).text).toContain(
      "| Juergen | 2019-03-01 |\n| Zoe | 12.5 |",
    );
    const books = readdirSync(fixtures).filter((name) => name.endsWith(".xlsb"));
    expect(books).toHaveLength(8);
    for (const name of books) {
      const numbers = book.write(book.read(fixture(name), { cellDates: true }), {
        type: "buffer",
        bookType: "numbers",
        numbers: template,
      });
      const [{ text }, excel] = [await load("numbers", numbers as Buffer), await load("xls", fixture(name))];
      expect.soft(shareOfWords(excel.text, text), name).toBeGreaterThanOrEqual(0.9);
      expect.soft(shareOfWords(text, excel.text), name).toBeGreaterThanOrEqual(0.9);
    }
  });
});

describe("PowerPoint before 2007", () => {
  test("has its slides in order with titles, texts and notes, each a page", async () => {
    const { text, anchors } = await load("ppt", fixture("slides.ppt"));
    expect(text).toMatch(/^# Quarterly Review\n\nAnna Berg[^]*# Revenue[^]*# Risks[^]*# Staff/);
    expect(text).toMatch(/ends in 2023\.\n\nMention the talks with the landlord\.\n\n# Staff/);
    expect(anchors?.map(({ page, start }) => [page, text.slice(start, start + 9)])).toEqual([
      [1, "# Quarter"],
      [2, "# Revenue"],
      [3, "# Risks\n\n"],
      [4, "# Staff\n\n"],
    ]);
  });

  test("whose records lie, say that they are longer than the file, or lead in circles, ends without harm", async () => {
    const whole = fixture("deck3.ppt");
    const outcomes = { read: 0, refused: 0 };
    for (let at = 512; at < whole.length; at += 4099) {
      const changed = Buffer.from(whole);
      changed.fill(0xff, at, at + 16);
      await load("ppt", changed).then(
        () => outcomes.read++,
        (error: Error) => {
          expect(error.message).toMatch(/^file:\/\/\/x is damaged or encrypted/);
          outcomes.refused++;
        },
      );
    }
    expect(outcomes.read).toBeGreaterThan(0);
  });
});

describe("Pages and Keynote", () => {
  test("are read by the PDF that they saved as a preview, or say how to convert them", async () => {
    const preview = zipSync({
      "QuickLook/Preview.pdf": new Uint8Array(tinyPdf([["Minutes of the meeting"]])),
      "index.xml": strToU8("<a/>"),
    });
    expect((await load("iwork", preview)).text).toContain("Minutes of the meeting");
    const modern = zipSync({ "Index/Document.iwa": strToU8("x"), "preview.jpg": strToU8("x") });
    await expect(load("iwork", modern)).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("export it as PDF or Word (File, Export To)"),
    });
  });
});

describe("the container of old office files", () => {
  test("whose chains of sectors lead in circles is refused before any reader follows them", async () => {
    for (const [name, format] of [
      ["handbook.doc", "doc"],
      ["stock.xls", "xls"],
      ["deck4.ppt", "ppt"],
    ] as const) {
      const whole = fixture(name);
      expect(hasCircularChain(whole)).toBe(false);
      const circular = Buffer.from(whole);
      // Sector 3 is followed by itself, or by the one before it that it follows.
      const table = (circular.readUInt32LE(76) + 1) * 512;
      const before = [0, 1, 2, 3, 4, 5].find((sector) => circular.readUInt32LE(table + 4 * sector) === sector + 1)!;
      circular.writeUInt32LE(before, table + 4 * (before + 1));
      expect(hasCircularChain(circular)).toBe(true);
      await expect(load(format, circular)).rejects.toThrow(/is damaged.*chains of sectors run in circles/);
    }
  });

  test.each(["handbook.doc", "budget.xls", "slides.ppt"])(
    "of %s, cut anywhere, is a failure or a part of the text",
    async (name) => {
      const whole = fixture(name);
      const format = name.split(".")[1] as HeavyFormat;
      const { text } = await load(format, whole);
      let failures = 0;
      for (let end = 600; end < whole.length; end += Math.ceil(whole.length / 40)) {
        const part = await load(format, whole.subarray(0, end)).catch((error: Error) => {
          expect(error.name).toBe("LoadError");
          failures++;
          return { text: "" };
        });
        expect(wordsBeyond(part.text, text), `of ${end} bytes`).toEqual([]);
      }
      expect(failures).toBeGreaterThan(0);
    },
  );
});

test("old files of a folder are read by their endings", async () => {
  const folder = await temporaryFolder({
    "a.rtf": fixture("vertrag.rtf"),
    "b.doc": fixture("kaoqin.doc"),
    "c.ppt": fixture("zhslides.ppt"),
  });
  const documents = await collect(readFolder(folder));
  expect(documents.map(({ title, text }) => [title, text.split("\n", 1)[0]])).toEqual([
    ["Mietvertrag über Geschäftsräume", "# Mietvertrag über Geschäftsräume"],
    ["b", "考勤管理制度"],
    ["c", "# 项目进展"],
  ]);
});
