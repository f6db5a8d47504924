import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { LoadError } from "../../../src/core/errors.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { createRunContext, type RunEvent } from "../../../src/core/pipeline.js";
import type { Document } from "../../../src/core/types.js";
import { shareOfWords } from "../../support/share-of-words.js";

const formats = fileURLToPath(new URL("../../../../shared/data/formats/", import.meta.url));
const absent = existsSync(formats) ? "" : ` (skipped: there is no ${formats})`;

const Entry = z.object({
  file: z.string(),
  must_contain: z.array(z.string()).default([]),
  expected: z.string().optional(),
  pages: z.int().nullish(),
  poppler_chars: z.number().optional(),
  document_xml_chars: z.number().optional(),
  text_chars: z.number().optional(),
});
const entries = existsSync(formats)
  ? z.array(Entry).parse(JSON.parse(readFileSync(join(formats, "manifest.json"), "utf8")))
  : [];

/** Unreadable files, and the words that say so. */
const unreadable: Readonly<Record<string, readonly [code: string, reason: string]>> = {
  "pdf/password.pdf": ["unreadable", "is encrypted and opens only with a password"],
  "pdf/fuzzed.pdf": ["unreadable", "is a damaged PDF"],
  "pdf/image-only.pdf": ["empty", "holds no text on its page"],
  "pdf/empty.pdf": ["empty", "holds no text on its page"],
};
/** Nothing is in it, so that there is nothing to say about it. */
const blank = ["docx/mammoth-empty.docx"];
const readable = entries.filter(({ file }) => !(file in unreadable) && !blank.includes(file));

/** Share of the expected words that must be there, where the expected text holds words that are not in the file. */
const fewerWords: Readonly<Record<string, number>> = {
  // LaTeX for its equations.
  "docx/equations.docx": 0.8,
  // An "x" for each box that is ticked.
  "docx/docx_checkboxes.docx": 0.87,
  // Cells over several columns are repeated in each.
  "html/example_04.html": 0.83,
  // The addresses of links, and the menus around the article.
  "html/wiki_duck.html": 0.47,
};

/** Files whose characters the manifest counts otherwise. */
const otherCount: Readonly<Record<string, string>> = {
  "pdf/right_to_left_01.pdf": "letters that share a glyph are counted twice",
  "docx/textbox.docx": "each text box is in it twice, for old and new programs",
  "docx/mammoth-text-box.docx": "each text box is in it twice, for old and new programs",
  "docx/word_tables.docx": "a cell over several rows is repeated in each",
  "html/example_08.html": "a cell over several rows is repeated in each",
  "docx/unit_test_headers_numbered.docx": "numbers that Word counts when it shows the file are not in it",
  "docx/page-breaks.docx": "the brackets in it are counted as entities",
  "docx/mammoth-footnotes.docx": "footnotes are not counted",
  "docx/mammoth-endnotes.docx": "endnotes are not counted",
  "html/wiki_duck.html": "menus are counted",
  "html/autogen-blog.html": "menus are counted",
  "html/utf-16.html": "menus are counted",
};

const folded = (text: string) => text.replace(/\s+/gu, " ");
const withoutLinks = (markdown: string) => markdown.replace(/\]\([^)]*\)/gu, "]").replace(/<!--.*?-->/gsu, "");

/** Characters that are not blank, without the marks of lists and tables that a loader adds. */
function characters(text: string): number {
  const bare = text.replace(/^\s*(?:[-#>:]+|\d+\.)\s|^[|\s-]+$|\||`/gmu, "");
  return Array.from(bare.replace(/\s/gu, "")).length;
}

describe.skipIf(absent !== "")(`files as people have them${absent}`, () => {
  const documents = new Map<string, Document>();
  /** Processor time for each document, including threads and the failures before it. */
  const processorMs = new Map<string, number>();
  const events: RunEvent[] = [];
  const context = createRunContext({ report: (event) => events.push(event) });
  // Documents are named by where their files really are, also where the shared folder is a link.
  let rootLength = 0;
  const nameOf = (uri: string) => uri.slice(rootLength + 1);
  const textOf = (file: string) => documents.get(file)!.text;

  beforeAll(async () => {
    rootLength = pathToFileURL(realpathSync(formats)).href.length;
    const source = readFolder(formats, {
      include: ["{pdf,docx,html,txt}/*"],
      exclude: ["**/*.expected.md"],
      timeoutMs: 100_000,
    });
    let before = process.cpuUsage();
    for await (const document of source.read(context)) {
      documents.set(nameOf(document.uri), document);
      processorMs.set(nameOf(document.uri), process.cpuUsage(before).user / 1000);
      before = process.cpuUsage();
    }
  }, 120_000);

  test("every file is read, and unreadable ones end as failures that say what to do", () => {
    expect([...documents.keys()].toSorted()).toEqual(readable.map(({ file }) => file).toSorted());
    expect(events.flatMap((event) => (event.type === "skipped" ? [nameOf(event.uri)] : []))).toEqual(blank);
    const failures = [...context.failures].map(([uri, error]) => [nameOf(uri), error] as const);
    expect(failures.map(([file]) => file).toSorted()).toEqual(Object.keys(unreadable).toSorted());
    for (const [file, error] of failures) {
      const [code, reason] = unreadable[file]!;
      expect(error).toBeInstanceOf(LoadError);
      expect(error).toMatchObject({ code, message: expect.stringContaining(reason) });
      expect(error.message).toMatch(/: (?:save|open|where)/);
    }
  });

  test("no file takes ten seconds of work", () => {
    // Processor time is limited, not time by the clock, which other programs on the machine would lengthen.
    for (const [file, ms] of processorMs) expect.soft(ms, file).toBeLessThan(10_000);
    expect(processorMs.size).toBe(readable.length);
  });

  test("the text of a file has the strings that the file is known to hold", () => {
    for (const { file, must_contain } of readable) {
      // The title of an article is no part of its text.
      const all = `${documents.get(file)!.title}\n${textOf(file)}`;
      for (const said of must_contain) expect.soft(folded(all), file).toContain(folded(said));
      expect.soft(textOf(file).includes("\u{fffd}"), file).toBe(false);
    }
  });

  test("a text has nearly all words that another program finds in the file", () => {
    for (const { file, expected } of readable.filter((entry) => entry.expected !== undefined)) {
      const other = withoutLinks(readFileSync(join(formats, expected!), "utf8"));
      expect.soft(shareOfWords(other, textOf(file)), file).toBeGreaterThan(fewerWords[file] ?? 0.9);
      expect.soft(shareOfWords(textOf(file), other), `${file}, the other way round`).toBeGreaterThan(0.88);
    }
  });

  test("a text has as many characters as other programs count: 15 in 100 or 40 more or less", () => {
    for (const { file, poppler_chars, document_xml_chars, text_chars } of readable) {
      if (file in otherCount) continue;
      const counted = poppler_chars ?? document_xml_chars ?? text_chars!;
      const off = Math.abs(characters(textOf(file)) - counted);
      expect
        .soft(off, `${file}: ${characters(textOf(file))} and ${counted}`)
        .toBeLessThan(Math.max(40, 0.15 * counted));
    }
  });

  test("a PDF has an anchor at the start of every page with text", () => {
    for (const { file, pages } of readable.filter((entry) => typeof entry.pages === "number")) {
      const { anchors, metadata } = documents.get(file)!;
      expect.soft(metadata, file).toMatchObject({ pages });
      expect
        .soft(
          anchors!.flatMap(({ page }) => page ?? []),
          file,
        )
        .toEqual(Array.from({ length: pages! }, (_, page) => page + 1));
    }
  });

  const headings = (file: string) =>
    documents
      .get(file)!
      .anchors!.flatMap(({ start, heading }) =>
        heading === undefined ? [] : [[heading, textOf(file).slice(start).split("\n\n", 1)[0]]],
      );

  test("headings of a PDF are recognised by size and have anchors; running heads appear once", () => {
    expect(headings("pdf/pdflatex-outline.pdf").slice(0, 3)).toEqual([
      [1, "Contents"],
      [1, "1 Foo"],
      [1, "2 Bar"],
    ]);
    const guide = "pdf/maint-guide.zh-cn.pdf";
    expect(headings(guide)).toEqual(
      expect.arrayContaining([
        [1, "Chapter 4"],
        [1, "debian 目录中的必需内容"],
        [3, "4.4 rules"],
        [4, "4.4.2 默认的 rules 文件"],
      ]),
    );
    expect(textOf(guide)).not.toMatch(/^Debian 新维护者手册 \d+ \/ 57$/mu);
    expect(textOf(guide).match(/^Debian 新维护者手册 [ivx]+$/gmu)).toEqual(["Debian 新维护者手册 ii"]);
  });

  test("headings of a PDF in the text's size are recognised by bold letters", () => {
    expect(headings("pdf/2305.03393v1-pg9.pdf")).toEqual([
      [2, "5.1 Hyper Parameter Optimization"],
      [2, "5.2 Quantitative Results"],
    ]);
    expect(headings("pdf/multi_page.pdf").slice(0, 3)).toEqual([
      [1, "The Evolution of the Word Processor"],
      [1, "Pre-Digital Era (19th - Early 20th Century)"],
      [1, "The Birth of Word Processing (1960s - 1970s)"],
    ]);
    expect(headings("pdf/multi_page.pdf")).toHaveLength(11);
    expect(headings("pdf/list-item-example.pdf").map(([, heading]) => heading)).toEqual([
      "Module One - Introduction to Product Development and Quality Assurance",
      "Module Three: Step 2: Design and Prototyping",
      "Module Two: Initial Planning and Step 1: Concept Development",
    ]);
    // The heads of tables, the labels in a drawing and those of a form.
    expect(headings("pdf/google-doc-document.pdf")).toEqual([[1, "Example document"]]);
    expect(headings("pdf/amt_handbook_sample.pdf")).toEqual([]);
    expect(headings("pdf/libreoffice-form.pdf")).toEqual([[1, "Example for a Form"]]);
    expect(headings("pdf/multicolumn.pdf").flat()).not.toContainEqual(expect.stringContaining("Country"));
  });

  test("a font that is not in the file is read by the encoding it names", () => {
    expect(textOf("pdf/noembed-sjis.pdf")).toBe("あいうえお");
    // Glyphs by number, of an encoding that only the font itself could tell.
    expect(folded(textOf("pdf/noembed-identity.pdf"))).toBe("ABC 123 1");
  });

  test("no character of a Chinese PDF is a look-alike radical", () => {
    expect(textOf("pdf/maint-guide.zh-cn.pdf")).not.toMatch(/[\u2e80-\u2fd5]/u);
  });

  test("words that a line end cut in two are whole again, and sentences run on", () => {
    expect(textOf("pdf/code_and_formula.pdf")).toContain("sed diam nonumy eirmod tempor invidunt ut labore");
    expect(textOf("pdf/amt_handbook_sample.pdf")).toContain("the all-metal types; and the elastic stop nut");
    expect(textOf("pdf/maint-guide.zh-cn.pdf")).toContain("所以在一些重要的话题上会对每个步骤都做详细的解释。");
  });

  test("rows of a table and lines of code keep their ends", () => {
    expect(textOf("pdf/all-number-table.pdf")).toContain("200.01 1\n400.01 3\n600.01 5");
    expect(textOf("pdf/code_and_formula.pdf")).toContain("return a + b ;\n}\n");
  });

  test("headings, lists, tables, footnotes, code and equations of Word documents keep their shape", () => {
    expect(textOf("docx/unit_test_headers.docx")).toContain("# Test Document\n\n# Section 1\n");
    expect(textOf("docx/word_tables.docx")).toContain("| Header 0.0 | Header 0.1 | Header 0.2 |\n| --- |");
    expect(textOf("docx/mammoth-footnotes.docx")).toBe("Ouch[1].[2]\n\n1. A tachyon walks into a bar.\n2. Fin.");
    expect(textOf("docx/docx_code_blocks.docx")).toContain("```\nimport sys\nprint(sys.argv)\n```");
    expect(textOf("docx/docx_checkboxes.docx")).toContain("☒ Design");
    expect(textOf("docx/equations.docx")).toContain("E=mc^2 and F=ma are physics formulas");
    expect(textOf("docx/equations.docx")).toMatch(/f\(x\)=a_0\+∑/);
  });

  test("one text in five encodings is the same text, except for white space", () => {
    const texts = readable
      .filter(({ file }) => file.startsWith("txt/fake-text"))
      .map(({ file }) => folded(textOf(file)).trim());
    expect([texts.length, new Set(texts).size]).toEqual([5, 1]);
  });

  test("a Chinese page is the same in GB18030 and in UTF-8", () => {
    expect(textOf("html/debian-faq-basic-defs.zh-cn.gb18030.html")).toBe(
      textOf("html/debian-faq-basic-defs.zh-cn.html"),
    );
  });
});
