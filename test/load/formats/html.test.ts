import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { loadHtml } from "../../../src/load/formats/html/html.js";
import { placeInDocument } from "../../../src/text/blocks/places.js";

const load = async (html: string | Uint8Array) =>
  loadHtml({ bytes: typeof html === "string" ? Buffer.from(html) : html, path: "/x.html", uri: "file:///x.html" });
const textOf = async (html: string) => (await load(html)).text;

describe("loadHtml", () => {
  test("headings, paragraphs, lists, quotes and code keep their shape", async () => {
    const html = `<h1>Guide</h1><p>First   <b>bold</b>
      line<br>second &amp; <code>npm ci</code></p>
      <ul><li>one<ul><li>nested</ul><li><p>two</p><pre>a
  b</pre></ul><ol start=3><li>three<li>four</ol>
      <blockquote><p>Said.</p><p>Twice.</p></blockquote>
      <pre><code class="language-js">if (a &lt; b) {
  \`x\`;
}
</code></pre><dl><dt>term<dd>meaning</dl>`;
    expect(await textOf(html)).toBe(`# Guide

First bold line
second & \`npm ci\`

- one
  - nested
- two

  \`\`\`
  a
    b
  \`\`\`

3. three
4. four

> Said.
>
> Twice.

\`\`\`js
if (a < b) {
  \`x\`;
}
\`\`\`

term
: meaning`);
  });

  test("a table becomes rows; a cell over several rows is repeated in each", async () => {
    const html = `<table><caption>Sales</caption><tr><th>Year<th>Month<th colspan=2>Sum</tr>
      <tr><td rowspan=2>2025<td>May<td>1|2<td>x</tr><tr><td>June<td><p>3</p><p>4</p></tr><tr></tr></table>`;
    expect(await textOf(html)).toBe(`Sales

| Year | Month | Sum |  |
| --- | --- | --- | --- |
| 2025 | May | 1\\|2 | x |
| 2025 | June | 3 4 |  |`);
  });

  test("code beside the numbers of its lines is code; in a table of several rows it stands in its cell", async () => {
    expect(await textOf("<table><tr><td><pre>1\n2\n</pre><td><pre>a = 1\n  b</pre></table>")).toBe(
      "```\na = 1\n  b\n```",
    );
    expect(await textOf("<table><tr><th>Name<th>Use<tr><td>n<td><pre>run\n  n</pre></table>")).toBe(
      "| Name | Use |\n| --- | --- |\n| n | `run n` |",
    );
  });

  test("lines of code that are separate elements stay lines", async () => {
    expect(await textOf("<pre><code><div>a</div><div>  b</div><div>c<br></div></code></pre>")).toBe(
      "```\na\n  b\nc\n```",
    );
  });

  test("powers get a caret, note marks brackets, and equations stand in one line", async () => {
    expect(await textOf("2<sup>32</sup>, 10<sup>-6</sup>, H<sub>2</sub>O, 1<sup>st</sup>")).toBe(
      "2^32, 10^-6, H2O, 1st",
    );
    expect(
      await textOf('said<sup><a href="#n1">1</a></sup> and <a href=#n2><sup>2</sup></a>, <a>↩<sup>2</sup></a>'),
    ).toBe("said[1] and [2], ↩2");
    expect(
      await textOf("<p>E = <math><mi>m</mi><annotation encoding=application/x-tex>m c^2</annotation></math>"),
    ).toBe("E = m c^2");
    expect(await textOf("<math><constructor><mi>a</mi><mi>b</mi></constructor></math>")).toBe("ab");
    expect(
      await textOf("<math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><msqrt><mn>2</mn></msqrt></mfrac></math>"),
    ).toBe("(a+b)/(√2)");
  });

  test("a layout table becomes its parts, one after the other", async () => {
    const html = "<table><tr><td><h2>Left</h2><p>a<td><table><tr><td>1<td>2</table></table>";
    expect(await textOf(html)).toBe("## Left\n\na\n\n| 1 | 2 |\n| --- | --- |");
  });

  test.each([
    [
      "scripts, styles and what is hidden",
      "<script>a</script><style>b</style><p hidden>c<p style='display: none'>d<p>Words",
    ],
    ["menus, page header and footer", "<header>Logo <nav>Home</nav></header><nav>Up</nav><p>Words<footer>(c)</footer>"],
    ["all but <main>", "<div>Around</div><main><p>Words</main><p>More around"],
    ["all but the only article", "<div>Menu</div><article><p>Words</article>"],
    [
      "the languages in an article's header",
      "<main><header><ul><li><a>de</a><li><a>en</a></ul></header><p>Words</main>",
    ],
    ["a table of contents", "<ul><li><a href=#a>A</a><ul><li><a href=#b>B</a></ul></ul><p>Words"],
    ["a banner about cookies", '<p>Words<div id="cookie-banner" class="x">We</div><div class="gdpr_popup">?</div>'],
    [
      "menus that go by their names",
      '<div class="top navbar">A</div><a class="skip-link" href=#m>Go</a><p>Words<div id=footer>(c)</div>',
    ],
    ["a main part that is hidden", "<main hidden><p>Old</main><main><p>Words</main>"],
    ["what is not visible", "<p style='visibility: hidden'>h<p>Words"],
    [
      "an aside of links in the content",
      "<main><p>Words</p><aside><h2>More</h2><a>Other pages</a> <a>And others</a></aside></main>",
    ],
    ["the words beside a heading that lead to it", "<main><p>Words<h2><a href=#x>Permalink</a></h2></main>"],
    ["the sign beside a heading", "<main><p>Words<h2><a href=#x>#</a></h2></main>"],
  ])("%s are left out", async (_, html) => {
    expect(await textOf(html)).toBe("Words");
  });

  test("the header of an article, the heading of a page header, and small articles among others stay", async () => {
    expect(await textOf("<article><header><h1>Title</h1><p>By A</p></header><p>Words</article>")).toBe(
      "# Title\n\nBy A\n\nWords",
    );
    expect(await textOf("<header><h1>Title</h1><a>Home</a></header><p>Words")).toBe("# Title\n\nWords");
    expect(await textOf("<p>Long words around it here<article>x</article>")).toBe("Long words around it here\n\nx");
  });

  test("asides and sources inside the content stay, and so does the header of a section", async () => {
    expect(await textOf("<main><p>Words</p><aside><p>Mind the gap.</aside><footer>By A. Author</footer></main>")).toBe(
      "Words\n\nMind the gap.\n\nBy A. Author",
    );
    expect(await textOf("<blockquote><p>Said.</p><footer>A. Author</footer></blockquote>")).toBe(
      "> Said.\n>\n> A. Author",
    );
    expect(await textOf("<section><header><h2>Part</h2><p>Intro</p></header><p>Words</section>")).toBe(
      "## Part\n\nIntro\n\nWords",
    );
    expect(await textOf('<p hidden="until-found">Found')).toBe("Found");
  });

  test("a part named like a menu stays when it has the heading or most of the text", async () => {
    expect(await textOf('<div class="sidebar"><h1>Title</h1></div><p>Words')).toBe("# Title\n\nWords");
    expect(await textOf('<div class="breadcrumbs">Home / Here</div>')).toBe("Home / Here");
    expect(await textOf('<div class="nav">All there is to say of it</div><p>Words')).toBe(
      "All there is to say of it\n\nWords",
    );
  });

  test("a list of links to other pages stays, and so does one with more text than its links", async () => {
    expect(await textOf("<ul><li><a href=b.html>B</a><li><a href=c.html>C</a></ul>")).toBe("- B\n- C");
    expect(await textOf("<ol><li><a href=#1>^</a> Smith<li><a href=#2>^</a> Jones</ol>")).toBe(
      "1. ^ Smith\n2. ^ Jones",
    );
  });

  test("Chinese lines are joined without a space, others with one", async () => {
    expect(await textOf("<p>第一行，\n第二行\nend\nof 中文")).toBe("第一行，第二行 end of 中文");
  });

  test("prose that looks like Markdown is escaped", async () => {
    expect(await textOf("<p># not a heading<br>``` not a fence<br>---<br>==")).toBe(
      "\\# not a heading\n\\``` not a fence\n\\---\n\\==",
    );
  });

  test("a citation's line is the file's line", async () => {
    const html = `<!doctype html>
<title>T</title>
<main>
<h1>One</h1>

<p>
  text on line seven
<ul>
  <li>first
  <li>second</ul>
<table><tr><th>a<th>b</tr>
<tr><td>c<td>d</tr></table>
<pre>
x = 1
y = 2
</pre>`;
    const { text, anchors } = await load(html);
    const expected = {
      One: 4,
      "text on line seven": 7,
      first: 9,
      second: 10,
      "| a": 11,
      "| c": 12,
      "x = 1": 14,
      "y = 2": 15,
    };
    for (const [words, line] of Object.entries(expected)) {
      expect([words, placeInDocument({ text, anchors: anchors! }, text.indexOf(words)).line]).toEqual([words, line]);
    }
  });

  test("the anchors of any page go forward through the text and name lines of the file", async () => {
    const names = [
      "p",
      "div",
      "ul",
      "li",
      "table",
      "tr",
      "td",
      "pre",
      "code",
      "h2",
      "br",
      "main",
      "a",
      "dl",
      "dd",
      "header",
    ];
    const token = fc.oneof(
      fc.constantFrom(...names.flatMap((name) => [`<${name}>`, `</${name}>`])),
      fc.constantFrom("word", " ", "\n", "\r\n", "中", "&amp;", "`", "# "),
      fc.string({ unit: "grapheme", maxLength: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(token), async (tokens) => {
        const html = tokens.join("");
        const { text, anchors } = await load(`\u{feff}${html}`);
        const lines = html.split(/\r\n|\n|\r/).length;
        for (const [index, { start, line }] of anchors!.entries()) {
          expect(start).toBeGreaterThan(index === 0 ? -1 : anchors![index - 1]!.start);
          expect(start).toBeLessThan(text.length);
          expect(line).toBeGreaterThanOrEqual(1);
          expect(line).toBeLessThanOrEqual(lines);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("the title is the page's own, or its first heading; metadata is the page's own", async () => {
    expect(
      await load(
        `<html lang=en><title> Set
          up </title><meta name=Description content="How to"><meta name=viewport content=x><p>Words`,
      ),
    ).toMatchObject({
      title: "Set up",
      metadata: { description: "How to", language: "en" },
      mediaType: "text/markdown",
    });
    expect(await load("<h2>First <em>one</em></h2>")).toMatchObject({ title: "First one" });
    expect((await load("<p>Words")).title).toBeUndefined();
  });

  test("the encoding is the page's own declaration", async () => {
    const html = Buffer.from(
      "<meta http-equiv=Content-Type content='text/html; charset=windows-1251'><p>\xcf\xf0\xe8\xe2\xe5\xf2",
      "latin1",
    );
    expect((await load(html)).text).toBe("Привет");
    expect(await textOf("<meta charset=utf-16><p>é")).toBe("é");
    expect(await textOf("<!-- <meta charset=shift_jis> --><meta charset=utf-8><p>é")).toBe("é");
  });

  test("UTF-8 that is declared as another encoding by mistake is read as UTF-8", async () => {
    expect(await textOf("<meta charset=iso-8859-1><p>déjà — vu")).toBe("déjà — vu");
    // The bytes of some words in GBK are valid UTF-8 as well: a declaration of that is believed.
    const gbk = Buffer.concat([Buffer.from("<meta charset=gbk><p>"), Buffer.from("d2bb", "hex")]);
    expect((await load(gbk)).text).toBe("一");
  });

  test("in a page that is XML an empty element is closed", async () => {
    const head = '<head><title/><script src="x"/></head>';
    expect(await textOf(`<?xml version="1.0"?><html>${head}<body><p>Words</p></body></html>`)).toBe("Words");
    expect(await textOf(`<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml">${head}<p>Words</p></html>`)).toBe(
      "Words",
    );
  });

  test("a page nested a thousand deep loses nothing, and one nested without end is refused", async () => {
    expect(await textOf(`${"<div><b>".repeat(1000)}deep<p>end`)).toBe("deep\n\nend");
    expect(await textOf(`${"<ul><li>".repeat(1000)}deep`)).toMatch(/deep$/);
    await expect(load("<b>".repeat(100_000))).rejects.toThrow("nested more than 20000 deep");
  });

  test("quotations and lists hundreds deep add at most sixteen marks to each line", async () => {
    const deep = await textOf(`${"<blockquote>".repeat(300)}${"<p>x".repeat(1000)}`);
    expect(deep.split("\n").filter((line) => line.endsWith("x"))).toEqual(
      Array.from({ length: 1000 }, () => `${"> ".repeat(16)}x`),
    );
    expect(await textOf(`${"<ul><li>".repeat(150)}deep`)).toBe(`${"- ".repeat(16)}deep`);
  });

  test("a page may hold more paragraphs, and a table more rows, than a call takes arguments", async () => {
    const count = 130_000;
    expect((await textOf(`<div>${"<p>x".repeat(count)}</div>`)).length).toBe(3 * count - 2);
    expect((await textOf(`<table>${"<tr><td>1<td>2".repeat(count)}</table>`)).split("\n")).toHaveLength(count + 1);
  });

  test("elements that are never closed or never opened are read", async () => {
    expect(await textOf("</p></div><p>a<p>b<td>c</table><li>d<<e &nosuch; &lt")).toContain("a\n\nb");
    expect(await textOf("<ul>a<li>b<p>c</ul><dl>d<div><dt>e<dd>f</div></dl>")).toBe("a\n- b\n  c\n\nd\ne\n: f");
    expect(await textOf("<table>a<td>b</table>")).toBe("a\n\nb");
    expect(await textOf("")).toBe("");
    expect(await textOf("<table></table><ul></ul><pre></pre><h1></h1><dl></dl><blockquote></blockquote>")).toBe("");
  });
});

describe("NULs in a page", () => {
  const loadBytes = (bytes: Uint8Array) => loadHtml({ path: "/x.html", uri: "file:///x.html", bytes });

  test("are left out, as browsers do, where they are few", () => {
    expect(loadBytes(Buffer.from("<h1>One\0</h1>")).text).toBe("# One");
    expect(loadBytes(Buffer.from(`<p>a\0b ${"word ".repeat(1000)}\0</p>`)).text).toMatch(/^ab word .* word$/);
    expect(loadBytes(Buffer.from(`\ufeff<p>Wide`, "utf16le")).text).toBe("Wide");
  });

  test("are no text where they are many", () => {
    expect(() => loadBytes(Buffer.from(`<p>${"a\0b\0\0".repeat(100)}`))).toThrow("is not text");
  });
});
