import { describe, expect, test } from "vitest";
import { parseYaml } from "../../../src/load/formats/front-matter.js";
import { loadMarkdown } from "../../../src/load/formats/markdown.js";

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
    [
      "a heading behind a longer fence with a shorter one inside",
      "````md\n```js\n```\n# not this\n````\n# This",
      "This",
    ],
    [
      "a heading behind a fence that a line like its start does not close",
      "```\n```js\n# not this\n```\n# This",
      "This",
    ],
    ["a heading behind a line that only looks like a fence", "```not a fence``` x\n\n# This", "This"],
    ["a heading behind a comment", "<!--\n# not this\n--> and\n# This", "This"],
    ["a heading of two lines", "Getting\r\nstarted\r\n===\r\n", "Getting started"],
    ["a heading behind a list and a rule", "- item\n---\n# This", "This"],
    [
      "a heading in HTML",
      '<p><img src=x></p>\n<h1 align="center">\n  <a href="x">The &lt;b&gt; <b>one</b></a>\n</h1>',
      "The <b> one",
    ],
    ["a heading with a component", 'import Tag from "./tag"\n\n# Hello <Tag n={1} />\n', "Hello"],
    [
      "a heading with marks, references and code",
      "# See [the docs][1] &amp; \\*x\\* in `<div a=b>`",
      "See the docs & *x* in <div a=b>",
    ],
    ["a heading with pictures", "# ![Logo](a.png)Harbour![img/b.png](img/b.png)[guide](c)", "Logo Harbour guide"],
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

  test("metadata may be TOML", async () => {
    const text = `+++
title = "Nuts \\u0026 bolts" # not this
date = 2024-05-01T10:00:00Z
day = 2024-05-01 10:00:00
weight = 1_000
share = -0.5e1
mask = 0xff
draft = false
tags = [
  'a"b', # the first
  """\\
  c \\
  d""",
]
site.name = "x"
[params]
"two words" = { y = 1, z = [[1], []] }
[[links]]
to = "a"
[[links]]
to = 'b\\n'
[links.more]
constructor = true
+++
# Other`;
    expect(await load(text)).toEqual({
      text,
      mediaType: "text/markdown",
      title: "Nuts & bolts",
      metadata: {
        title: "Nuts & bolts",
        date: "2024-05-01T10:00:00Z",
        day: "2024-05-01T10:00:00",
        weight: 1000,
        share: -5,
        mask: 255,
        draft: false,
        tags: ['a"b', "c d"],
        site: { name: "x" },
        params: { "two words": { y: 1, z: [[1], []] } },
        links: [{ to: "a" }, { to: "b\\n", more: { constructor: true } }],
      },
    });
  });

  test.each([
    "a",
    "a =",
    "a = b",
    "a = 1 2",
    "a = [1 2]",
    "a = {b = 1",
    "a = 1\na = 2",
    "a = 1\n[a]",
    "[a",
    '= "x"',
    'a = "x',
  ])("front matter %j is not TOML: the warning names the line", async (content) => {
    const { warnings } = await load(`+++\n${content}\n+++\n# Other`);
    expect(warnings).toEqual([expect.stringMatching(/^front matter is not valid TOML: line [12]: .+$/)]);
  });

  test("a number too large for JSON is kept as text, and a key named like an object's own is a key", async () => {
    const text = "+++\nlarge = 9007199254740993\n[__proto__]\ny = 1\n+++\n";
    const { metadata } = await load(text);
    expect(Object.entries(metadata!)).toEqual([
      ["large", "9007199254740993"],
      ["__proto__", { y: 1 }],
    ]);
  });

  test.each([
    ["a JSON object", '{\n  "title": "A"\n}\n\n# Other', "A"],
    ["YAML between line ends of old Macs", "---\rtitle: A\r---\r# Other", "A"],
    ["YAML with a key that is there twice", "---\ntitle: A\ntitle: B\n---\n# Other", "B"],
  ])("metadata may be %s", async (_, text, title) => {
    expect(await load(text)).toEqual({ text, title, metadata: { title }, mediaType: "text/markdown" });
  });

  test.each([
    ["a colon in it", "---\ntitle: Nuts: a guide\nauthor: x\n---\n# Other", "Nuts: a guide"],
    ["a tab before another key", '---\ntitle: "Nuts"\n\tx: y\n---\n# Other', "Nuts"],
    ["a list that is not closed", '+++\ntitle = "Nuts"\nx = [\n+++\n# Other', "Nuts"],
    ["no end before the next rule", "---\ntitle: Nuts\n\n# Other\n\ntext\n\n---\n", "Nuts"],
  ])("front matter that is broken by %s still gives the title", async (_, text, title) => {
    expect(await load(text)).toEqual({
      text,
      title,
      mediaType: "text/markdown",
      warnings: [expect.stringMatching(/^front matter is not valid (?:YAML|TOML): /)],
    });
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
    ["lists in lists", "- ", "nested more than 64 deep"],
    ["keys in keys", "? ", "nested more than 64 deep"],
    ["brackets in brackets", "<<: [[[ ", "nested more than 64 deep"],
    ["braces in braces", "{a: ", "nested more than 64 deep"],
    ["more than 100,000 characters", `${"x".repeat(200)}: y\n`, "more than 100000 are not parsed: shorten it"],
  ])("front matter of %s is refused before it is parsed, and the text is read", async (_, part, reason) => {
    for (const count of [1000, 2000, 5000]) {
      const text = `---\n${part.repeat(count)}\n---\n# Text`;
      const { warnings, ...loaded } = await load(text);
      expect(warnings).toEqual([expect.stringContaining(reason)]);
      expect(loaded).toMatchObject({ text, title: "Text" });
    }
  });

  test("values of YAML whose tags only some other program knows are read without them", async () => {
    const tagged = "---\na: !words one two\nb: !!set {c: 1}\nd: !!seq [2]\ne: !x\n- 3\nf: !!str 4\n---\nText";
    const { metadata, warnings } = await load(tagged);
    expect(metadata).toEqual({ a: "one two", b: { c: 1 }, d: [2], e: [3], f: "4" });
    expect(warnings).toBeUndefined();
  });

  test("YAML that is refused is told in one line, with the line and no word of it", async () => {
    const { warnings } = await load("---\ntitle: a\nsecret: [word\n---\nText");
    expect(warnings).toEqual([expect.stringMatching(/^front matter is not valid YAML: line \d: [^\n]+$/)]);
    expect(warnings![0]).not.toContain("word");
  });

  test("front matter of comments alone is neither metadata nor a title, and no mistake", async () => {
    const text = "---\n# nothing yet\n---\n# Text";
    expect(await load(text)).toEqual({ text, title: "Text", mediaType: "text/markdown" });
  });

  test("front matter whose aliases stand for too many values is a warning", async () => {
    const shared = Array.from({ length: 5000 }, () => "x").join(",");
    const text = `---\na: &a [${shared}]\nb: [${"*a,".repeat(50)}]\n---\nText`;
    const { warnings, metadata } = await load(text);
    expect(warnings).toEqual([expect.stringContaining("it stands for more than 100000 values")]);
    expect(metadata).toBeUndefined();
  });

  test.each([
    ["a rule and words", "---\njust words\n---\n# Title", "Title"],
    ["a rule that is never closed", "---\ntitle: x\n# Title", "Title"],
    ["a template in braces", "{\n  foo: bar\n}\n# Title", "Title"],
    ["a list between two rules", "---\n- a\n- b\n---\n# Title", "Title"],
    ["two rules with nothing between", "---\n---\n# Title", "Title"],
  ])("%s at the start are not metadata", async (_, text, title) => {
    expect(await load(text)).toEqual({ text, title, mediaType: "text/markdown" });
  });
});

test.each<[string, (depth: number) => string]>([
  ["brackets", (depth) => `a: ${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}`],
  ["braces over lines", (depth) => `a: ${"{b:\n  ".repeat(depth - 1)}1${"}".repeat(depth - 1)}`],
  ["dashes on a line", (depth) => `${"- ".repeat(depth)}1`],
  ["indented names", (depth) => Array.from({ length: depth }, (_, at) => `${" ".repeat(at)}a:`).join("\n")],
  [
    "names and lists at one column",
    (depth) => Array.from({ length: depth / 2 }, (_, at) => `${"  ".repeat(at)}a:\n${"  ".repeat(at)}-\n`).join(""),
  ],
])("YAML nested in %s is read to 64 levels and refused beyond", (_, nested) => {
  expect(() => parseYaml(nested(50))).not.toThrow();
  expect(() => parseYaml(nested(80))).toThrow("nested more than 64 deep");
});
