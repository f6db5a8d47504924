import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TokenCounter } from "../../../src/core/ports.js";
import { split, type Strategy } from "../../../src/text/chunking/split.js";
import { defaultTokens } from "../../../src/text/tokens/tokens.js";
import type { Document } from "../../../src/core/types.js";
import { chunkProblems } from "./chunk-problems.js";
import { hostileText } from "../hostile-text.js";

/** One token a character that is no white space, as a vocabulary without long words would have it. */
const characters: TokenCounter = {
  name: "characters",
  count: (text) => text.match(/\S/gu)?.length ?? 0,
};

const anyOptions = fc.record({
  maxTokens: fc.oneof(fc.integer({ min: 16, max: 80 }), fc.constantFrom(256, 8192)),
  overlapTokens: fc.oneof(fc.nat(20), fc.constantFrom(1_000_000)),
  parentTokens: fc.oneof(fc.nat(120), fc.constantFrom(1024)),
  tokens: fc.constantFrom(defaultTokens, characters),
});
const anyDocument = fc.record(
  {
    uri: fc.constant("memo:1"),
    text: fc.oneof(
      hostileText(150),
      fc
        .tuple(hostileText(6), fc.integer({ min: 20, max: 600 }))
        .map(([text, times]) => text.repeat(times).slice(0, 4_000)),
    ),
    title: fc.oneof(hostileText(5), fc.constant("A title of many words ".repeat(20))),
    mediaType: fc.constantFrom("text/markdown", "text/plain", "text/x-python"),
  },
  { requiredKeys: ["uri", "text"] },
) as fc.Arbitrary<Document>;

const anyStrategy = fc.constantFrom<Strategy>("structure", "structure", "fixed", "sentence-window");

describe("splitting any text", () => {
  test("covers the text with slices in order, exactly counted, within the limit, splitting no character", () => {
    fc.assert(
      fc.property(anyDocument, anyOptions, anyStrategy, (document, options, strategy) => {
        expect(chunkProblems(document, options, [...split(document, options, strategy)])).toEqual([]);
      }),
      { numRuns: 600 },
    );
  });

  test.each([
    ["a run without a break", "x".repeat(50_000)],
    ["Chinese without a stop", "漢字仮名交文検索拡張生成".repeat(3_000)],
    ["joined emoji", "👩‍👩‍👧‍👦".repeat(3_000)],
    ["lone surrogates", "\ud83d".repeat(5_000)],
    ["different lone surrogates", `${"\ud83d".repeat(16)}${"\ud83e".repeat(16)}`.repeat(20)],
    ["white space inside", `a${" ".repeat(50_000)}b${"\r\n".repeat(20_000)}c`],
    ["an unclosed fence", `# A\n\n\`\`\`\n${"# no heading\n".repeat(3_000)}`],
    ["a table row wider than the limit", `| a | b |\n|---|---|\n| ${"cell ".repeat(5_000)} | b |\n| c | d |\n`],
    [
      "a table head wider than the limit",
      `| ${"head | ".repeat(2_000)}\n${"|---".repeat(2_000)}|\n${"| c | d |\n".repeat(900)}`,
    ],
    ["special words", "<|endoftext|>".repeat(3_000)],
    ["a heading longer than the limit", `# ${"word ".repeat(5_000)}\n\ntext`],
    ["nothing but headings", "# h\n## i\n".repeat(3_000)],
    ["rare letters", "\u{1e900}\u{1e922}".repeat(4_000)],
  ])("holds for %s", (_, text) => {
    for (const mediaType of ["text/markdown", "text/plain", "text/x-python"]) {
      for (const maxTokens of [16, 256]) {
        const document = { uri: "memo:1", title: "Title", text, mediaType };
        const options = { maxTokens, overlapTokens: 32, parentTokens: 200, tokens: defaultTokens };
        const strategies: Strategy[] =
          mediaType === "text/plain" ? ["structure", "fixed", "sentence-window"] : ["structure"];
        for (const strategy of strategies) {
          expect(chunkProblems(document, options, [...split(document, options, strategy)])).toEqual([]);
        }
      }
    }
  });

  test("gives the same chunks every time, and repeated texts different ids", () => {
    const document = { uri: "memo:1", text: "Same words.\n\n".repeat(200) };
    const options = { maxTokens: 16, overlapTokens: 0, tokens: defaultTokens };
    const ids = [...split(document, options)].map(({ id }) => id);
    expect([...split(document, options)].map(({ id }) => id)).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("counts each character a bounded number of times, at any length", () => {
    const parts = ["word ", "x", "漢", "A sentence here. ", "# h\n\n", "- item\n", "| a | b |\n"];
    const strategies = ["structure", "structure", "structure", "fixed", "sentence-window"] as const;
    for (const [at, part] of [...parts, ...parts].entries()) {
      const text = part.repeat(Math.ceil(200_000 / part.length));
      let counted = 0;
      const counting: TokenCounter = {
        name: "counting",
        count: (given) => {
          counted += given.length;
          return defaultTokens.count(given);
        },
        measure: (given) => {
          counted += given.length;
          return defaultTokens.measure(given);
        },
      };
      const chunks = [
        ...split(
          { uri: "memo:1", text, mediaType: "text/markdown" },
          { maxTokens: 256, overlapTokens: 32, parentTokens: 1024, tokens: counting },
          strategies[at % strategies.length],
        ),
      ];
      expect(chunks.length).toBeGreaterThan(1);
      expect(counted / text.length).toBeLessThan(4);
    }
  });

  test("refuses a limit below a single character", () => {
    const dear: TokenCounter = { name: "dear", count: (text) => 100 * text.length };
    expect(() => [...split({ uri: "memo:1", text: "abc" }, { maxTokens: 16, overlapTokens: 0, tokens: dear })]).toThrow(
      /character at 0 of memo:1 has more than maxTokens \(16\)/,
    );
  });
});

const corpus = fileURLToPath(new URL("../../../../shared/data/docs-corpus", import.meta.url));
if (!existsSync(corpus)) console.warn(`skipped: no real Markdown to split at ${corpus}`);

test.skipIf(!existsSync(corpus))(
  "all real Markdown files are split within limits of 256, 512 and 8192 tokens",
  { timeout: 60_000 },
  () => {
    const files = readdirSync(corpus, { recursive: true, encoding: "utf8" }).filter((name) =>
      /^(?:en|zh).*\.md$/.test(name),
    );
    expect(files.length).toBe(886);
    for (const name of files) {
      const document = {
        uri: name,
        title: name,
        text: readFileSync(join(corpus, name), "utf8"),
        mediaType: "text/markdown",
      };
      for (const maxTokens of [256, 512, 8192]) {
        const options = { maxTokens, overlapTokens: 32, tokens: defaultTokens };
        expect(chunkProblems(document, options, [...split(document, options)])).toEqual([]);
      }
    }
  },
);
