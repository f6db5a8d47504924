import { deflateSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isBoldName } from "../../../src/load/formats/pdf/bold-fonts.js";
import { cjkCharacterMap } from "../../../src/load/formats/pdf/cjk-character-maps.js";
import { bodySizeOf, boldHeadings, headingLevels } from "../../../src/load/formats/pdf/headings.js";
import { boundedPdf } from "../../../src/load/formats/pdf/stream-sizes.js";
import { loadPdf, provideTransfer } from "../../../src/load/formats/pdf/pdf.js";
import { pageLines, type PageLine } from "../../../src/load/formats/pdf/page-lines.js";
import type { TextRun } from "../../../src/load/formats/pdf/text-runs.js";
import { breaksOf, joinLines, paragraphsOf, vocabularyOf } from "../../../src/load/formats/pdf/paragraphs.js";
import { withoutRunningLines } from "../../../src/load/formats/pdf/running-lines.js";
import { plainCharacters } from "../../../src/load/formats/pdf/plain-characters.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { collect } from "../../../src/core/stream.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { drawnPdf, pdfOf, tinyPdf, type DrawnPage } from "../../support/tiny-pdf.js";

/** Lines as a page of ten-point type has them: each letter five points wide, twelve points from line to line; `**bold**`. */
function page(text: string, { indent = 0 } = {}): PageLine[] {
  let base = 0;
  const lines: PageLine[] = [];
  for (const line of text.split("\n")) {
    base += 12;
    if (line.trim() === "") continue;
    const start = indent + 5 * (line.length - line.trimStart().length);
    const isBold = line.includes("**");
    const said = line.replaceAll("**", "").trim();
    // Two spaces are as wide as the room between two columns.
    const parts = said.split(/ {2,}/).length;
    const fonts = [isBold ? "bold" : "plain"];
    lines.push({ text: said, start, end: start + 5 * said.length, base, size: 10, letterSize: 10, fonts, parts });
  }
  return lines;
}

function read(lines: readonly PageLine[]): string {
  const texts = lines.map(({ text }) => text);
  return joinLines(texts, breaksOf(lines), vocabularyOf(texts));
}

describe("lines of a page become paragraphs", () => {
  test("full lines flow on, the last line ends its paragraph, and a gap is an empty line", () => {
    expect(
      read(
        page(`The quick brown fox jumps over the lazy dog and then
sleeps in the warm afternoon sun until evening comes
to an end.

Another day begins with the fox looking for food on
the hill.`),
      ),
    )
      .toBe(`The quick brown fox jumps over the lazy dog and then sleeps in the warm afternoon sun until evening comes to an end.

Another day begins with the fox looking for food on the hill.`);
  });

  test("an indented line starts a paragraph even after a full line, and a hanging item stays together", () => {
    expect(
      read(
        page(`   The first paragraph is indented and long enough
to need a second line whose end is at the margin it.
   The second paragraph is indented as well, and it
is read as one of its own in the text that comes out`),
      ),
    ).toBe(
      "The first paragraph is indented and long enough to need a second line whose end is at the margin it.\n" +
        "The second paragraph is indented as well, and it is read as one of its own in the text that comes out",
    );
    expect(
      read(
        page(`[1] A. Author, On the length of lines that are long,
    Journal of Lines and their Ends, volume seventy,
    pages one to ten in the second half of the year.
[2] B. Author, A second item that hangs as the first
    one does.`),
      ),
    ).toBe(
      "[1] A. Author, On the length of lines that are long, Journal of Lines and their Ends, volume seventy, " +
        "pages one to ten in the second half of the year.\n[2] B. Author, A second item that hangs as the first one does.",
    );
  });

  test("code, verses, rows of numbers and list items keep their lines", () => {
    for (const text of [
      "function add(a, b) {\nreturn a + b;\n}\nconsole.log(add(1, 2));",
      "Beautiful is better than ugly.\nExplicit is better than implicit.\nSimple is better than complex.\nFlat is better.",
      "2019 10,000.00 20,000.00 30,000.00 40,000.00\n2020 11,000.00 21,000.00 31,000.00 41,000.00",
      "• The first item is as long as the line can possibly be\n• The second item is as long as the line can be as well",
    ]) {
      expect(read(page(text))).toBe(text);
    }
  });

  test("a sentence goes on at the top of the next column, and a larger line is a heading", () => {
    const left = page(
      "The left column ends in the middle of a line which\nwas full to the edge and which is only continued by",
    );
    const right = page("the first line of the right column, where it comes\nto its end.", { indent: 400 });
    expect(read([...left, ...right])).toContain("is only continued by the first line of the right column");
    const [heading, ...rest] = page(
      "A heading that is as long as all of the other lines\nwhich follow it in smaller letters than its own are",
    );
    expect(read([{ ...heading!, size: 14 }, ...rest])).toContain("other lines\n\nwhich follow");
  });

  test("Chinese lines are joined without a space, and Latin words keep theirs", () => {
    const lines = page(
      "由于这是一份手把手的教程所以在一些重要的话题上会对每个\n步骤都做详细的解释虽然你可能觉得它们之中有一些与 Debian\npackages 毫不相干",
    );
    // An ideograph is as wide as it is high.
    const wide = lines.map((line) => ({ ...line, end: line.start + 280 }));
    expect(read(wide)).toBe(
      "由于这是一份手把手的教程所以在一些重要的话题上会对每个步骤都做详细的解释虽然你可能觉得它们之中有一些与 Debian packages 毫不相干",
    );
  });

  test("no letter is lost or added on any lines, except hyphens at their ends", () => {
    const line = fc.record({
      text: fc.stringMatching(/^[\p{L}\p{N}][\p{L}\p{N} .,-]{0,70}$/u).map((text) => text.replace(/\s+/gu, " ").trim()),
      start: fc.integer({ min: 0, max: 400 }),
      size: fc.constantFrom(8, 10, 14),
      step: fc.integer({ min: -100, max: 60 }),
    });
    fc.assert(
      fc.property(fc.array(line, { minLength: 1 }), (given) => {
        let base = 0;
        const lines = given.map(({ text, start, size, step }) => {
          base += step;
          const end = start + text.length * 0.5 * size;
          return { text, start, end, base, size, letterSize: size, fonts: ["plain"], parts: 1 };
        });
        const letters = (text: string) => text.replace(/[\s\u2010-]/gu, "");
        expect(letters(read(lines))).toBe(letters(lines.map(({ text }) => text).join("")));
      }),
    );
  });
});

test("a word that is cut by a hyphen goes on in the next line, however long the lines are", () => {
  expect(
    read(
      page(`This is the longest line of this paragraph, by some more words than it may be
and this one is far shorter, but has an imple-
mentation in it. It ends with a long dash -
that is none.
A short self-
made row.`),
    ),
  ).toBe(`This is the longest line of this paragraph, by some more words than it may be
and this one is far shorter, but has an implementation in it. It ends with a long dash -
that is none.
A short self-
made row.`);
});

describe("a hyphen at the end of a line", () => {
  const joined = (text: string) => {
    const lines = text.split("\n");
    return joinLines(
      lines,
      lines.slice(1).map(() => "flow"),
      vocabularyOf(lines),
    );
  };

  test.each([
    ["cuts a word that is none without it", "an implemen-\ntation of", "an implementation of"],
    ["cuts a word that stands whole elsewhere", "the data-\nbase and the database", "the database and the database"],
    ["stays in a word that has it elsewhere", "a self-\nlocking nut, self-locking", "a self-locking nut, self-locking"],
    ["stays between two words of the text", "well-\nknown words are known well", "well-known words are known well"],
    ["stays before a capital or a number", "the Anglo-\nSaxon era, ISO-\n8601", "the Anglo-Saxon era, ISO-8601"],
    ["is a dash when it stands alone", "this -\nthat", "this - that"],
  ])("%s", (_, text, expected) => {
    expect(joined(text)).toBe(expected);
  });
});

describe("runs become lines", () => {
  const run = (text: string, x: number, width: number, more: Partial<TextRun> = {}): TextRun => ({
    text,
    transform: [10, 0, 0, 10, x, 700],
    width,
    endsLine: false,
    rightToLeft: false,
    font: "plain",
    ...more,
  });

  test("a line is its runs up to where it ends, with its place and size", () => {
    const runs = [run("Hello", 50, 25), run(" ", 75, 3), run("world", 78, 25, { endsLine: true }), run("next", 50, 20)];
    const more = { base: -700, size: 10, letterSize: 10, fonts: ["plain"], parts: 1 };
    expect(pageLines(runs)).toEqual([
      { text: "Hello world", start: 50, end: 103, ...more },
      { text: "next", start: 50, end: 70, ...more },
    ]);
  });

  test("letters that are printed twice, to look bold, appear once", () => {
    const twice = [
      run("Hello", 50, 25),
      run("Hello", 50.4, 25),
      run(" ", 75, 3),
      run("Hello", 78, 25, { endsLine: true }),
    ];
    expect(
      pageLines([...twice, run("next", 50, 20), run("next", 50, 20, { endsLine: true }), run("x", 50, 5)]),
    ).toMatchObject([{ text: "Hello Hello" }, { text: "next" }, { text: "x" }]);
  });

  test("a power gets a caret; the mark of a note after a full stop does not", () => {
    const raised = (text: string, x: number) => run(text, x, 3, { transform: [6, 0, 0, 6, x, 704] });
    const lowered = run("2", 90, 3, { transform: [6, 0, 0, 6, 90, 698] });
    const [line] = pageLines([
      run("10", 50, 10),
      raised("-6", 60),
      run(" of H", 65, 25),
      lowered,
      run("O in m", 93, 30),
      raised("2", 123),
      run(".", 126, 3),
      raised("1", 130),
    ]);
    expect(line!.text).toBe("10^-6 of H2O in m^2.1");
  });

  test("a line knows its fonts and the number of its parts", () => {
    const [line] = pageLines([
      run("2.1", 50, 15),
      run(" ", 65, 15, { font: "other" }),
      run("Nuts", 80, 20, { font: "b" }),
    ]);
    expect(line).toMatchObject({ text: "2.1 Nuts", fonts: ["plain", "b"], parts: 2 });
  });

  test("a line has the size of most of its letters", () => {
    const [line] = pageLines([run("T", 50, 20, { transform: [30, 0, 0, 30, 50, 700] }), run("he rest of it", 70, 60)]);
    expect(line).toMatchObject({ size: 30, letterSize: 10 });
  });

  test("a right-to-left line is measured from its right, and Latin words in it are separate words", () => {
    const [line] = pageLines([
      run("\u0627\u0644\u0644\u063a\u0629", 300, 40, { rightToLeft: true }),
      run("Python", 260, 40),
      run("\u0645\u0646", 240, 20, { rightToLeft: true }),
    ]);
    expect(line).toMatchObject({ text: "\u0627\u0644\u0644\u063a\u0629 Python \u0645\u0646", start: -340, end: -240 });
  });

  test("a line of a rotated page is measured along its own direction", () => {
    const [line] = pageLines([run("up", 0, 30, { transform: [0, 10, -10, 0, 100, 200] })]);
    expect(line!.start).toBeCloseTo(200);
    expect(line!.end).toBeCloseTo(230);
    expect(line!.base).toBeCloseTo(100);
  });
});

describe("running heads and feet", () => {
  const at = (base: number, text: string, size = 10): PageLine => ({ ...page(text)[0]!, base, size, letterSize: size });
  const texts = (pages: readonly (readonly PageLine[])[]) =>
    withoutRunningLines(pages, 10).left.map((lines) => lines.map(({ text }) => text));

  test("are removed where they stand at the same place on most pages, except the first one with words", () => {
    const pages = ["One.", "Two.", "Three.", "Four."].map((words, index) => [
      at(30, `The Book ${index === 0 ? "ii" : `${index} / 3`}`),
      at(100, words),
      at(112, "Said on every page, in its middle."),
      at(124, "Above."),
      at(136, words),
      at(148, "Below."),
      at(700, `The end of ${words}`),
      at(760, String(index + 7)),
    ]);
    expect(texts(pages)).toEqual([
      ["The Book ii", "One.", "Said on every page, in its middle.", "Above.", "One.", "Below.", "The end of One."],
      ["Two.", "Above.", "Two.", "The end of Two."],
      ["Three.", "Above.", "Three.", "The end of Three."],
      ["Four.", "Above.", "Four.", "The end of Four."],
    ]);
  });

  test("left and right pages may have their own", () => {
    const pages = Array.from({ length: 8 }, (_, index) => [
      at(30, index % 2 === 0 ? `${index} Chapter` : `Book ${index}`),
      at(100, `Words ${"of this page alone".slice(index)}`),
    ]);
    expect(texts(pages).flat()).toEqual([
      "0 Chapter",
      "Words of this page alone",
      "Book 1",
      ...Array.from({ length: 7 }, (_, index) => `Words ${"of this page alone".slice(index + 1)}`),
    ]);
  });

  test("large titles, rows of numbers, lines at other places and few pages are not affected", () => {
    const numbers = [17, 4, 99, 3];
    for (const pages of [
      numbers.map((_, index) => [at(30, `Step ${index}`, 20), at(100, `Words ${"abcd"[index]}.`)]),
      numbers.map((number, index) => [at(100, `Words ${"abcd"[index]}.`), at(700, `${number},000 ${number * 7}`)]),
      numbers.map((_, index) => [at(30 + 40 * index, "Summary of this page"), at(500, `Words ${"abcd"[index]}.`)]),
      [0, 1].map((index) => [at(30, "Letter to the board"), at(100, `Words ${"ab"[index]}.`), at(760, `${index + 1}`)]),
    ]) {
      expect(texts(pages)).toEqual(pages.map((lines) => lines.map(({ text }) => text)));
    }
  });

  test("are kept where there is nothing else to read", () => {
    const pages = [0, 1, 2].map((index) => [at(760, String(index))]);
    expect(texts(pages)).toEqual([["0"], ["1"], ["2"]]);
  });

  test("with words are kept on a page that holds nothing else, which is counted", () => {
    const pages = ["One.", "Two.", "", "Four."].map((words, index) => [
      at(30, "Annual Report"),
      ...(words === "" ? [] : [at(100, words)]),
      at(760, String(index + 1)),
    ]);
    expect(texts(pages)).toEqual([["Annual Report", "One."], ["Two."], ["Annual Report"], ["Four."]]);
    expect(withoutRunningLines([...pages, []], 10).bare).toEqual([3, 5]);
  });
});

describe("headings", () => {
  const lines = (text: string, size: number) => page(text).map((line) => ({ ...line, size, letterSize: size }));
  const levels = (...parts: readonly (readonly [text: string, size: number])[]) => {
    const paragraphs = parts.map(([text, size]) => ({ lines: lines(text, size), breaks: [] }));
    const found = headingLevels(paragraphs, bodySizeOf(paragraphs.flatMap((each) => each.lines)));
    return paragraphs.flatMap((each) => found.get(each) ?? []);
  };
  const body = ["A line of the text, which is in the size of most letters. ".repeat(5), 10] as const;

  test("are short lines in larger letters; the larger, the higher", () => {
    expect(
      levels(["The Book", 24], body, ["A Chapter", 18], body, ["A part", 12], body, ["Another", 17.8], body),
    ).toEqual([1, 2, 3, 2]);
  });

  test("a chapter's number above its name has the same level", () => {
    expect(levels(["Chapter 1", 14], ["Names", 20], body, ["1.1 Part", 14], body)).toEqual([1, 1, 2]);
  });

  test("numbers, initials, text that runs on, long text, tables of contents, and a text without one size have no headings", () => {
    const long = "Large letters that go on and on. ".repeat(8);
    expect(levels(body, ["2026", 20], body, ["A", 30], body, ["and so on,", 14], body, [long, 14], body)).toEqual([]);
    expect(levels(body, ["1 Introduction . . . . . 1", 14], ["2 Nuts .......... ii", 14], body)).toEqual([]);
    expect(levels(["First words of it", 20], ["Second words of it", 15], ["Third words of it", 10])).toEqual([]);
  });
});

describe("headings in bold letters of the text's size", () => {
  const text = "The text in plain letters, which goes on for a while\nand then for a second line.";
  const found = (...pages: readonly string[]) => {
    const lines = pages.map((each) => page(each));
    const headings = boldHeadings(lines, 10, new Set(["bold"]));
    return lines.flatMap((each) => each.filter((line) => headings.has(line)).map((line) => line.text));
  };

  test("stand alone above a text, with or without room around them, also at the top of a page or above another", () => {
    expect(found(`**1 Nuts**\n${text}\n**1.1 Self-locking nuts**\n${text}`, `**2  Bolts**\n\n${text}`)).toEqual([
      "1 Nuts",
      "1.1 Self-locking nuts",
      "2  Bolts",
    ]);
    expect(found(`${text}\n**2 Bolts**\n**2.1 Long bolts**\n${text}`)).toEqual(["2 Bolts", "2.1 Long bolts"]);
    expect(found(`**概述**\n${"紧固件是机械零件。".repeat(5)}`)).toEqual(["概述"]);
    // A heading of two lines, of which the first ends with a colon.
    expect(found(`**Module Two: Planning and Step 1:**\n**Nuts**\n${text}`)).toHaveLength(2);
  });

  test.each([
    ["the head of a table", `${text}\n\n**Size  Weight  Price**\n12  40 g  3\n14  60 g  4`],
    [
      "a head of a table in one part",
      `${text}\n\n**Sizes**\n12  40 g  a nut that is used for wheels and brakes\n14  60 g  4`,
    ],
    ["a label of a form", `**Name**\nA. Smith\n**Address**\nMain Street 1`],
    ["a label with a colon", `**Warning:**\n${text}`],
    ["a sentence", `**Never open it.**\n${text}`],
    [
      "words that a sentence goes on behind",
      `${text}\n**Open the valve**\nand wait for a minute until the pressure has gone down.`,
    ],
    [
      "words in the middle of a sentence",
      `Before you open the lid for the first time you must\n**Close The Valve**\n${text}`,
    ],
    ["an item of a list", `**• Nuts**\n${text}`],
    ["a caption", `**Table 3 Nuts**\n${text}`],
    ["a number", `**2026**\n${text}`],
    ["the last words of a page that is the last", `${text}\n\n**The End**`],
    ["a paragraph", `${text}\n\n**One**\n**Two**\n**Three**\n**Four**\n${text}`],
  ])("%s is none", (_, lines) => {
    expect(found(lines)).toEqual([]);
  });

  test("cells that the reader gives line by line are not headings", () => {
    const [heading, ...rest] = page(`**Nuts**\n${text}`);
    const beside = { ...rest[0]!, base: heading!.base };
    expect(boldHeadings([[heading!, beside, ...rest]], 10, new Set(["bold"]))).toEqual(new Set());
    expect(boldHeadings([[heading!, ...rest]], 10, new Set(["bold"]))).toEqual(new Set([heading]));
  });

  test("have paragraphs of their own, and levels below those in larger letters, by their numbers", () => {
    const lines = page(`${text}\n**3 Bolts**\n**3.1 Long bolts**\n${text}\n${text}\n${text}`);
    const title = { ...lines[0]!, text: "Fasteners", size: 20, letterSize: 20 };
    const headings = boldHeadings([lines], 10, new Set(["bold"]));
    const paragraphs = paragraphsOf([title, ...lines.slice(1)], headings);
    const levels = headingLevels(paragraphs, 10, headings);
    expect(paragraphs.flatMap((each) => (levels.has(each) ? [[levels.get(each), each.lines[0]!.text]] : []))).toEqual([
      [1, "Fasteners"],
      [2, "3 Bolts"],
      [3, "3.1 Long bolts"],
    ]);
  });

  test.each([
    ["TimesNewRomanPS-BoldMT", true],
    ["ABCDEF+Arial,Bold", true],
    ["AAAAAD+SFBX1000", true],
    ["RKDUWA+CMBX12", true],
    ["CMSSBX10", true],
    ["NimbusRomNo9L-Medi", true],
    ["Frutiger-Bd", true],
    ["SimHei", true],
    ["BOLDER+Times-Roman", false],
    ["CMR10", false],
    ["CMTT9", false],
    ["Helvetica-Medium", false],
    ["WenQuanYiMicroHei", false],
    ["", false],
  ])("the font %j is bold: %s", (name, expected) => {
    expect(isBoldName(name)).toBe(expected);
  });

  test("are found in a file, unless all of it is bold", async () => {
    const body = ["The text of this chapter goes on for a line or two,", "and ends in the second of them."];
    const nuts = [{ bold: "Nuts" }, ...body];
    const folder = await temporaryFolder({
      "a.pdf": tinyPdf([["Before the first chapter, there are some words to read.", ...nuts]]),
      "b.pdf": tinyPdf([[{ bold: "Nuts" }, ...body.map((line) => ({ bold: line }))]]),
    });
    const [some, all] = await collect(readFolder(folder));
    expect(some!.anchors).toEqual([
      { start: 0, page: 1 },
      { start: some!.text.indexOf("Nuts\n\nThe text of"), heading: 1 },
    ]);
    expect(all!.anchors).toEqual([{ start: 0, page: 1 }]);
  });
});

test("a transferred buffer has the requested length, and its former owner has none", () => {
  provideTransfer();
  const move = (bytes: Uint8Array, length?: number) =>
    (bytes.buffer as ArrayBuffer & { transferToFixedLength(length?: number): ArrayBuffer }).transferToFixedLength(
      length,
    );
  const given = Uint8Array.of(1, 2, 3);
  expect(new Uint8Array(move(given, 2))).toEqual(Uint8Array.of(1, 2));
  expect(given).toHaveLength(0);
  expect(new Uint8Array(move(Uint8Array.of(1), 2))).toEqual(Uint8Array.of(1, 0));
  expect(new Uint8Array(move(Uint8Array.of(1, 2)))).toEqual(Uint8Array.of(1, 2));
});

test("characters are the ones a reader would type", () => {
  expect(plainCharacters("检索增强⽣成 ⻚⻛⻆ ⼀⼆")).toBe("检索增强生成 页风角 一二");
  expect(plainCharacters("e\ufb03cient \u00adsoft\u200b \uf0b7 item \ue123")).toBe("efficient soft • item ");
  expect(plainCharacters("\ufefb \u0627\u0625\u0644\u0646")).toBe("\u0644\u0627 \u0627\u0644\u0625\u0646");
  for (let point = 0x2e80; point <= 0x2fd5; point++) {
    const character = String.fromCodePoint(point);
    if (/\p{Script=Han}/u.test(character) && point !== 0x2e80) {
      expect([character, plainCharacters(character)]).not.toEqual([character, character]);
    }
  }
});

test("a character map leads from the codes of an encoding to the characters that the platform decodes", () => {
  const entries = (map: string) =>
    new Map([...map.matchAll(/^<([0-9a-f]+)> <?([0-9a-f]+)>?$/gmu)].map(([, a, b]) => [a, b]));
  for (const [name, collection, bytes] of [
    ["GBK-EUC-H", "Adobe-GB1-UCS2", "d6d0"],
    ["90ms-RKSJ-V", "Adobe-Japan1-UCS2", "82a0"],
    ["ETen-B5-H", "Adobe-CNS1-UCS2", "a4a4"],
    ["KSCms-UHC-H", "Adobe-Korea1-UCS2", "b0a1"],
    ["GBK-EUC-V", "Adobe-GB1-UCS2", "41"],
  ] as const) {
    const glyph = Number(entries(cjkCharacterMap(name)!).get(bytes));
    const character = entries(cjkCharacterMap(collection)!).get(glyph.toString(16))!;
    const label = { GB: "gbk", "90": "shift_jis", ET: "big5", KS: "euc-kr" }[name.slice(0, 2)]!;
    expect(String.fromCharCode(Number.parseInt(character, 16))).toBe(
      new TextDecoder(label).decode(Buffer.from(bytes, "hex")),
    );
    expect(glyph).toBeLessThan(0x10000);
  }
  expect(cjkCharacterMap("Identity-H")).toBeUndefined();
});

const { signal } = new AbortController();

/** The text and warnings of a page on which everything is drawn as a test says. */
const readDrawn = async (drawn: DrawnPage) => {
  const { text, warnings } = await loadPdf({ path: "/x", uri: "file:///x", bytes: drawnPdf(drawn) }, signal);
  return { text, warnings };
};

describe("what was written onto a finished page", () => {
  const at = (left: number, bottom: number) => `/Rect [${left} ${bottom} ${left + 100} ${bottom + 12}]`;
  const field = (kind: string, name: string, place: string, more = "") =>
    `/Subtype /Widget /FT /${kind} /T (${name}) ${place} ${more}`;
  const form = "/AcroForm << /Fields [] /DA (/F1 10 Tf) >>";
  const states = (on: string) => `/AP << /N << /${on} 3 0 R /Off 3 0 R >> >>`;

  test("filled fields are lines at their place, free text too, and signatures are named", async () => {
    const annotations = [
      field("Tx", "Name", at(150, 698), "/V (Alice)"),
      field("Tx", "f1", at(150, 658), "/TU (Postal address) /V (Main Street 1\\nTown)"),
      field("Tx", "Empty", at(150, 640)),
      field("Tx", "Secret", at(150, 640), "/V (never) /Ff 8192"),
      field("Btn", "Agreed", at(50, 620), `/V /Yes /AS /Yes ${states("Yes")}`),
      field("Btn", "Spam", at(50, 600), `/V /Off /AS /Off ${states("Yes")}`),
      field("Ch", "Country", at(150, 580), "/Ff 131072 /Opt [[(de) (Germany)] [(fr) (France)]] /V (de)"),
      field("Sig", "Applicant", at(50, 560)),
      `/Subtype /FreeText ${at(150, 678)} /Contents (Call her back.) /DA (/F1 10 Tf)`,
      `/Subtype /Text ${at(10, 678)} /Contents (A remark, as a comment is)`,
    ];
    const texts: DrawnPage["texts"] = [
      [50, 720, "Application form"],
      [50, 700, "Your name"],
      [50, 660, "Your address"],
      [50, 540, "Thank you."],
    ];
    expect(await readDrawn({ texts, annotations, catalog: form })).toEqual({
      text:
        "Application form\n\nYour name\n\nName: Alice\nCall her back.\n\nYour address\n\n" +
        "Postal address: Main Street 1 Town\nAgreed: ☒\nCountry: Germany\n\nThank you.",
      warnings: ["its signatures are not read (Applicant): a PDF reader shows who signed"],
    });
  });

  test("a form without any other text is read; one that nobody has filled says so, and not that it is a scan", async () => {
    const filled = [field("Tx", "Name", at(150, 698), "/V (Alice)")];
    expect((await readDrawn({ annotations: filled, catalog: form })).text).toBe("Name: Alice");
    const empty = [field("Tx", "Name", at(150, 698)), field("Tx", "City", at(150, 658))];
    await expect(readDrawn({ annotations: empty, catalog: form })).rejects.toMatchObject({
      code: "empty",
      message: "file:///x holds no text on its page: its form has 2 fields, and nobody has filled them",
    });
  });
});

describe("the order and the spaces of what is drawn", () => {
  const textOf = async (...texts: readonly (readonly [x: number, y: number, text: string])[]) =>
    (await readDrawn({ texts })).text;
  const bothColumns = (left: readonly string[], right: readonly string[]) =>
    left.flatMap((line, row) => [[60, 700 - 12 * row, line] as const, [320, 700 - 12 * row, right[row]!] as const]);

  test("cells that are drawn from right to left, or in any order, are separate and stand by their place", async () => {
    expect(
      await textOf(
        [300, 700, "Price"],
        [200, 700, "Weight"],
        [100, 700, "Size"],
        [100, 688, "M8"],
        [300, 688, "12"],
        [200, 688, "40 g"],
        [125, 676, "world"],
        [100, 676, "Hello"],
      ),
    ).toBe("Size Weight Price\nM8 40 g 12\nHello world");
  });

  test("columns that are drawn row by row are read one after the other", async () => {
    const left = [
      "The left column goes on for",
      "some lines and it has full",
      "sentences in it, which end",
      "somewhere further down. It",
      "is followed by more of the",
      "same kind of words here.",
    ];
    const right = [
      "While the right column says",
      "something else, in lines of",
      "its own that are as long as",
      "those of the left one and do",
      "not belong to them at all,",
      "whatever one might think.",
    ];
    const text = await textOf(
      [60, 730, "A title over both of the columns, wider than the one on the left"],
      ...bothColumns(left, right),
    );
    expect(text.split("\n").filter(Boolean).slice(1)).toEqual([...left, ...right]);
  });

  test("a column may have more lines than a call takes arguments", () => {
    const cell = (row: number, x: number): TextRun => ({
      text: "and so it goes on and on, line by line",
      transform: [10, 0, 0, 10, x, -12 * row],
      width: 200,
      endsLine: x > 100,
      rightToLeft: false,
      font: "plain",
    });
    const rows = 130_000;
    const lines = pageLines(Array.from({ length: rows }, (_, row) => [cell(row, 50), cell(row, 300)]).flat());
    expect([lines.length, lines[rows - 1]!.start, lines[rows]!.start]).toEqual([2 * rows, 50, 300]);
  });

  test("the rows of a table stay together, also of one with many words", async () => {
    const names = ["Self-locking nut", "Wing nut for covers", "Castle nut", "Hexagon nut, galvanised", "Cap nut"];
    const uses = [
      "Wheels and brakes",
      "Covers that are opened often",
      "Axles, with a cotter pin",
      "Frames and supports",
      "Handles and other visible ends",
    ];
    expect((await textOf(...bothColumns(names, uses))).split("\n")).toEqual(
      names.map((name, row) => `${name} ${uses[row]!}`),
    );
  });

  test("text that is printed several times to look bold appears once, however it is cut into pieces", async () => {
    // Widths of Helvetica, in thousandths of its size.
    const widths: Readonly<Record<string, number>> = { B: 667, o: 556, n: 556, d: 556 };
    let x = 100;
    const letters = Array.from("Bond", (letter) => {
      const twice = [x, x + 0.3].map((place) => [place, 700, letter] as const);
      x += widths[letter]! / 100;
      return twice;
    });
    expect(await textOf(...letters.flat())).toBe("Bond");
    const lines = Array.from({ length: 30 }, (_, row) => [100, 700 - 14 * row, `Line ${row}`] as const);
    const shadow = lines.map(([left, y, line]) => [left + 2.5, y - 1, line] as const);
    expect(await textOf(...lines, ...shadow)).toBe(await textOf(...lines));
    expect(await textOf([100, 700, "Hello"], [100, 700, "Hello world"], [100.3, 700, "Hello world"])).toBe(
      "Hello world",
    );
    expect(await textOf([100, 700, "no"], [111, 700, "no"], [125, 700, "no"])).toBe("nono no");
  });
});

test("a PDF whose encryption needs a password, or a certificate, says which", async () => {
  const encrypted = (more: string) =>
    pdfOf(
      ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 0 /Kids [] >>", `<< ${more} >>`],
      "/Encrypt 3 0 R /ID [<00> <00>]",
    );
  const load = async (bytes: Uint8Array) => loadPdf({ path: "/x", uri: "file:///x", bytes }, signal);
  const hex = "00".repeat(32);
  await expect(load(encrypted(`/Filter /Standard /V 1 /R 2 /O <${hex}> /U <${hex}> /P -4`))).rejects.toThrow(
    "file:///x is encrypted and opens only with a password, as the empty one was refused: save a copy that has none",
  );
  await expect(load(encrypted("/Filter /Adobe.PubSec /V 4"))).rejects.toThrow(
    "file:///x is encrypted in a way that is not known here (unknown encryption method): save a copy that is not encrypted",
  );
});

describe("a PDF with streams that unpack to any size", () => {
  const oversizeReason = (bytes: Uint8Array) => {
    const bounded = boundedPdf(bytes);
    return "reason" in bounded ? bounded.reason : undefined;
  };
  const withStream = (data: Uint8Array, dictionary: string) =>
    Buffer.concat([
      Buffer.from(`%PDF-1.4\n1 0 obj\n<< /Length ${data.length} ${dictionary} >>\nstream\r\n`),
      data,
      Buffer.from("\nendstream\nendobj\n"),
    ]);
  const longText = deflateSync(Buffer.concat([Buffer.from("BT ("), Buffer.alloc(51_000_000, "a")]));
  const reason = "has a stream that unpacks to more than 50 MB";

  test.each([
    ["packed once", longText, "/Filter /FlateDecode"],
    ["packed twice", deflateSync(longText), "/Filter [/FlateDecode /FlateDecode]"],
    ["whose filter is named elsewhere", longText, "/Filter 7 0 R"],
    ["that was cut off", longText.subarray(0, -100), "/Filter /FlateDecode"],
  ])("is refused before the reader sees a stream %s", async (_, data, dictionary) => {
    const bytes = withStream(data, dictionary);
    expect(bytes.length).toBeLessThan(60_000);
    await expect(async () => loadPdf({ path: "/x", uri: "file:///x", bytes }, signal)).rejects.toMatchObject({
      code: "too-large",
      message: `file:///x ${reason}: split it, or print it to a new PDF`,
    });
  });

  test("is read where those are pictures, smaller, or damaged", () => {
    expect(oversizeReason(withStream(longText, "/Subtype /Image /Filter /FlateDecode"))).toBeUndefined();
    expect(oversizeReason(withStream(deflateSync(Buffer.alloc(1_000_000)), "/Filter /FlateDecode"))).toBeUndefined();
    expect(oversizeReason(withStream(Buffer.from("x\x9cnothing"), "/Filter /FlateDecode"))).toBeUndefined();
    const both = [withStream(Buffer.from("q"), "/Subtype /Image"), withStream(longText, "/Filter /FlateDecode")];
    expect(oversizeReason(Buffer.concat(both))).toContain(reason);
  });

  test("loses a picture that unpacks too far, also where a page names it as its text", async () => {
    const packed = deflateSync(
      Buffer.concat([Buffer.from("BT /F1 10 Tf ("), Buffer.alloc(51_000_000, "a"), Buffer.from(") Tj ET")]),
    );
    const words = "BT /F1 10 Tf 50 700 Td (Words.) Tj ET";
    const pageOf = (contents: number) =>
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${contents} 0 R /Resources << /Font << /F1 7 0 R >> >> >>`;
    const bytes = pdfOf([
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Count 2 /Kids [3 0 R 4 0 R] >>",
      pageOf(5),
      pageOf(6),
      `<< /Type /XObject /Subtype /Image /Filter /FlateDecode /Length ${packed.length} >>\nstream\n${packed.toString("latin1")}\nendstream`,
      `<< /Length ${words.length} >>\nstream\n${words}\nendstream`,
      "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]);
    const before = Buffer.from(bytes);
    const { text, anchors } = await loadPdf({ path: "/x", uri: "file:///x", bytes }, signal);
    expect([text, anchors]).toEqual(["Words.", [{ start: 0, page: 2 }]]);
    expect(before.equals(bytes)).toBe(true);
  });
});
