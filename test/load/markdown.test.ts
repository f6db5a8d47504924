import { describe, expect, test } from "vitest";
import { loadMarkdown } from "../../src/load/markdown.js";

const load = async (text: string) => loadMarkdown({ bytes: Buffer.from(text), path: "/x.md", uri: "file:///x.md" });

describe("loadMarkdown", () => {
  test("the text is the file's own, front matter, line ends and all", async () => {
    const text = "---\r\ntitle: Setup\r\n---\r\n\r\n# Install  \r\n\ttab\r\n";
    expect(await load(`\u{feff}${text}`)).toEqual({
      text,
      title: "Setup",
      mediaType: "text/markdown",
      metadata: { title: "Setup" },
    });
  });

  test.each([
    ["front matter", "---\ntitle: 2019\n---\n# Other", "2019"],
    ["the first heading", "intro\n\n## Getting *started* with `npm` ##\n\n# Later", "Getting started with npm"],
    ["a heading with a link and an anchor", "# See [the docs](https://x.y) {#docs}", "See the docs"],
    ["an underlined heading", "Welcome\n=======\n", "Welcome"],
    ["a heading behind a fence that holds comments", "```sh\n# not this\n```\n# This", "This"],
    ["a heading behind a tilde fence with backquotes inside", "~~~\n```\n# not this\n~~~\n# This", "This"],
    ["nothing, when there is none", "just words\n\n#hashtag", undefined],
    ["nothing, when a rule follows an empty line", "words\n\n---\nmore", undefined],
  ])("its title comes from %s", async (_, text, title) => {
    expect((await load(text)).title).toBe(title);
  });

  test("metadata is what JSON can hold", async () => {
    const text = "---\ntags: [a, b]\ndate: 2024-05-01\nmore: { deep: .inf, none: ~ }\n1: one\n---\n";
    const { metadata } = await load(text);
    expect(metadata).toEqual({
      tags: ["a", "b"],
      date: "2024-05-01",
      more: { deep: "Infinity", none: null },
      1: "one",
    });
    expect(JSON.parse(JSON.stringify(metadata))).toEqual(metadata);
  });

  test.each([
    ["a broken line", "---\ntitle: [unclosed\n---\nText"],
    ["an anchor that holds itself", "---\na: &a [*a]\n---\nText"],
  ])("front matter with %s is a warning, and the text is read", async (_, text) => {
    const { warnings, ...loaded } = await load(text);
    expect(warnings).toEqual([expect.stringContaining("front matter")]);
    expect(loaded).toEqual({ text, mediaType: "text/markdown" });
  });

  test.each([
    ["a rule and words", "---\njust words\n---\n# Title", "just words"],
    ["a rule that is never closed", "---\ntitle: x\n# Title", "Title"],
    ["two rules with nothing between", "---\n---\n# Title", "Title"],
  ])("%s at the start are no metadata", async (_, text, title) => {
    expect(await load(text)).toEqual({ text, title, mediaType: "text/markdown" });
  });
});
