import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, test, vi } from "vitest";
import type { LoadedText, Loader } from "../../../src/load/formats/loader.js";
import { loadAsciidoc } from "../../../src/load/formats/markup/asciidoc.js";
import { loadDocumentationXml } from "../../../src/load/formats/markup/documentation-xml.js";
import { loadLatex } from "../../../src/load/formats/markup/latex.js";
import { loadMdx } from "../../../src/load/formats/markup/mdx.js";
import { loadNotebook } from "../../../src/load/formats/markup/notebook.js";
import { loadYaml, openApiOfJson } from "../../../src/load/formats/markup/openapi.js";
import { loadOrg } from "../../../src/load/formats/markup/org.js";
import { loadRestructuredText } from "../../../src/load/formats/markup/restructured-text.js";
import { loadSubtitles } from "../../../src/load/formats/markup/subtitles.js";
import { placeInDocument } from "../../../src/text/blocks/places.js";
import { shareOfWords } from "../../support/share-of-words.js";

const { signal } = new AbortController();
const fixtures = fileURLToPath(new URL("../../fixtures/markup/", import.meta.url));
const readme = readFileSync(new URL("../../../src/load/formats/markup/README.md", import.meta.url), "utf8");

const documentationXml: Loader = (file) => loadDocumentationXml(file)!;

/** The reader of each folder of fixtures. */
const loaders: Readonly<Record<string, { readonly load: Loader; readonly name: string }>> = {
  rst: { load: loadRestructuredText, name: "reStructuredText" },
  asciidoc: { load: loadAsciidoc, name: "AsciiDoc" },
  org: { load: loadOrg, name: "Org" },
  docbook: { load: documentationXml, name: "DocBook" },
  dita: { load: documentationXml, name: "DITA" },
  latex: { load: loadLatex, name: "LaTeX" },
  mdx: { load: loadMdx, name: "MDX" },
  subtitles: { load: loadSubtitles, name: "Subtitles" },
  notebooks: { load: loadNotebook, name: "Jupyter" },
};

const filesOf = (folder: string) => readdirSync(join(fixtures, folder)).filter((name) => !name.endsWith(".txt"));

async function load(loader: Loader, path: string, source: string | Uint8Array): Promise<LoadedText> {
  const bytes = typeof source === "string" ? new TextEncoder().encode(source) : source;
  return loader({ path, uri: pathToFileURL(path).href, bytes }, signal);
}

/** Expects the text of a hostile file to be no more than a few times its size. */
async function expectBounded(loader: Loader, hostile: Readonly<Record<string, string>>) {
  for (const [name, source] of Object.entries(hostile)) {
    const { text } = await load(loader, "/x", source);
    expect.soft(text.length, name).toBeLessThan(8 * source.length + 100);
  }
  const rows = load(loader, "/x", "a b\n".repeat(1_000_000));
  await expect(rows).rejects.toMatchObject({ code: "too-large", message: expect.stringContaining("split it") });
}

const loadFixture = (folder: string, name: string) => {
  const path = join(fixtures, folder, name);
  return load(loaders[folder]!.load, path, readFileSync(path));
};

describe.each(Object.entries(loaders))("%s files as people have them", (folder, { name }) => {
  test("hold the words that another program finds in them, and few others, as the README says", async () => {
    const shares = await Promise.all(
      filesOf(folder).map(async (file) => {
        const { text } = await loadFixture(folder, file);
        const other = readFileSync(join(fixtures, folder, `${file}.txt`), "utf8");
        return { file, recall: shareOfWords(other, text), precision: shareOfWords(text, other) };
      }),
    );
    expect(shares.length).toBeGreaterThanOrEqual(8);
    for (const { file, recall, precision } of shares) {
      expect.soft(recall, `${file}: words found`).toBeGreaterThan(0.7);
      expect.soft(precision, `${file}: words expected`).toBeGreaterThan(0.7);
    }
    const mean = (values: readonly number[]) =>
      (values.reduce((sum, value) => sum + value, 0) / values.length).toFixed(2).replace(/^0/, "");
    const figures = `| ${mean(shares.map(({ recall }) => recall))} | ${mean(shares.map(({ precision }) => precision))} |`;
    const row = readme.split("\n").find((line) => line.startsWith(`| ${name} `));
    expect(row?.replace(/ +/g, " ")).toContain(figures);
  });

  test("have an anchor for each block, in order, whose line in the file has the first word of it", async () => {
    for (const file of filesOf(folder)) {
      const { text, anchors = [] } = await loadFixture(folder, file);
      const lines = readFileSync(join(fixtures, folder, file), "utf8").split("\n");
      // The words of a cell stand some lines below the line that names its kind.
      const within = folder === "notebooks" ? 1000 : 2;
      expect.soft(anchors.length, file).toBeGreaterThan(0);
      expect(anchors.map(({ start }) => start)).toEqual(anchors.map(({ start }) => start).toSorted((a, b) => a - b));
      const wrong = anchors.filter(({ start, line }) => {
        const [word] =
          /[\p{L}\p{N}]{2,}/u.exec(
            text
              .slice(start)
              .replace(/^```.*\n/, "")
              .split("\n", 1)[0]!,
          ) ?? [];
        return (
          word !== undefined &&
          !lines.slice(line! - 1, line! + within).some((each) => each.toLowerCase().includes(word.toLowerCase()))
        );
      });
      // The words of a version note and the like stand in no file.
      expect.soft(wrong.length / anchors.length, file).toBeLessThan(0.3);
    }
  });
});

describe("reStructuredText", () => {
  const rst = async (source: string) => (await load(loadRestructuredText, "/x.rst", source)).text;

  test("no file is read that a directive names, and comments are left out", async () => {
    const { text } = await loadFixture("rst", "client.rst");
    expect(text).not.toMatch(/passwd|root:|secrets\.txt|nobody reads|neither/);
    expect((await loadFixture("rst", "tables.rst")).text).not.toContain("alert");
  });

  test("titles by the order of their underlines, literals, roles, and code are rendered as meant", async () => {
    expect(
      await rst(
        "Guide\n=====\n\nSee :func:`~a.b.run` or `the page <https://x>`_ and ``--wait``::\n\n  run()\n\nSub\n---\n\n.. code-block:: python\n   :linenos:\n\n   print(1)\n",
      ),
    ).toBe("# Guide\n\nSee `run` or the page and `--wait`:\n\n```\nrun()\n```\n\n## Sub\n\n```python\nprint(1)\n```");
  });

  test("cells of a grid over several rows and columns stand once", async () => {
    const { text } = await loadFixture("rst", "client.rst");
    expect(text).toContain("| Option | Default | Meaning |\n| --- | --- | --- |");
    expect(text).toContain("| wait | 30 | Seconds to wait for a free berth. |");
    expect(text).toContain("| South pier | see the chart above |");
  });

  test("hostile files are read to the end, and none of their words is lost or multiplied", async () => {
    const hostile: Readonly<Record<string, string>> = {
      "marks that never end": "*a ``b `c |d ".repeat(20_000),
      "nested quotations": Array.from({ length: 2000 }, (_, depth) => `${" ".repeat(depth)}word\n`).join("\n"),
      "nested lists": Array.from({ length: 2000 }, (_, depth) => `${" ".repeat(2 * depth)}- word\n`).join("\n"),
      "a grid of many corners": `+${"-+".repeat(20_000)}\n${`|${"a|".repeat(20_000)}\n`.repeat(20)}`,
      "a table without an end": `===  ===\n${"a    b\n".repeat(50_000)}`,
      "directives in directives": Array.from({ length: 500 }, (_, depth) => `${"   ".repeat(depth)}.. note::\n`).join(
        "\n",
      ),
      "a substitution of itself": ".. |a| replace:: |a| |a|\n\n|a|\n",
      "cut off in a directive": ".. list-table::\n   :header-rows: 1\n\n   * - a",
    };
    await expectBounded(loadRestructuredText, hostile);
  });
});

describe("AsciiDoc", () => {
  test("an include is left out, and no warning is printed", async () => {
    const { text, title, metadata } = await loadFixture("asciidoc", "guide.adoc");
    expect(text).not.toMatch(/passwd|root:|Only on GitHub|nobody reads/);
    expect({ title, metadata }).toEqual({ title: "Harbour Client", metadata: { author: "Rosa Lind" } });
    expect(text).toContain("Warning\n\nLow water\n\nDo not enter at ebb.");
    expect(text).toContain("| Length | Fee per day |\n| --- | --- |\n| up to 20 m | 35 euros |");
  });

  test("hostile files are read to the end or refused before Asciidoctor sees them", async () => {
    await expectBounded(loadAsciidoc, {
      "links that never end": "http://a[".repeat(2000),
      "includes of itself": "include::x.adoc[]\n".repeat(200),
      "attributes of attributes": `:a0: x\n${Array.from({ length: 60 }, (_, at) => `:a${at + 1}: {a${at}}{a${at}}`).join("\n")}\n`,
      "an attribute of itself": ":a: {a}{a}\n\n{a}",
      "cut off in a table": "|===\n|a",
      "blocks in blocks": Array.from({ length: 60 }, (_, depth) => "=".repeat(depth + 4)).join("\n"),
      "lists in lists": Array.from({ length: 60 }, (_, depth) => `${"*".repeat(depth + 1)} a`).join("\n"),
      rows: `|===\n${"|a |b\n".repeat(2000)}|===`,
    });
    const refused = (source: string) => load(loadAsciidoc, "/x.adoc", source);
    await expect(refused("|===\n999999999*|a\n|===\n")).rejects.toMatchObject({ code: "too-large" });
    await expect(refused('[cols="100000000*"]\n|===\n|a\n|===\n')).rejects.toMatchObject({ code: "too-large" });
    const deep = Array.from({ length: 200 }, (_, depth) => `${"*".repeat(depth + 1)} a`).join("\n");
    await expect(refused(deep)).rejects.toMatchObject({
      code: "too-large",
      message: expect.stringContaining("200 ways"),
    });
  });
});

describe("Org", () => {
  test("what is for Org alone is left out, and includes are not followed", async () => {
    const { text, title, metadata } = await loadFixture("org", "notes.org");
    expect(text).not.toMatch(/passwd|root:|Effort|CLOCK|SCHEDULED|nobody reads|alert|Not for readers/);
    expect({ title, metadata }).toEqual({ title: "Notes on the harbour", metadata: { author: "Rosa Lind" } });
    expect(text).toContain("- ☒ ask for the depth\n- ☐ pay the fee");
    expect(text).toContain("```emacs-lisp\n(defun tide (day)\n  * (ebb day))\n```");
    expect(text).toContain("| Day | High water | Low water |\n| --- | --- | --- |\n| Monday | 04:12 | 10:25 |");
  });

  test("hostile files are read to the end, and none of their words is lost or multiplied", async () => {
    await expectBounded(loadOrg, {
      "blocks that never end": "#+BEGIN_QUOTE\n".repeat(40_000),
      "blocks in blocks": "#+BEGIN_A\n".repeat(10_000) + "#+END_A\n".repeat(10_000),
      "empty blocks": "#+BEGIN_A\n#+END_A\n".repeat(40_000),
      "marks that never end": " /a =b ~c _d +e *f [[g".repeat(20_000),
      "drawers that never end": ":a:\n".repeat(50_000),
      "lists in lists": Array.from({ length: 5000 }, (_, depth) => `${" ".repeat(2 * depth)}- a\n`).join(""),
      "an include of itself": '#+INCLUDE: "x.org"\n'.repeat(1000),
      "many columns": `|${"a|".repeat(20_000)}`,
      "cut off in code": "#+BEGIN_SRC a\nword",
    });
  });
});

describe("DocBook and DITA", () => {
  test("no DTD, entity of another file or inclusion is followed", async () => {
    const { text, title, metadata } = await loadFixture("docbook", "guide.xml");
    expect(text).not.toMatch(/passwd|root:|installing/);
    expect({ title, metadata }).toEqual({
      title: "Harbour Client Guide",
      metadata: { author: "Rosa Lind", language: "en" },
    });
    expect(text).toContain("All about Harbour Client 2.4.");
    expect(text).toContain('```toml\n[harbour]\nurl = "https://harbour.example/&x;"\n```');
    expect(text).toContain("| Length | Fee per day |\n| --- | --- |");
    expect((await loadFixture("dita", "lock.dita")).text).not.toContain("secrets");
  });

  test("XML of other kinds is not theirs", () => {
    const bytes = new TextEncoder().encode("<project><title>x</title></project>");
    expect(loadDocumentationXml({ path: "/x.xml", uri: "file:///x.xml", bytes })).toBeUndefined();
  });

  test("entities that multiply are refused, and those within themselves end", async () => {
    const doctype = (entities: string) =>
      `<!DOCTYPE article PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN" "x" [${entities}]>`;
    const laughs = Array.from({ length: 20 }, (_, at) => `<!ENTITY a${at + 1} "${`&a${at};`.repeat(10)}">`).join("");
    const bomb = `${doctype(`<!ENTITY a0 "ha">${laughs}`)}<article><para>&a7;</para></article>`;
    await expect(load(documentationXml, "/x.xml", bomb)).rejects.toMatchObject({ code: "too-large" });
    const loop = `${doctype('<!ENTITY a "word &b;"><!ENTITY b "word &a;">')}<article><para>&a;</para></article>`;
    expect((await load(documentationXml, "/x.xml", loop)).text).toMatch(/^(?:word ?){1,20}$/);
  });

  test("hostile files are read to the end, and none of their words is lost or multiplied", async () => {
    const hostile: Readonly<Record<string, string>> = {
      "sections in sections": `<article>${"<section>".repeat(5000)}word`,
      "lists in lists": `<article>${"<itemizedlist><listitem><para>a</para>".repeat(2000)}`,
      "cut off": "<article><title>A",
      "a million cells": `<article><informaltable><tgroup><tbody>${"<row><entry>a</entry></row>".repeat(20_000)}`,
      "a cell of many rows":
        '<article><informaltable><tgroup><row><entry morerows="999999999">a</entry><entry>b</entry></row></tgroup></informaltable></article>',
      "comments without an end": "<article><!-- ".repeat(5000),
    };
    for (const [name, source] of Object.entries(hostile)) {
      const { text } = await load(documentationXml, "/x.dbk", source);
      expect.soft(text.length, name).toBeLessThan(8 * source.length + 100);
    }
  });
});

describe("Jupyter notebooks", () => {
  const notebook = async (cells: unknown, more = {}) =>
    load(loadNotebook, "/x.ipynb", JSON.stringify({ cells, ...more }, null, 1));

  test("cells, their code and what it printed are read, with the line of each cell", async () => {
    const { text, anchors, title, metadata } = await loadFixture("notebooks", "tides.ipynb");
    expect({ title, metadata }).toEqual({ title: "Tides of Hamburg", metadata: { language: "python" } });
    expect(text).toContain(
      "```python\nprint('x')\n```".replace("print('x')", "heights = [3.6, 3.5, 3.9]\nprint(max(heights))") +
        "\n\n```\n3.9\n```",
    );
    const lines = readFileSync(join(fixtures, "notebooks/tides.ipynb"), "utf8").split("\n");
    expect(anchors?.map(({ line }) => lines[line! - 1]!.trim())).toEqual(
      ["markdown", "code", "markdown", "code", "code"].map((kind) => `"cell_type": "${kind}",`),
    );
    expect((await loadFixture("notebooks", "colours.ipynb")).text).toContain("```\nred alert\n```");
    expect((await loadFixture("notebooks", "colours.ipynb")).text).toContain("```\nstep 2\n```");
  });

  test("version 3 of the format is read, and pictures within a cell are left out", async () => {
    const old = await load(
      loadNotebook,
      "/x.ipynb",
      JSON.stringify({
        worksheets: [
          {
            cells: [
              { cell_type: "heading", level: 2, source: "Old" },
              { cell_type: "code", input: ["1"], outputs: [] },
            ],
          },
        ],
      }),
    );
    expect(old.text).toBe("## Old\n\n```\n1\n```");
    const { text } = await notebook([{ cell_type: "markdown", source: "![Plan](data:image/png;base64,AAAA) of it" }]);
    expect(text).toBe("Plan of it");
  });

  test("hostile notebooks are bounded, and what is none is refused with the reason", async () => {
    const endless = await notebook([
      { cell_type: "code", source: "x", outputs: [{ output_type: "stream", text: "a\n".repeat(1_000_000) }] },
    ]);
    expect(endless.text.length).toBeLessThan(20_100);
    const odd = await notebook([
      { cell_type: "code", source: 7, outputs: "x" },
      { cell_type: "markdown", source: ["``` `".repeat(50_000)] },
    ]);
    expect(odd.text.length).toBe(250_000);
    expect(
      (await notebook(Array.from({ length: 50_000 }, () => ({ cell_type: "raw", source: "a" })))).text.length,
    ).toBe(149_998);
    for (const source of ['{"cells": [', "[]", "7", '{"cells": 7}', "[".repeat(100_000)]) {
      await expect(load(loadNotebook, "/x.ipynb", source)).rejects.toMatchObject({ code: "unreadable" });
    }
  });
});

describe("LaTeX", () => {
  test("a cell over several columns has its words alone, also below rules", async () => {
    const rows = [
      "\\hline\n\\multicolumn{2}{c}{Both} & One \\\\",
      "\\cline{1-2} \\multicolumn{2}{|c|}{Under} & Two \\\\",
      "\\toprule\\cmidrule(lr){1-2}\n\\rowcolor[gray]{0.9}\\multicolumn{2}{l}{Grey} & Three \\\\",
      "A & \\multicolumn{2}{c}{Last} \\\\",
    ];
    const { text } = await load(loadLatex, "x.tex", `\\begin{tabular}{lcc}\n${rows.join("\n")}\n\\end{tabular}`);
    expect(text.match(/\w+/g)).toEqual(["Both", "One", "Under", "Two", "Grey", "Three", "A", "Last"]);
  });

  const latex = async (source: string) => (await load(loadLatex, "/x.tex", source)).text;

  test("sections, lists, tables and own macros are rendered as meant, and no other file is read", async () => {
    const { text, title, metadata } = await loadFixture("latex", "paper.tex");
    expect({ title, metadata }).toEqual({
      title: "Berth Planning with Harbour Client",
      metadata: { author: "Rosa Lind, Jan Melén" },
    });
    expect(text).not.toMatch(/passwd|root:|rarely said|includegraphics|harbour\.png/);
    expect(text).toContain("The fee is 35 euros for twenty metres, or 70 euros for forty.");
    expect(text).toContain("| Length | Fee |\n| --- | --- |\n| up to 20 m | 35 |\n| see the office |  |");
    expect(text).toContain("- first point\n- second point\n  1. nested");
    expect(text).toContain("```\n$ tide --day Monday\n04:12 high\n```");
    expect(await latex("\\section{A}\nOne \\emph{two} 50\\% of \\verb|x_y| --- ``q''. % no\n\nNext.")).toBe(
      "## A\n\nOne two 50% of `x_y` — “q”.\n\nNext.",
    );
  });

  test("macros that multiply are refused, and those of themselves end", async () => {
    const bomb = "\\def\\a{ha\\b\\b\\b\\b\\b\\b\\b\\b}\\def\\b{\\a\\a\\a\\a\\a\\a\\a\\a}\\a";
    await expect(latex(bomb)).rejects.toMatchObject({ code: "too-large", message: expect.stringContaining("20000") });
    await expect(latex(`\\def\\a{${"x".repeat(100_000)}}${"\\a ".repeat(50_000)}`)).rejects.toMatchObject({
      code: "too-large",
    });
    expect(await latex("\\def\\a{\\a}\\a word")).toBe("word");
  });

  test("hostile files are read to the end, and none of their words is lost or multiplied", async () => {
    await expectBounded(loadLatex, {
      "groups that never end": "{".repeat(50_000),
      "groups in groups": `${"{".repeat(10_000)}a${"}".repeat(10_000)}`,
      "environments that never end": "\\begin{a}".repeat(10_000),
      "ends of others": `${"\\begin{a}".repeat(10_000)}${"\\end{b}".repeat(10_000)}`,
      "formulas that never end": "\\(".repeat(50_000),
      dollars: "$".repeat(50_001),
      "verbatim that never ends": "\\begin{verbatim}".repeat(10_000) + "\\verb|".repeat(10_000),
      "lists in lists": "\\begin{itemize}\\item a".repeat(2000) + "\\end{itemize}".repeat(2000),
      "cut off in a table": "\\begin{tabular}{ll}\na & b \\\\ \\section{",
      "an input of itself": "\\input{x}".repeat(5000),
    });
  });
});

describe("MDX", () => {
  test("imports, exports, comments and tags are left out, titles of components and code stay", async () => {
    const { text, title, metadata } = await loadFixture("mdx", "intro.mdx");
    expect(text).not.toMatch(/import|nobody reads|<Card/);
    expect(text).toContain("Install\n  Takes a minute.");
    expect({ title, metadata }).toEqual({ title: "Harbour Client", metadata: { title: "Harbour Client" } });
    expect((await loadFixture("mdx", "tabs.mdx")).text).toContain("```bash\nimport x # no import\n<Tag>\n```");
    expect((await loadFixture("mdx", "inline.mdx")).text).not.toContain("SECRET");
  });

  test("hostile files are read to the end, and none of their words is lost or multiplied", async () => {
    await expectBounded(loadMdx, {
      "tags that never end": "<a b={".repeat(5000),
      "tags in tags": "<a>".repeat(50_000),
      braces: "{".repeat(50_000),
      attributes: `<a ${"b ".repeat(20_000)}`,
      "comments that never end": "{/*\n".repeat(20_000),
      backquotes: "`a ``b ".repeat(20_000),
    });
  });
});

describe("Subtitles", () => {
  test("what is said has its time and line as anchors, and is said once", async () => {
    const { text, anchors } = await loadFixture("subtitles", "talk.vtt");
    expect(text.split("\n").slice(0, 2)).toEqual([
      "Rosa: Welcome to the harbour.",
      "Rosa: Today we speak about tides,",
    ]);
    expect(text).not.toMatch(/not said|cue/);
    expect(anchors?.slice(0, 2)).toEqual([
      { start: 0, line: 10, seconds: 0.5 },
      { start: 30, line: 14, seconds: 3.5 },
    ]);
    expect((await loadFixture("subtitles", "short-times.vtt")).anchors?.map(({ seconds }) => seconds)).toEqual([
      1, 3599,
    ]);
    const rolling = "1\n00:00:01,000 --> 00:00:02,000\none\n\n2\n00:00:02,000 --> 00:00:03,000\none\ntwo\n";
    expect((await load(loadSubtitles, "/x.srt", rolling)).text).toBe("one\ntwo");
    expect(placeInDocument({ text, anchors: anchors! }, 31)).toEqual({ line: 14, seconds: 3.5 });
  });

  test("characters that are written by their names or numbers are read as themselves", async () => {
    const cue = "WEBVTT\n\n00:01.000 --> 00:02.000\n&lrm;It&#39;s a caf&eacute; &lt;b&gt; &amp;amp; R&D; &unknown;\n";
    expect((await load(loadSubtitles, "/x.vtt", cue)).text).toBe("It's a café <b> &amp; R&D; &unknown;");
  });

  test("hostile files are read to the end, and none of their words is lost or multiplied", async () => {
    await expectBounded(loadSubtitles, {
      "times alone": "00:00:01,000 --> 00:00:02,000\n".repeat(20_000),
      "tags that never end": `00:00:01,000 --> 00:00:02,000\n${"<v <i {\\\\".repeat(20_000)}`,
      "cut off": "1\n00:00:01,000 -->",
      "no times": "WEBVTT\n\nword",
    });
  });
});

describe("OpenAPI", () => {
  const folder = join(fixtures, "openapi");
  const read = async (name: string) => {
    const source = readFileSync(join(folder, name), "utf8");
    return name.endsWith(".json") ? openApiOfJson(source)! : load(loadYaml, join(folder, name), source);
  };

  test("each operation is a section with its parameters, fields and replies, on its line in the file", async () => {
    const { text, title, metadata, anchors } = await read("harbour.yaml");
    expect({ title, metadata }).toEqual({ title: "Harbour API", metadata: { version: "2.4" } });
    expect(text).toContain(
      "## GET /berths: List berths\n\nOperation `listBerths`.\n\nParameters:\n\n| Name | In | Type | Description |\n| --- | --- | --- | --- |\n| day | query, required | string | Day of arrival. |\n| limit | query | integer | At most as many. |\n\nResponses:\n\n- 200: It worked.",
    );
    expect(text).toContain("- `depth` (number): Metres at ebb.");
    expect(text).toContain("## DELETE /berths/{id}: Cancel\n\nOperation `cancel`, deprecated.");
    const lines = readFileSync(join(folder, "harbour.yaml"), "utf8").split("\n");
    expect(anchors?.slice(1).map(({ line }) => lines[line! - 1]!.trim())).toEqual(["get:", "post:", "delete:"]);
    expect((await read("harbour.json")).text).toBe(text);
    expect((await read("compact.json")).text).toBe(text);
  });

  test("every file is read, references in circles and to other files are left out", async () => {
    for (const name of filesOf("openapi"))
      expect.soft((await read(name)).text, name).toMatch(/^# .+[\s\S]*\n## [A-Z]+ \//);
    expect((await read("circle.yaml")).text).toContain("## GET /a: Circle");
    expect((await read("all-of.json")).text).toContain(
      "- `crew` (array of object)\n  - `role` (string: captain, pilot)",
    );
    expect((await load(loadYaml, "/x.yaml", "openapi: [\n")).mediaType).toBe("text/x-yaml");
    expect((await load(loadYaml, "/x.yaml", "services:\n  web: 1\n")).text).toBe("services:\n  web: 1\n");
    expect(openApiOfJson('{"a": 1}')).toBeUndefined();
  });

  test("a file of one line with many paths is searched for lines once, not for each path", () => {
    const paths = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`/berths/${at}`, { get: {} }]));
    const source = JSON.stringify({ openapi: "3.0.0", paths });
    const indexOf = Reflect.get(String.prototype, "indexOf");
    let searched = 0;
    const counted = vi.spyOn(String.prototype, "indexOf").mockImplementation(function (
      this: string,
      sought,
      start = 0,
    ) {
      const found = indexOf.call(this, sought, start);
      if (sought === "\n" && this.length === source.length) searched += (found < 0 ? this.length : found) - start;
      return found;
    });
    const { anchors } = openApiOfJson(source)!;
    counted.mockRestore();
    expect(anchors).toHaveLength(2001);
    expect(searched).toBeLessThanOrEqual(source.length);
  });

  test("schemas that multiply by references, and aliases that do, stay bounded", async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [`p${at}`, { $ref: "#/components/schemas/A" }]),
    );
    const get = { responses: { 200: { content: { j: { schema: { $ref: "#/components/schemas/A" } } } } } };
    const api = { openapi: "3.0.0", paths: { "/a": { get } }, components: { schemas: { A: { properties } } } };
    const { text } = openApiOfJson(JSON.stringify(api))!;
    expect(text.split("\n").length).toBeLessThan(20_100);
    const laughs = Array.from({ length: 12 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(10)}]`).join(
      "\n",
    );
    const bomb = (shared: string) =>
      `openapi: 3.0.0\na0: &a0 x\n${laughs}\npaths: {/a: {get: {summary: S, requestBody: ${shared}, parameters: ${shared}, x: ${shared}}}}\n`;
    expect((await load(loadYaml, "/x.yaml", bomb("{}"))).text).toBe("# API\n\n## GET /a: S");
    expect((await load(loadYaml, "/x.yaml", bomb("*a12"))).text.length).toBeLessThan(10_000);
  });
});
