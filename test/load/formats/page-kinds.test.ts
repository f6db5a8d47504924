import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { find, named, parseHtml, textOf } from "../../../src/load/formats/element-tree.js";
import { loadHtml } from "../../../src/load/formats/html/html.js";

const load = (html: string) => loadHtml({ bytes: Buffer.from(html), path: "/x.html", uri: "file:///x.html" });
const words = (text: string) => text.replace(/[^\p{L}\p{N}]+/gu, " ").trim();
const sentence = (subject: string, count: number) =>
  Array.from(
    { length: count },
    (_, index) => `${subject} ${index} is told here, with commas, at the length of prose.`,
  ).join(" ");
const paragraphs = (subject: string, count: number) =>
  Array.from({ length: count }, (_, index) => `<p>${sentence(`${subject} ${index}`, 2)}</p>`).join("");

describe("an article", () => {
  const article =
    load(`<title>The harbour opens again | The Daily</title><div class="story"><h1>The harbour opens again</h1>
    <p class="byline">By Ada Writer</p><p>Published 12 May 2026, 10:15</p><div class="share-bar">Share this</div>
    <figure><img src="a.jpg" alt="Ships"><figcaption>Ships at the quay. Photo: Someone</figcaption></figure>
    ${paragraphs("Harbour", 4)}
    <p>READ MORE: <a href="/b">Ferries are late for the third day in a row</a></p>
    <div class="newsletterSignup"><p>Get our letter, every day.</p></div>
    <h2>What it costs</h2><table><tr><th>Ship</th><th>Fee</th></tr><tr><td>Ferry</td><td>30</td></tr></table>
    <pre>dock --all</pre><blockquote><p>We are open.</p><cite>The mayor</cite></blockquote>
    <ul><li>Monday: <a href="/m">ferries</a></li><li>Tuesday: freight</li></ul>${paragraphs("Quay", 3)}
    <h3>You may also like</h3><p><a href="/c">The old lighthouse is for sale</a></p><p><a href="/d">A bridge for the island</a></p>
    <p>Advertisement</p><p>12 comments</p><p>Copyright 2026 The Daily. All rights reserved.</p></div>`);

  test("has its title once, as its title", () => {
    expect(article.title).toBe("The harbour opens again | The Daily");
    expect(article.text).toMatch(/^Harbour 0 0 is told/);
  });

  test("is read without captions, share bars, related links, bylines, newsletters, comments and notices", () => {
    expect(article.text).not.toMatch(
      /Ada Writer|Published|Share|Ships|Photo|READ MORE|Ferries are|our letter|also like/,
    );
    expect(article.text).not.toMatch(/lighthouse|bridge|Advertisement|12 comments|Copyright/);
  });

  test("keeps its sections, tables, code, quotations and lists", () => {
    expect(article.text).toContain("## What it costs\n\n| Ship | Fee |");
    expect(article.text).toContain("```\ndock --all\n```");
    expect(article.text).toMatch(/> We are open\.\n>\n> The mayor/);
    expect(article.text).toContain("- Monday: ferries\n- Tuesday: freight");
    expect(article.text).toMatch(/Quay 2 1 is told here[^\n]*$/);
  });

  test("says by kind how much of it is left out, with an example of each", () => {
    const kinds = article.leftOut?.map(({ what }) => what);
    for (const kind of ["title", "captions", "share bars", "related links", "bylines", "newsletter boxes", "notices"]) {
      expect.soft(kinds).toContain(kind);
    }
    expect(article.leftOut).toContainEqual({ what: "title", count: 1, example: "The harbour opens again" });
  });

  test("that is a gallery keeps its captions, which are most of its text", () => {
    const picture = (index: number) =>
      `<figure><img src="${index}.jpg"><figcaption>${sentence(`Picture ${index}`, 3)}</figcaption></figure>`;
    const { text } = load(`<div class="story">${paragraphs("Fair", 3)}${[0, 1, 2, 3, 4].map(picture).join("")}</div>`);
    expect(text).toContain("Picture 4 2 is told here");
  });

  test("keeps a sentence that only begins like a line of the site", () => {
    const said = [
      "Share prices fell by three percent on Monday.",
      "Comments from the ministry are expected by Friday.",
    ];
    const { text } = load(
      `<div>${paragraphs("Market", 4)}${said.map((each) => `<p>${each}</p>`).join("")}${paragraphs("Bank", 2)}</div>`,
    );
    for (const each of said) expect.soft(text).toContain(each);
  });
});

describe("a page that is no article is read whole", () => {
  const around = (main: string, head = "") => `<head>${head}</head><nav><a href="/">Start</a></nav>${main}`;
  const pages: Readonly<Record<string, string>> = {
    "a thread of a forum": around(
      [1, 2, 3, 4]
        .map((post) => `<div class="post"><p class="author">Member${post}</p>${paragraphs(`Post${post}`, 2)}</div>`)
        .join(""),
    ),
    "a product": around(
      `<div itemscope itemtype="https://schema.org/Product"><h1>Kettle K2</h1>${paragraphs("Kettle", 4)}<div class="related">Fits: base B2</div></div>`,
    ),
    "a page of hits": around(
      [1, 2, 3, 4]
        .map(
          (hit) =>
            `<div class="search-result"><h3><a href="/${hit}">Hit${hit}</a></h3>${paragraphs(`Hit${hit}`, 1)}</div>`,
        )
        .join(""),
    ),
    "a manual by its program": around(
      `<h1>Widgets</h1>${paragraphs("Widget", 5)}<p class="author">Written by the team</p>`,
      '<meta name="generator" content="Docutils 0.19">',
    ),
    "a reference by its definitions": around(
      `<h1>Options</h1>${paragraphs("Option", 2)}<dl>${[1, 2, 3, 4].map((each) => `<dt>--flag${each}</dt><dd>${sentence("Flag", 2)}</dd>`).join("")}</dl><p class="credits">See flags(1)</p>`,
    ),
  };

  test.each(Object.entries(pages))("%s", (_, html) => {
    const { text } = load(html);
    const said = find(parseHtml(html), ({ name }) => ["p", "h1", "h3", "dt", "dd"].includes(name));
    for (const element of said) expect.soft(words(text)).toContain(words(textOf(element)));
    expect(text).not.toContain("Start");
  });

  // Each Node.js comes with npm, and that with its manual.
  const manual = join(dirname(process.execPath), "../lib/node_modules/npm/docs/output");
  test.skipIf(!existsSync(manual))(
    "sixty pages of npm's manual, by the words of all their paragraphs, terms and cells",
    () => {
      const files = readdirSync(manual, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".html"));
      const some = files.toSorted().slice(0, 60);
      const lost: string[] = [];
      for (const name of some) {
        const bytes = readFileSync(join(manual, name));
        const { text } = loadHtml({ bytes, path: name, uri: name });
        const all = words(text);
        const content = named(parseHtml(bytes.toString()), "body")[0]!;
        for (const element of find(content, ({ name: kind }) => ["p", "dt", "h3", "td", "pre"].includes(kind))) {
          if (!all.includes(words(textOf(element)).slice(0, 80))) lost.push(`${name}: ${textOf(element).slice(0, 60)}`);
        }
      }
      expect(some.length).toBeGreaterThan(40);
      expect(lost).toEqual([]);
    },
  );
});
