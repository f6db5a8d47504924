import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TokenCounter } from "../../../src/core/ports.js";
import type { Chunk } from "../../../src/core/types.js";
import { split, type Strategy } from "../../../src/text/chunking/split.js";

/** A token a word: overlaps can be counted by eye. */
const words: TokenCounter = { name: "words", count: (text) => text.match(/\S+/g)?.length ?? 0 };

interface Cut {
  readonly maxTokens: number;
  readonly overlapTokens: number;
  readonly strategy?: Strategy;
}

function chunks(text: string, { strategy = "structure", ...options }: Cut): Chunk[] {
  return [...split({ uri: "memo:1", text, mediaType: "text/plain" }, { ...options, tokens: words }, strategy)];
}

/** The text that each chunk but the first repeats of the one before it. */
function repeated(text: string, cut: Cut): string[] {
  const found = chunks(text, cut);
  return found.slice(1).map(({ start }, at) => text.slice(start, found[at]!.end).trim());
}

/** Sentences of five words, numbered. */
const sentences = (count: number) => Array.from({ length: count }, (_, at) => `Here stands sentence number ${at}.`);
const numbered = (count: number) => Array.from({ length: count }, (_, at) => `w${at}`).join(" ");

// A piece of a text begins with the white space before it: the space in front of a cut counts as the word behind it.
const spaceTokens = 1;

describe("where a paragraph is cut between sentences, the next chunk repeats", () => {
  test.each([
    [5, 0],
    [6, 1],
    [10, 1],
    [11, 2],
    [15, 2],
  ])("in %i words, %i whole sentences of five", (overlapTokens, whole) => {
    const text = sentences(40).join(" ");
    const found = repeated(text, { maxTokens: 60, overlapTokens });
    expect(found.length).toBeGreaterThan(2);
    for (const overlap of found) {
      expect(words.count(overlap)).toBe(5 * whole);
      expect(overlap).toMatch(whole === 0 ? /^$/ : /^Here stands .*\.$/);
    }
  });

  test("at most a quarter of the chunk, however much is asked for", () => {
    const text = sentences(40).join(" ");
    const most = (maxTokens: number) =>
      Math.max(...repeated(text, { maxTokens, overlapTokens: 1000 }).map((overlap) => words.count(overlap)));
    expect(most(43)).toBe(5);
    expect(most(44)).toBe(10);
    expect(most(63)).toBe(10);
    expect(most(64)).toBe(15);
  });
});

/** A token a character, and each character a piece: Chinese has no spaces between what is counted. */
const characters: TokenCounter = {
  name: "characters",
  count: ({ length }) => length,
  measure: ({ length }) => {
    const places = Uint32Array.from({ length }, (_, at) => at + 1);
    return { ends: places, tokens: places };
  },
};

test.each([
  [4, 0],
  [5, 1],
  [9, 1],
  [10, 2],
])(
  "where Chinese is cut between sentences, the next chunk repeats in %i characters %i sentences of five",
  (overlapTokens, whole) => {
    const text = "检索增强。生成回答！".repeat(20);
    const found = [
      ...split({ uri: "memo:1", text, mediaType: "text/plain" }, { maxTokens: 40, overlapTokens, tokens: characters }),
    ];
    expect(found.length).toBeGreaterThan(3);
    for (const [at, { start }] of found.slice(1).entries()) expect(found[at]!.end - start).toBe(5 * whole);
  },
);

describe("where a sentence is cut between words, the next chunk repeats", () => {
  test.each([1, 2, 3])("exactly %i words", (overlap) => {
    const found = repeated(numbered(200), { maxTokens: 16, overlapTokens: overlap + spaceTokens });
    expect(found.length).toBeGreaterThan(10);
    for (const text of found) expect(words.count(text)).toBe(overlap);
  });

  test("nothing of the block before its own", () => {
    const text = `${numbered(3)}\n\n${numbered(40)}`;
    const found = chunks(text, { maxTokens: 16, overlapTokens: 4 });
    const second = text.indexOf("\n\n") + 2;
    expect(found.filter(({ start }) => start > 0 && start < second)).toEqual([]);
  });
});

test("a fixed chunk begins where the last of the words up to the end of the one before fit the overlap, at any size", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 40, max: 200 }),
      fc.integer({ min: 16, max: 40 }),
      fc.nat(12),
      (count, maxTokens, overlapTokens) => {
        const overlap = Math.min(overlapTokens, Math.floor(maxTokens / 4));
        for (const text of repeated(numbered(count), { maxTokens, overlapTokens, strategy: "fixed" })) {
          expect(words.count(text)).toBe(overlap);
        }
      },
    ),
  );
});

test("without an overlap each chunk begins where the one before ends", () => {
  for (const strategy of ["structure", "fixed"] as const) {
    const found = chunks(sentences(40).join(" "), { maxTokens: 16, overlapTokens: 0, strategy });
    expect(found.slice(1).map(({ start }) => start)).toEqual(found.slice(0, -1).map(({ end }) => end));
  }
});
