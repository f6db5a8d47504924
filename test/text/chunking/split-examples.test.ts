import { expect, test } from "vitest";
import type { TokenCounter } from "../../../src/core/ports.js";
import { split } from "../../../src/text/chunking/split.js";
import { defaultTokens } from "../../../src/text/tokens/tokens.js";
import type { Chunk, Document } from "../../../src/core/types.js";

/** A token a word: limits in these examples can be counted by eye. */
const words: TokenCounter = { name: "words", count: (text) => text.match(/\S+/g)?.length ?? 0 };

function chunks(text: string, maxTokens: number, more: Partial<Document> & { overlapTokens?: number } = {}): Chunk[] {
  const { overlapTokens = 0, ...document } = more;
  const options = { maxTokens, overlapTokens, tokens: words };
  return [...split({ uri: "memo:1", mediaType: "text/markdown", text, ...document }, options)];
}
const texts = (of: readonly Chunk[]) => of.map(({ text }) => text.trim());
const prose = (count: number, word = "word") => `${word} `.repeat(count).trim();

test("a short document is one chunk, whatever it is made of", () => {
  expect(chunks("# Title\n\nText.\n\n```\ncode\n```\n", 16)).toHaveLength(1);
});

test("a half-full chunk ends before the next section, and small sections share one", () => {
  const text = `# A\n\n${prose(9)}\n\n# B\n\n${prose(3)}\n\n# C\n\n${prose(3)}`;
  expect(texts(chunks(text, 16))).toEqual([`# A\n\n${prose(9)}`, `# B\n\n${prose(3)}\n\n# C\n\n${prose(3)}`]);
});

test("a chunk ends before the heading of the highest level", () => {
  const text = `## One\n\n${prose(9)}\n\n# Two\n\n${prose(2)}\n\n### Three\n\n${prose(9)}`;
  expect(texts(chunks(text, 18))[0]).toBe(`## One\n\n${prose(9)}`);
});

test("no chunk ends with a heading", () => {
  const text = `${prose(9)}\n\n## Heading\n\n${prose(6)}\n\n${prose(9)}`;
  expect(texts(chunks(text, 12))).toEqual([prose(9), `## Heading\n\n${prose(6)}`, prose(9)]);
});

test("a fence that fits into a chunk is not cut, and stays with the line that announces it", () => {
  const fence = `\`\`\`sh\n${prose(10, "code")}\n# no heading\n\`\`\``;
  expect(texts(chunks(`${prose(12)}\n\nFor example:\n\n${fence}\n\n${prose(8)}`, 20))).toEqual([
    prose(12),
    `For example:\n\n${fence}`,
    prose(8),
  ]);
});

test("a paragraph longer than a chunk is divided evenly, and does not begin in the rest of another chunk", () => {
  const sentence = "Four words stand here.";
  const long = Array.from({ length: 6 }, () => sentence).join(" ");
  expect(texts(chunks(`${prose(5)}\n\n${long}`, 16))).toEqual([
    prose(5),
    `${sentence} ${sentence} ${sentence}`,
    `${sentence} ${sentence} ${sentence}`,
  ]);
});

test("a fence that does not fit is cut between lines", () => {
  const lines = Array.from({ length: 12 }, (_, index) => `  line ${index};`);
  const found = chunks(`\`\`\`\n${lines.join("\n")}\n\`\`\``, 10);
  expect(found.length).toBeGreaterThan(2);
  expect(found.slice(1).every(({ text }) => /^(?: {2}line|```)/.test(text))).toBe(true);
});

test("a table that does not fit is cut between rows, and repeats its header row in the context", () => {
  const rows = Array.from({ length: 12 }, (_, index) => `| key${index} | value${index} |`);
  const found = chunks(`# Keys\n\n| Name | Value |\n|---|---|\n${rows.join("\n")}\n`, 24, { title: "Guide" });
  expect(found.length).toBeGreaterThan(2);
  expect(found[0]?.context).toBe("Guide");
  for (const { text, context } of found.slice(1)) {
    expect(text).toMatch(/^\| key\d+ \|/);
    expect(context).toBe("Guide > Keys\n| Name | Value |");
  }
});

test("the context is the title and the headings above, each name once", () => {
  const text = `# Guide\n\n${prose(9)}\n\n## Install\n\n${prose(9)}\n\n${prose(9, "more")}\n\n## Use\n\n${prose(9)}`;
  expect(chunks(text, 20, { title: "Guide" }).map(({ context, text: slice }) => [context, slice.slice(0, 6)])).toEqual([
    ["Guide", "# Guid"],
    ["Guide", "## Ins"],
    ["Guide > Install", "more m"],
    ["Guide", "## Use"],
  ]);
});

test("a context that would take more than a quarter of the chunk loses outer headings first", () => {
  const text = `# One two three\n\n## Four five six\n\n### Seven\n\n${prose(9)}\n\n${prose(30, "more")}`;
  const contexts = chunks(text, 20, { title: "Manual" }).map(({ context }) => context);
  expect(contexts.at(-1)).toBe("Manual > Seven");
});

test("a heading of more than 200 characters stands shortened in the context, and white space in it as one space", () => {
  const name = (length: number) => `Keys\tand ${"x".repeat(length - 9)}`;
  const contextOf = (length: number) =>
    chunks(`# ${name(length)}\n\n${prose(12)}\n\n${prose(12, "more")}`, 20).at(-1)!.context;
  expect(contextOf(200)).toBe(`Keys and ${"x".repeat(191)}`);
  expect(contextOf(201)).toBe(`Keys and ${"x".repeat(190)}…`);
});

test("English is cut between sentences", () => {
  const text = Array.from({ length: 20 }, (_, index) => `Sentence number ${index}, e.g. this, ends here.`).join(" ");
  const found = texts(chunks(text, 20, { mediaType: "text/plain" }));
  expect(found.length).toBeGreaterThan(5);
  expect(found.every((chunk) => /^Sentence .* here\.$/s.test(chunk))).toBe(true);
});

test("Chinese is cut between sentences, and a long sentence after a comma", () => {
  const options = { maxTokens: 60, overlapTokens: 0, tokens: defaultTokens };
  const cut = (text: string) => texts([...split({ uri: "memo:1", text }, options)]);
  const sentences = cut("检索增强生成把检索和生成结合起来。它先找到资料！再回答问题。".repeat(10));
  expect(sentences.length).toBeGreaterThan(3);
  expect(sentences.every((chunk) => /[。！]$/.test(chunk))).toBe(true);
  const clauses = cut("先把文档切成小块，再把小块变成向量，".repeat(20));
  expect(clauses.every((chunk) => chunk.endsWith("，"))).toBe(true);
});

test("words of a long sentence stay whole", () => {
  const found = chunks(prose(100, "wholesome"), 16, { mediaType: "text/plain" });
  expect(found.every(({ text }) => /^(?:wholesome\s*)+$/.test(text))).toBe(true);
});

test("the overlap repeats whole sentences inside a paragraph, and nothing between blocks", () => {
  const sentence = (index: number) => `This is sentence ${index}.`;
  const paragraph = Array.from({ length: 12 }, (_, index) => sentence(index)).join(" ");
  const cut = chunks(paragraph, 20, { overlapTokens: 5 });
  expect(cut.length).toBeGreaterThan(2);
  for (const [index, { text, start }] of cut.entries()) {
    const before = cut[index - 1];
    if (!before) continue;
    expect(before.end - start).toBeGreaterThan(10);
    expect(text).toMatch(/^This is sentence \d+\./);
    expect(before.text.trim().endsWith(text.slice(0, before.end - start).trim())).toBe(true);
  }
  const whole = chunks(`${prose(9)}\n\n${prose(9)}\n\n${prose(9)}`, 12, { overlapTokens: 4 });
  expect(whole.map(({ start }) => start)).toEqual([0, whole[0]?.end, whole[1]?.end]);
});

test("an overlap larger than the chunk does not stop progress", () => {
  const found = chunks(prose(200), 16, { overlapTokens: 1_000 });
  expect(found.length).toBeGreaterThan(12);
  expect(found.length).toBeLessThan(40);
});

test("plain text is not read as Markdown", () => {
  const text = `# no heading\n\n${prose(14)}\n\n${prose(14)}`;
  expect(chunks(text, 16, { mediaType: "text/plain" }).every(({ context }) => context === "")).toBe(true);
});
