import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { longestStart, safeEnd, shorten } from "../../../src/text/blocks/cut-text.js";

const anyText = fc.string({ unit: fc.constantFrom("a", "漢", "🙂", "🙃"), maxLength: 40 });
const halfPair = /\p{Surrogate}/u;

describe("a shortened text", () => {
  test.each([
    ["abcde", 5, "abcde"],
    ["abcde", 4, "abc…"],
    ["ab🙂cd", 5, "ab🙂…"],
    ["ab🙂cd", 4, "ab…"],
    ["🙂🙂", 2, "…"],
    ["ab", 0, "…"],
  ])("of %j to %i characters is %j", (text, most, expected) => {
    expect(shorten(text, most)).toBe(expected);
  });

  test("keeps to its length, begins as the text does, and never ends within a surrogate pair", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 50 }), (text, most) => {
        const short = shorten(text, most);
        expect(short.length).toBeLessThanOrEqual(most);
        expect(short).not.toMatch(halfPair);
        if (text.length <= most) expect(short).toBe(text);
        else expect(text.startsWith(short.slice(0, -1)) && short.endsWith("…")).toBe(true);
      }),
    );
  });
});

describe("the longest start that fits", () => {
  test("is the longest of all starts that part no surrogate pair, and no half of a pair is ever asked about", () => {
    const starts = (text: string) => Array.from(text).map((_, at, all) => all.slice(0, at + 1).join(""));
    fc.assert(
      fc.property(anyText, fc.nat(90), (text, most) => {
        const found = longestStart(text, (start) => {
          expect(start).not.toMatch(halfPair);
          return start.length <= most;
        });
        expect(found).toBe(starts(text).findLast((start) => start.length <= most) ?? "");
      }),
    );
  });

  test("of a long text too, and what is asked about is never more than twice as long as it, nor than 4,096", () => {
    for (const most of [0, 1, 4095, 4096, 4097, 5000, 8192, 20_000, 99_999, 100_000]) {
      const text = "🙂".repeat(50_000);
      let longest = 0;
      const found = longestStart(text, (start) => {
        longest = Math.max(longest, start.length);
        return start.length <= most;
      });
      expect(found).toHaveLength(most - (most % 2));
      expect(longest).toBeLessThanOrEqual(Math.max(4096, 2 * most));
    }
  });
});

test("an end between the halves of a pair moves before it, any other stays", () => {
  const text = "a🙂b";
  expect([0, 1, 2, 3, 4].map((end) => safeEnd(text, end))).toEqual([0, 1, 1, 3, 4]);
  for (const edge of ["\ud800\udc00", "\udbff\udfff"]) expect(safeEnd(edge, 1)).toBe(0);
  for (const whole of ["\ud7ff", "\ue000", "\udc00"]) expect(safeEnd(whole, 1)).toBe(1);
});
