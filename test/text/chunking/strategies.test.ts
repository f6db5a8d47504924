import { expect, test } from "vitest";
import type { TokenCounter } from "../../../src/core/ports.js";
import { sentenceDistances } from "../../../src/text/chunking/semantic-cuts.js";
import { split, type Strategy } from "../../../src/text/chunking/split.js";
import { TokenIndex } from "../../../src/text/chunking/token-index.js";
import type { Chunk, Document } from "../../../src/core/types.js";

/** A token a word: limits in these examples can be counted by eye. */
const words: TokenCounter = { name: "words", count: (text) => text.match(/\S+/g)?.length ?? 0 };

function chunks(strategy: Strategy, text: string, more: Partial<Document> & { overlapTokens?: number } = {}): Chunk[] {
  const { overlapTokens = 0, ...document } = more;
  const options = { maxTokens: 16, overlapTokens, parentTokens: 60, tokens: words };
  return [...split({ uri: "memo:1", mediaType: "text/markdown", text, ...document }, options, strategy)];
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `w${index}`).join(" ");

test("fixed chunks are full, and each repeats the end of the one before", () => {
  const found = chunks("fixed", `# Title\n\n${numbered(60)}`, { overlapTokens: 4 });
  expect(found.slice(0, -1).every(({ tokens }) => tokens >= 15)).toBe(true);
  for (const [index, { start }] of found.entries()) {
    const before = found[index - 1];
    if (before) expect(words.count(before.text.slice(start - before.start))).toBe(4);
  }
});

test("fixed chunks have the title as context and no headings", () => {
  const found = chunks("fixed", `# Heading\n\n${numbered(60)}`, { title: "Guide" });
  expect(new Set(found.map(({ context }) => context))).toEqual(new Set(["Guide"]));
});

test("in a sentence window each sentence is a chunk, and three on either side are its parent", () => {
  const sentences = Array.from({ length: 12 }, (_, index) => `This is sentence ${index}.`);
  const text = sentences.join(" ");
  const found = chunks("sentence-window", text);
  expect(found.map((chunk) => chunk.text.trim())).toEqual(sentences);
  const parents = found.map(({ parent }) => text.slice(parent!.start, parent!.end).trim());
  expect(parents[0]).toBe(sentences.slice(0, 4).join(" "));
  expect(parents[6]).toBe(sentences.slice(3, 10).join(" "));
  expect(parents[11]).toBe(sentences.slice(8, 12).join(" "));
});

test("in a sentence window a heading belongs to the next sentence, and a fence is one sentence", () => {
  const text = "# Heading\n\nOne here. Two here.\n\n```\na. B c.\nd. E f.\n```\n";
  expect(chunks("sentence-window", text).map((chunk) => chunk.text.trim())).toEqual([
    "# Heading\n\nOne here.",
    "Two here.",
    "```\na. B c.\nd. E f.\n```",
  ]);
});

test("a sentence that does not fit is cut between words", () => {
  const text = `Short one. Then ${numbered(40)}.`;
  const found = chunks("sentence-window", text);
  expect(found.length).toBeGreaterThan(3);
  expect(found.flatMap((chunk) => chunk.text.trim().split(" "))).toEqual(text.split(" "));
});

const python = { mediaType: "text/x-python" };
const body = (name: string, lines: number) =>
  Array.from({ length: lines }, (_, index) => `    ${name} = ${index}`).join("\n");

test("source code is cut between functions, which stay whole if they fit", () => {
  const functions = ["one", "two", "three"].map((name) => `def ${name}():\n${body(name, 2)}\n\n${body(name, 1)}\n`);
  expect(chunks("structure", functions.join("\n"), python).map(({ text }) => text.trim())).toEqual(
    functions.map((text) => text.trim()),
  );
});

test("a function that does not fit is cut at a blank line, else before the least indented line that continues nothing", () => {
  const atBlank = `def long():\n${body("a", 3)}\n\n${body("b", 4)}\n`;
  expect(chunks("structure", atBlank, python)[1]!.text.trim()).toMatch(/^b = 0/);
  const nested =
    "if (a) {\n    x();\n    y();\n    z();\n    v();\n    w();\n}\nelse {\n    b();\n}\nnext one = 1;\nc d e f g h i j k;\n";
  const texts = chunks("structure", nested, { mediaType: "text/x-c" }).map(({ text }) => text);
  expect(texts.length).toBeGreaterThan(1);
  expect(texts.slice(1).every((text) => /^(?:next|c d)/.test(text))).toBe(true);
});

test("a fence of code that does not fit is cut at its blank line", () => {
  const fence = `\`\`\`js\n${body("a", 3)}\n\n${body("b", 3)}\n\`\`\`\n`;
  expect(chunks("structure", fence)[1]!.text).toMatch(/^ {4}b = 0/);
});

test("a sentence without a vector is unlike its neighbours, not NaN", async () => {
  const text = "One two. Three four. Five six.";
  const blocks = [{ kind: "paragraph", start: 0, end: text.length }] as const;
  const measured = { blocks, index: TokenIndex.of(text, words) };
  const vectors = [Float32Array.of(1, 0), Float32Array.of(0, 0), Float32Array.of(0, 2)];
  const { distances } = await sentenceDistances(text, measured, async () => vectors, { maxInputTokens: 512 });
  expect([...distances]).toEqual([0, 1, 1]);
});

test("sentences are compared by all their words, and those that are too long for the embedder by their start", async () => {
  const text = `One two three. Now ${numbered(20)}. Last one.`;
  const blocks = [{ kind: "paragraph", start: 0, end: text.length }] as const;
  const measured = { blocks, index: TokenIndex.of(text, words) };
  const embedded: string[] = [];
  const embed = async (texts: readonly string[]) => {
    embedded.push(...texts);
    return texts.map(() => Float32Array.of(1));
  };
  // A fifth of the 10 tokens is left free, since a text on its own may have a few more.
  await sentenceDistances(text, measured, embed, { maxInputTokens: 10 });
  expect(embedded).toEqual(["One two three.", `Now ${numbered(7)}`, "Last one."]);
});
