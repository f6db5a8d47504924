import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sentences } from "../../../src/text/blocks/sentences.js";
import { hostileText } from "../hostile-text.js";

const split = (text: string) => sentences(text).map(({ start, end }) => text.slice(start, end));

describe("sentences", () => {
  test("in English end at full stops, but not after abbreviations, initials, versions or file names", () => {
    expect(split("Paris (lit. Town) grew. Rome did, too.")).toEqual(["Paris (lit. Town) grew.", "Rome did, too."]);
    expect(split('See Dr. J. Smith, e.g. in "setup.md." It needs v1.2 or later. Why? Ask!')).toEqual([
      'See Dr. J. Smith, e.g. in "setup.md."',
      "It needs v1.2 or later.",
      "Why?",
      "Ask!",
    ]);
  });

  test("in Chinese end at full-width stops with their quotes", () => {
    expect(split("他说：“走吧。”我们走了！为什么？因为。")).toEqual([
      "他说：“走吧。”",
      "我们走了！",
      "为什么？",
      "因为。",
    ]);
  });

  test.each([
    ["先安装。`npm i` 会运行。", ["先安装。", "`npm i` 会运行。"]],
    ["先安装。**注意**：需要令牌。", ["先安装。", "**注意**：需要令牌。"]],
    ["运行 `npm i。`然后等。", ["运行 `npm i。`", "然后等。"]],
    ["**先安装。**然后等。", ["**先安装。**", "然后等。"]],
  ])("in Chinese keep marks of code and emphasis with the words that they mark: %s", (text, parts) => {
    expect(split(text)).toEqual(parts);
  });

  test("continue over a wrapped line, and end with a paragraph, a heading or a list item", () => {
    expect(split("# Title\nOne line\ngoes on.\n\nNext\n- first\n- second\n1. Third. Done.")).toEqual([
      "# Title",
      "One line\ngoes on.",
      "Next",
      "- first",
      "- second",
      "1. Third.",
      "Done.",
    ]);
  });

  test("are in order, are not blank, split no surrogate pair and leave out only white space", () => {
    fc.assert(
      fc.property(hostileText(), (text) => {
        let behind = 0;
        for (const { start, end } of sentences(text)) {
          expect(text.slice(behind, start).trim()).toBe("");
          expect(text.slice(start, end).trim()).toBe(text.slice(start, end));
          expect(end).toBeGreaterThan(start);
          for (const bound of [start, end]) {
            expect(text.slice(Math.max(0, bound - 1), bound + 1)).not.toMatch(/^[\ud800-\udbff][\udc00-\udfff]$/);
          }
          behind = end;
        }
        expect(text.slice(behind).trim()).toBe("");
      }),
    );
  });

  test("are found in a million repeated characters without hanging", () => {
    for (const part of [".", " ", "\n", ". ", "a.", "。", '"', "1. ", "\r", "e.g. ", "。`a", "。``", "`。"]) {
      expect(sentences(part.repeat(500_000)).length).toBeLessThanOrEqual(500_001);
    }
  });
});
