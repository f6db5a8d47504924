import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { blocks, blocksInSteps } from "../../../src/text/blocks/blocks.js";
import { hostileText } from "../hostile-text.js";

const markdown = (text: string) => blocks({ text, mediaType: "text/markdown" });
/** Kind and first line of each block, with the level of headings. */
const outline = (text: string) =>
  markdown(text).map(({ kind, level, start }) => `${kind}${level ?? ""}: ${text.slice(start).split(/[\r\n]/)[0]}`);

describe("Markdown blocks", () => {
  test("include raw elements up to their closing tags, in capitals too", () => {
    expect(outline("<PRE>\n# no heading\n\na\n</PRE>\n\n# Heading\n\n<script>\n\n</Script>\ntext\n")).toEqual([
      "html: <PRE>",
      "heading1: # Heading",
      "html: <script>",
      "paragraph: text",
    ]);
  });

  test("are found by their first lines", () => {
    expect(
      outline(`---
title: Setup
---

# Install

A paragraph
over two lines.

- one
  goes on
- two
1. three

| a | b |
| - | - |
| 1 | 2 |

> quoted

<div>
raw
</div>

Setext
------
***
end`),
    ).toEqual([
      "front-matter: ---",
      "heading1: # Install",
      "paragraph: A paragraph",
      "item: - one",
      "item: - two",
      "item: 1. three",
      "table: | a | b |",
      "paragraph: > quoted",
      "html: <div>",
      "heading2: Setext",
      "paragraph: ***",
      "paragraph: end",
    ]);
  });

  test("include a fence with everything inside, up to a fence of its own kind", () => {
    expect(outline("```sh\n# no heading\n~~~\n``\n```\n# heading")).toEqual(["fence: ```sh", "heading1: # heading"]);
    expect(outline("~~~~\n~~~\n```\n~~~~\ntext")).toEqual(["fence: ~~~~", "paragraph: text"]);
    expect(outline("- item\n\n  ```\n  # no heading\n  ```\n- item")).toEqual([
      "item: - item",
      "fence:   ```",
      "item: - item",
    ]);
  });

  test("include an unclosed fence to the end", () => {
    expect(outline("text\n\n```\n# no heading\n\n| a |")).toEqual(["paragraph: text", "fence: ```"]);
  });

  test("have the words of their headings", () => {
    const titles = markdown("## 配置 {#config}\n# C# #\n### Closed ###\nTwo\nlines\n===\n#\n").map(
      ({ title }) => title,
    );
    expect(titles).toEqual(["配置", "C#", "Closed", "Two lines", ""]);
  });

  test("are not headings without a space, after four spaces or inside a comment", () => {
    expect(outline("#tag\n\n    # code\n\n<!--\n# hidden\n\n-->\n")).toEqual([
      "paragraph: #tag",
      "paragraph:     # code",
      "html: <!--",
    ]);
  });

  test("accept every kind of line break", () => {
    expect(outline("# a\r\n\r\ntext\r# b\n")).toEqual(["heading1: # a", "paragraph: text", "heading1: # b"]);
  });
});

test("plain text is cut only at blank lines", () => {
  const text = "\n# one\ntwo\n\n \nthree\n";
  expect(blocks({ text }).map(({ start, end }) => text.slice(start, end))).toEqual(["\n# one\ntwo\n\n \n", "three\n"]);
});

test("blocks of any text touch one another and cover it", () => {
  fc.assert(
    fc.property(hostileText(), fc.constantFrom("text/markdown", "text/plain"), (text, mediaType) => {
      const found = blocks({ text, mediaType });
      expect(found.map(({ start, end }) => text.slice(start, end)).join("")).toBe(text);
      expect(found.every(({ start, end }, index) => start < end && start === (found[index - 1]?.end ?? 0))).toBe(true);
    }),
  );
});

test("blocks of long repetitions are found without hanging or running out of stack", () => {
  for (const mark of [
    "#",
    "`",
    "~",
    "*",
    "* ",
    "- ",
    "-",
    "=",
    "|",
    "|-",
    ">",
    "<a ",
    "<!--",
    " ",
    "\r",
    "1. ",
    "```\n",
    "|-\n",
    "a\n-\n",
  ]) {
    expect(markdown(mark.repeat(300_000)).at(-1)?.end).toBe(mark.length * 300_000);
  }
});

test("a paragraph that starts at the anchor of a heading is that heading", () => {
  const text = "Guide\n\nSetting\nup\n\nWords.\n\nMore words.";
  const anchors = [
    { start: 0, page: 1, heading: 1 },
    { start: text.indexOf("Setting"), heading: 2 },
    { start: text.indexOf("words"), heading: 1 },
  ];
  expect(blocks({ text, anchors }).map(({ kind, level, title }) => ({ kind, level, title }))).toEqual([
    { kind: "heading", level: 1, title: "Guide" },
    { kind: "heading", level: 2, title: "Setting up" },
    { kind: "paragraph" },
    { kind: "paragraph" },
  ]);
});

test("a long Markdown text is read in steps, so that other work can run", () => {
  const text = "# Heading\n\nWords.\n\n".repeat(10_000);
  const steps = blocksInSteps({ text, mediaType: "text/markdown" });
  let count = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) count++;
  expect(count).toBeGreaterThan(5);
  expect(step.value).toHaveLength(20_000);
  expect(step.value).toEqual(markdown(text));
});

test("a paragraph at the anchor of a heading is a heading, its title cut at 400 characters and of single spaces", () => {
  const text = `Before it.\n\nKeys \t and ${"x".repeat(500)}\n\nBehind it.`;
  const anchors = [
    { start: 0, page: 1 },
    { start: 12, heading: 2 },
  ];
  const found = blocks({ text, anchors });
  expect(found.map(({ kind, level, title }) => [kind, level, title])).toEqual([
    ["paragraph", undefined, undefined],
    ["heading", 2, `Keys and ${"x".repeat(400 - 11)}`],
    ["paragraph", undefined, undefined],
  ]);
});
