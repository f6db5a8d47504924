import Module from "node:module";
import { describe, expect, test, vi } from "vitest";
import { loadHtml } from "../../../src/load/formats/html/html.js";
import { pageLayouts } from "./page-layouts.js";

const textOf = (html: string) => loadHtml({ bytes: Buffer.from(html), path: "/x.html", uri: "file:///x.html" }).text;
const wordsOf = (text: string) => text.match(/\p{L}+|\p{N}+/gu) ?? [];

/** How many of the words the text has, each as often as it is there. */
function countCommon(words: readonly string[], text: string): number {
  const left = new Map<string, number>();
  for (const word of wordsOf(text)) left.set(word, (left.get(word) ?? 0) + 1);
  return words.filter((word) => {
    const count = left.get(word) ?? 0;
    left.set(word, count - 1);
    return count > 0;
  }).length;
}

const prose = (count: number) =>
  Array.from({ length: count }, (_, at) => `<p>Sentence ${at} is long enough, it says, to be one of an article.</p>`);

describe("the main content of a page", () => {
  test.each(pageLayouts)("of $name is nearly all that is kept", ({ html, content }) => {
    const text = textOf(html);
    const said = content.flatMap(wordsOf);
    expect(countCommon(said, text) / said.length).toBeGreaterThan(0.97);
    expect(countCommon(said, text) / wordsOf(text).length).toBeGreaterThan(0.75);
  });

  test("is found with a precision and a recall of 97 in 100, over all layouts", () => {
    const shares = pageLayouts.map(({ html, content }) => {
      const text = textOf(html);
      const said = content.flatMap(wordsOf);
      const common = countCommon(said, text);
      return { precision: common / wordsOf(text).length, recall: common / said.length };
    });
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value) / values.length;
    expect(mean(shares.map(({ precision }) => precision))).toBeGreaterThan(0.97);
    expect(mean(shares.map(({ recall }) => recall))).toBeGreaterThan(0.99);
  });

  test("is without the comments, teasers and buttons that stand around an article in parts without a name", () => {
    for (const { name, html, noise } of pageLayouts.filter((layout) => /^a news article|^a post/.test(layout.name))) {
      const text = textOf(html);
      const kept = noise.filter((each) => wordsOf(each).length > 3 && text.includes(each));
      expect.soft(kept, name).toEqual([]);
    }
  });

  test("keeps the title, the code, the tables and the sections with many links of an article", () => {
    const html = `<div class="head"><h1>How it works</h1></div><div class="article">${prose(12).join("")}
      <div class="section"><h2>See also</h2><p>Read <a href="/a">the first of the guides</a>, and then the other one.</p></div>
      <div class="code"><pre>run --all</pre></div>
      <table><tr><th>Flag</th><th>Use</th></tr><tr><td>all</td><td>everything</td></tr></table></div>
      <div class="comments">${prose(3).join("").replaceAll("Sentence", "Opinion")}</div>`;
    const text = textOf(html);
    expect(text.startsWith("# How it works\n\nSentence 0 is")).toBe(true);
    expect(text).toContain("## See also\n\nRead the first of the guides, and then the other one.");
    expect(text).toContain("```\nrun --all\n```");
    expect(text).toContain("| all | everything |");
    expect(text).not.toContain("Opinion");
  });

  test("is found by a library that is looked up once for a page, however many of its parts are judged", () => {
    const section = `<div class="section"><h2>See also</h2><p>Read <a href="/a">the first of the guides</a>, and then the other one.</p></div>`;
    const html = `<div class="article">${prose(60).join("")}${section.repeat(20)}</div>`;
    const required = vi.spyOn(Module.prototype, "require");
    expect(textOf(html)).toContain("See also");
    expect(required.mock.calls.flat().filter((name) => name.startsWith("@mozilla"))).toHaveLength(2);
  });

  test("is all of a page that is no article: by its own word, or because little would be left", () => {
    const thread = (head: string) =>
      `${head}<div class="article">${prose(9).join("")}</div><div class="comments">${prose(9).join("").replaceAll("Sentence", "Opinion")}</div>`;
    expect(textOf(thread('<meta property="og:type" content="article">'))).not.toContain("Opinion");
    expect(textOf(thread('<meta property="og:type" content="product">'))).toContain("Opinion");
    const long = thread("").replace("</div>", `</div><div class="comments">${prose(60).join("")}</div>`);
    expect(textOf(long)).toContain("Opinion");
  });

  test("is each of several main parts, but none that has next to nothing of the page", () => {
    const parts = prose(4);
    expect(textOf(`<main>${parts[0]}</main><main>${parts[1]}${parts[2]}</main><div>Menu</div>`)).toMatch(
      /^Sentence 0 .*\n\nSentence 1 .*\n\nSentence 2 [^\n]*$/,
    );
    expect(textOf(`<main>Loading, one sec</main><div>${parts.join("")}</div>`)).toContain("Sentence 3");
  });

  test("of a page with too deep a tree is what its elements say, so that its time stays in line with its length", () => {
    const deep = `${"<div>".repeat(390)}${prose(300).join("")}${"</div>".repeat(390)}`;
    const comments = `<div class="comments">${prose(20).join("").replaceAll("Sentence", "Opinion")}</div>`;
    expect(textOf(`<nav>Menu</nav>${deep}${comments}`)).toMatch(/^Sentence 0[^]*Opinion 19[^\n]*$/);
  });
});

describe("the description of a picture", () => {
  test("stands apart from the words beside it", () => {
    expect(textOf('<p>See<img src=a.png alt="the harbour">below, <b><img alt="A map"></b>of it')).toBe(
      "See the harbour below, A map of it",
    );
  });

  test.each(["images/fig1.png", "C:\\Users\\me\\my chart.png", "/home/me/a b", "file:///a", "../x.svg", "data:x"])(
    "is none where it is the path of a file: %s",
    (alternative) => {
      expect(textOf(`<p>Before <img alt="${alternative}"> after`)).toBe("Before after");
    },
  );

  test("stays where it only names a kind of file", () => {
    expect(textOf('<img alt="A chart as .png and .svg">')).toBe("A chart as .png and .svg");
  });
});
