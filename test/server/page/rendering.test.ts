import { describe, expect, test } from "vitest";
import { piecesOf } from "../../../src/server/page/browser/text/excerpt.js";
import { applyEvent, beginAnswer, keptAnswer, resumedAnswer } from "../../../src/server/page/browser/state/answer.js";
import { isChromiumMissing, tabs } from "../../support/chromium.js";
import { served } from "../../support/served.js";
import { bundled } from "./bundled.js";

const markdown = `# Title

Some *words* [1] and \`code [1]\`, then [2].

- one [1]

- two
  - inner [3]
1. first

   more of the first

| a | b |
| - | -: |
| x [1] | y |

> quoted
lazily

\`\`\`js
const first = list[1];

done();
\`\`\`
Setext
===
[9] stays text, [1] does not. [a](https://example.com) <b>bold</b>

    indented

***

The end [2]`;

describe.skipIf(isChromiumMissing)("Markdown that arrives piece by piece", () => {
  const { open } = tabs();

  test("looks at every step as if it had been drawn at once", async () => {
    const { url } = await served([]);
    const { page } = await open(`${url}/api`);
    await page.evaluate(await bundled("text/markdown.js", "markdown"));
    const numbers = [1, 2, 1, 3, 1, 1, 2];
    const different = await page.evaluate(`(async () => {
      const { render, nothingRendered } = window.markdown;
      const text = ${JSON.stringify(markdown)};
      const marks = ${JSON.stringify(numbers)}.map((number, index) => ({ number, label: "mark " + index, isSupported: index % 2 === 0 }));
      const htmlOf = ({ blocks }) => blocks.map(({ html }) => String(html)).join("\\n");
      const different = [];
      let piecewise = nothingRendered;
      let known = [];
      for (let length = 1; length <= text.length; length++) {
        const shown = text.slice(0, length);
        // The citation of a number comes right behind it.
        const count = [...shown.replaceAll(/\`[^\`]*\`|list\\[1\\]/g, "").matchAll(/\\[[123]\\]/g)].length;
        if (count !== known.length) known = marks.slice(0, count);
        piecewise = render(shown, known, "Copy", piecewise);
        const atOnce = htmlOf(render(shown, known, "Copy", nothingRendered));
        if (htmlOf(piecewise) !== atOnce) different.push([shown.slice(-20), htmlOf(piecewise), atOnce]);
      }
      const opened = [...htmlOf(piecewise).matchAll(/data-citation="(\\d+)"/g)].map((match) => Number(match[1]));
      return { different, opened, html: htmlOf(piecewise) };
    })()`);
    expect(different).toMatchObject({ different: [], opened: numbers.map((_, index) => index) });
    const { html } = different as { readonly html: string };
    expect(html).toContain("&lt;b&gt;bold&lt;/b&gt;");
    expect(html).toContain("[9] stays text");
    expect(html).toContain("const first = list[1];");
  });

  test("is read again only from its last block on", async () => {
    const { url } = await served([]);
    const { page } = await open(`${url}/api`);
    await page.evaluate(await bundled("text/markdown.js", "markdown"));
    const reused = await page.evaluate(`(async () => {
      const { render, nothingRendered } = window.markdown;
      const text = "A paragraph of some words.\\n\\n".repeat(200);
      const before = render(text, [], "Copy", nothingRendered);
      const after = render(text + "More.", [], "Copy", before);
      return before.blocks.filter((block, index) => after.blocks[index] === block).length / before.blocks.length;
    })()`);
    expect(reused).toBeGreaterThan(0.98);
  });
});

describe("an excerpt", () => {
  const text = "First page.Second page.Third.";
  const pages = [
    { page: 1, start: 100 },
    { page: 2, start: 111 },
    { page: 3, start: 123 },
  ];

  test("is cut at pages and around the highlighted words, which may reach over a page", () => {
    expect(piecesOf({ text, from: 100, pages }, { start: 106, end: 117 })).toEqual([
      { kind: "page", page: 1, at: 100 },
      { kind: "text", text: "First ", at: 100 },
      { kind: "highlight", text: "page.", at: 106 },
      { kind: "page", page: 2, at: 111 },
      { kind: "highlight", text: "Second", at: 111 },
      { kind: "text", text: " page.", at: 117 },
      { kind: "page", page: 3, at: 123 },
      { kind: "text", text: "Third.", at: 123 },
    ]);
  });

  test("shows the rest of the sentence beside the highlighted words", () => {
    const whole = "Hello. The plan is free only for students. Bye.";
    expect(piecesOf({ text: whole, from: 0, pages: [] }, { start: 7, end: 23 }, { start: 7, end: 42 })).toEqual([
      { kind: "text", text: "Hello. ", at: 0 },
      { kind: "highlight", text: "The plan is free", at: 7 },
      { kind: "sentence", text: " only for students.", at: 23 },
      { kind: "text", text: " Bye.", at: 42 },
    ]);
  });

  test("is whole without anything to highlight, and when that lies outside of it", () => {
    expect(piecesOf({ text, from: 0, pages: [] }, { start: 0, end: 0 })).toEqual([{ kind: "text", text, at: 0 }]);
    expect(piecesOf({ text, from: 100, pages: [] }, { start: 10, end: 20 })).toEqual([{ kind: "text", text, at: 100 }]);
  });
});

describe("what is known of an answer", () => {
  const call = { approvalId: "a", id: "c", name: "mail", input: { to: "ada" }, untrusted: true };

  test("a call that was decided after a reload is shown with its outcome", () => {
    const waiting = keptAnswer({
      position: 1,
      question: "?",
      askedAtMs: 0,
      waiting: { text: "I write.", citations: [], calls: [call] },
    });
    expect(waiting).toMatchObject({ phase: "waiting", text: "I write.", steps: [] });
    const running = resumedAnswer(waiting);
    expect(running).toMatchObject({ phase: "searching", waiting: [], steps: [{ id: "c", state: "running" }] });
    const refused = applyEvent(running, { type: "approval", id: "c", name: "mail", approved: false });
    const told = applyEvent(refused, { type: "tool-result", id: "c", name: "mail", error: "refused" });
    expect(told.steps).toMatchObject([{ id: "c", state: "refused" }]);
  });

  test("a question whose words were corrected is shown as it was searched for", () => {
    const retrieved = { type: "retrieved" as const, passages: [] };
    expect(applyEvent(beginAnswer(), { ...retrieved, searchedFor: "rust" }).searchedFor).toBe("rust");
    expect(applyEvent(beginAnswer(), retrieved).searchedFor).toBeUndefined();
  });

  test("an event of a kind that the page does not know changes nothing", () => {
    const answer = beginAnswer();
    expect(applyEvent(answer, { type: "of-the-future" } as never)).toBe(answer);
  });
});
