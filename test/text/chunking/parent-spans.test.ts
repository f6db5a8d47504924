import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { TokenCounter } from "../../../src/core/ports.js";
import { split } from "../../../src/text/chunking/split.js";
import type { Chunk } from "../../../src/core/types.js";

/** A token a word: limits in these examples can be counted by eye. */
const words: TokenCounter = { name: "words", count: (text) => text.match(/\S+/g)?.length ?? 0 };
const prose = (count: number, word = "word") => `${word} `.repeat(count).trim();

function parents(text: string, { maxTokens = 16, parentTokens = 40, mediaType = "text/markdown" } = {}): string[] {
  const options = { maxTokens, parentTokens, overlapTokens: 0, tokens: words };
  const chunks: Chunk[] = [...split({ uri: "memo:1", mediaType, text }, options)];
  return chunks.map(({ parent }) => (parent ? text.slice(parent.start, parent.end).trim() : ""));
}

test("the parent of a chunk is the largest section around it that fits, shared by all chunks of that section", () => {
  const inner = `## Inner\n\n${prose(12, "a")}\n\n${prose(12, "b")}`;
  const outer = `# Outer\n\n${prose(3)}\n\n${inner}`;
  const text = `${outer}\n\n# Other\n\n${prose(12, "c")}\n\n${prose(12, "d")}\n\n# Third\n\n${prose(10, "e")}`;
  const found = parents(text);
  expect(found.filter((parent) => parent === outer).length).toBe(3);
  expect(found.filter((parent) => parent.startsWith("# Other")).length).toBe(2);
  expect(parents(text, { parentTokens: 1000 }).every((parent) => parent === text)).toBe(true);
});

test("a chunk that is a whole section, or fills the limit, has no parent", () => {
  expect(parents(`# A\n\n${prose(10)}\n\n# B\n\n${prose(10)}`, { parentTokens: 20 })).toEqual(["", ""]);
  expect(parents(prose(100), { parentTokens: 16 }).filter((parent) => parent !== "")).toEqual([]);
  expect(parents(prose(100), { parentTokens: 0 }).filter((parent) => parent !== "")).toEqual([]);
});

test("in a section that does not fit, the parent is whole blocks before and after the chunk", () => {
  const paragraphs = Array.from({ length: 9 }, (_, index) => prose(10, `p${index}`));
  const found = parents(`# Long\n\n${paragraphs.join("\n\n")}\n\n# Next\n\n${prose(10)}`, { parentTokens: 35 });
  expect(found[4]).toBe(paragraphs.slice(3, 6).join("\n\n"));
  expect(found[8]).toBe(paragraphs.slice(6, 9).join("\n\n"));
});

test("in a block that does not fit, the parent is whole sentences before and after the chunk", () => {
  const sentences = Array.from({ length: 40 }, (_, index) => `This is sentence number ${index}.`);
  const found = parents(sentences.join(" "), { mediaType: "text/plain", maxTokens: 20, parentTokens: 50 });
  expect(found.length).toBeGreaterThan(8);
  for (const parent of found) {
    expect(parent).toMatch(/^This is .* \d+\.$/s);
    expect(words.count(parent)).toBeGreaterThanOrEqual(40);
    expect(words.count(parent)).toBeLessThanOrEqual(50);
  }
});

test("any parent holds its chunk, keeps to the limit, and is a section or lies within the innermost section around it", () => {
  const section = fc.record({
    level: fc.integer({ min: 1, max: 3 }),
    lengths: fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 5 }),
  });
  fc.assert(
    fc.property(
      fc.array(section, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 10, max: 16 }),
      fc.integer({ min: 17, max: 80 }),
      (parts, maxTokens, parentTokens) => {
        const opened: { readonly level: number; readonly start: number }[] = [];
        let text = "";
        for (const { level, lengths } of parts) {
          opened.push({ level, start: text.length });
          text += `${"#".repeat(level)} Title\n\n${lengths.map((length) => `${prose(length)}\n\n`).join("")}`;
        }
        const sections = [
          { start: 0, end: text.length },
          ...opened.map(({ level, start }) => {
            const next = opened.find((other) => other.start > start && other.level <= level);
            return { start, end: next?.start ?? text.length };
          }),
        ];
        const options = { maxTokens, parentTokens, overlapTokens: 0, tokens: words };
        for (const { start, end, parent } of split({ uri: "memo:1", mediaType: "text/markdown", text }, options)) {
          if (!parent) continue;
          expect(parent.start).toBeLessThanOrEqual(start);
          expect(parent.end).toBeGreaterThanOrEqual(end);
          expect(parent.end - parent.start).toBeGreaterThan(end - start);
          expect(words.count(text.slice(parent.start, parent.end))).toBeLessThanOrEqual(parentTokens);
          if (sections.some((each) => each.start === parent.start && each.end === parent.end)) continue;
          const innermost = sections.filter((each) => each.start <= start && each.end >= end).at(-1)!;
          expect(parent.start).toBeGreaterThanOrEqual(innermost.start);
          expect(parent.end).toBeLessThanOrEqual(innermost.end);
        }
      },
    ),
    { numRuns: 500 },
  );
});
