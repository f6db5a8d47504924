// In test:all alone: it compares with a slow oracle over hostile texts, for 25 s.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TokenCounter } from "../../../src/core/ports.js";
import { defaultTokens } from "../../../src/text/tokens/tokens.js";
import type { Document } from "../../../src/core/types.js";
import { everyStrategy, splitByAny } from "./any-strategy.js";
import { chunkProblems } from "./chunk-problems.js";
import { countedSteps } from "../counted-steps.js";
import { hostileText } from "../hostile-text.js";

/** Repeated without end, each is what one rule or another reads on for. */
const patterns: Readonly<Record<string, string>> = {
  "no spaces": "x",
  "no full stops": "word ",
  "full stops alone": ". ",
  abbreviations: "e.g. ",
  "Chinese without a stop": "漢字仮名交文検索拡張生成",
  "Chinese clauses": "文，",
  "joined emoji": "👩‍👩‍👧‍👦",
  "joiners alone": "\u200d",
  "combining marks": "e\u0301\u0302",
  "marks alone": "\u0301",
  "right to left": "שלום עולם. ",
  "directions that change": "\u202eabc\u202c عربي ",
  "mixed scripts": "aд漢ع😀ก",
  "white space": "a                         ",
  tabs: "\tx",
  CRLF: "line\r\n",
  "blank CRLF": "a\r\n\r\n\r\n",
  "lone CR": "line\r",
  "lone surrogates": "\ud83d",
  "surrogates the wrong way round": "\ude00\ud83d",
  NUL: "\u0000",
  "byte order marks": "a\ufeff",
  "line separators": "a\u2028b\u2029",
  Base64: "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0NTY3ODkw",
  "special words": "<|endoftext|>",
  "unclosed fences": "```\ncode\n",
  "fences of two kinds": "```\n~~~\n",
  "one long fence line": "`",
  headings: "# h\n",
  "setext headings": "a\n===\n",
  "headings without text": "#\n\n",
  "colons that announce": "For example:\n\n- a\n\n",
  "colons before white space": `a:${"\n".repeat(30)}- b\n`,
  "nested lists": "- a\n  - b\n    - c\n      - d\n",
  "ever deeper lists": "1. ",
  quotations: "> ",
  "table rows": "| a | b |\n|---|---|\n",
  bars: "|",
  tags: "<div>\n",
  "unclosed comments": "<!-- a\n\n",
  "unclosed raw elements": "<pre>\n<script>\n\n",
  "table cells in HTML": "<table><tr><td>a\n\n</td></tr></table>\n",
  dashes: "-",
  rules: "---\n",
  "indented code": "    if (a) {\n\n    }\n",
};
const mediaTypes = ["text/markdown", "text/plain", "text/x-python"] as const;

/** The cheapest possible counter, so that only the cutting is measured. */
const quarters: TokenCounter = { name: "quarters", count: (text) => Math.ceil(text.length / 4) };

describe("every strategy, on hostile text", () => {
  test("covers the text with slices in order, exactly counted, within the limit, splitting no character", () => {
    const anyDocument = fc.record({
      uri: fc.constant("memo:1"),
      title: fc.constantFrom("", "Title", "A title of many words ".repeat(20)),
      text: fc
        .array(fc.oneof(hostileText(40), fc.constantFrom(...Object.values(patterns).map((part) => part.repeat(40)))), {
          maxLength: 6,
        })
        .map((parts) => parts.join("")),
      mediaType: fc.constantFrom(...mediaTypes),
    });
    const anyOptions = fc.record({
      maxTokens: fc.integer({ min: 16, max: 90 }),
      overlapTokens: fc.constantFrom(0, 4, 1000),
      parentTokens: fc.constantFrom(0, 40, 1024),
      tokens: fc.constantFrom(defaultTokens, quarters),
    });
    const distances = fc.array(fc.float({ min: 0, max: 2, noNaN: true }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(
        anyDocument,
        anyOptions,
        fc.constantFrom(...everyStrategy),
        distances,
        (document, options, by, far) => {
          expect(chunkProblems(document, options, splitByAny(document, options, by, far))).toEqual([]);
        },
      ),
      { numRuns: 300 },
    );
  });

  test.each(Object.entries(patterns))("takes steps in proportion to its length: %s", (_, pattern) => {
    const options = { maxTokens: 64, overlapTokens: 16, parentTokens: 200, tokens: quarters };
    const stepsFor = (length: number, more: Partial<Document>, strategy: (typeof everyStrategy)[number]) => {
      const text = pattern.repeat(Math.ceil(length / pattern.length));
      return countedSteps(() => splitByAny({ uri: "memo:1", title: "Title", text, ...more }, options, strategy));
    };
    for (const strategy of everyStrategy) {
      for (const mediaType of mediaTypes) {
        const [short, long] = [3_000, 12_000].map((length) => stepsFor(length, { mediaType }, strategy));
        expect(long! / short!, `${strategy}, ${mediaType}`).toBeLessThan(4.8);
      }
    }
  });

  // How steps grow is known from the test before: one strategy at full length is enough.
  test.each([
    ["structure", 10],
    ["fixed", 1],
    ["sentence-window", 1],
    ["semantic", 1],
  ] as const)("cuts a single line: %s, %i megabytes", (strategy, megabytes) => {
    const parts = ["word ".repeat(400), "x".repeat(3000), "漢字".repeat(800), "👩‍👩‍👧‍👦".repeat(200), "שלום ".repeat(300)];
    const whole = parts.join("");
    const text = whole.repeat(Math.ceil((megabytes * 1_000_000) / whole.length));
    const document = { uri: "memo:1", text, mediaType: "text/markdown" };
    const options = { maxTokens: 2048, overlapTokens: 32, parentTokens: 0, tokens: quarters };
    expect(chunkProblems(document, options, splitByAny(document, options, strategy))).toEqual([]);
  });
});
