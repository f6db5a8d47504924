import { expect, test } from "vitest";
import { wholeBefore } from "../../../src/text/blocks/break-points.js";
import { split, type Strategy } from "../../../src/text/chunking/split.js";
import { defaultTokens } from "../../../src/text/tokens/tokens.js";

test.each([
  ["a letter and its accent", "e\u0301"],
  ["a letter and two marks", "o\u0302\u0323"],
  ["a line break of two characters", "\r\n"],
])("no cut parts %s", (_, character) => {
  for (const strategy of ["structure", "fixed", "sentence-window"] as const satisfies Strategy[]) {
    const word = `x${character.repeat(10)}y `;
    const text = word.repeat(40);
    const chunks = [
      ...split({ uri: "memo:1", text }, { maxTokens: 24, overlapTokens: 4, tokens: defaultTokens }, strategy),
    ];
    const inside = chunks.flatMap(({ start, end }) => [start, end]).map((at) => (at % word.length) - 1);
    const parted = inside.filter((at) => at > 0 && at < 10 * character.length && at % character.length !== 0);
    expect(parted).toEqual([]);
  }
});

test("a cut beside a joiner goes before the characters that it joins", () => {
  const text = "ab\u200dcd";
  expect([1, 2, 3, 4].map((at) => wholeBefore(text, 0, at))).toEqual([1, 1, 1, 4]);
  expect([1, 2, 3].map((at) => wholeBefore("a\r\nb", 0, at))).toEqual([1, 1, 3]);
  expect([1, 2, 3].map((at) => wholeBefore("a\n\rb", 0, at))).toEqual([1, 2, 3]);
});
