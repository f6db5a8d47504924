import * as fc from "fast-check";
import { expect, test } from "vitest";
import { nearestWindow } from "../../../src/text/citations/nearest-window.js";

test("the nearest window has as many distinct words as any window of its width", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom<string[]>("a", "b", "c", "d"), { maxLength: 9 }),
      fc.array(fc.constantFrom<string[]>("a", "b", "c", "d", "x", "y", "z"), { maxLength: 60 }),
      (wanted, all) => {
        const width = Math.max(2 * wanted.length, 12);
        const held = (list: readonly string[]) => new Set(list.filter((word) => wanted.includes(word))).size;
        const most = Math.max(0, ...all.map((_, from) => held(all.slice(from, from + width))));
        const window = nearestWindow(wanted, all, 0.6);
        expect(window !== undefined).toBe(most > 0 && most >= 0.6 * new Set(wanted).size);
        if (window) expect(held(all.slice(window.from, window.to))).toBe(most);
      },
    ),
  );
});

test("words that lie more than twice the claim's length apart, and more than twelve words, do not count together", () => {
  const wanted = ["a", "b", "c", "d", "e", "f"];
  const others = (count: number) => Array.from({ length: count }, () => "x");
  expect(nearestWindow(wanted, ["a", "a", ...others(11), "b", "c", "d"], 0.6)).toBeUndefined();
  expect(nearestWindow(["a", "b", "c", "d"], ["a", ...others(9), "b", "c"], 0.6)).toEqual({ from: 0, to: 12 });
  expect(nearestWindow(["a", "b", "c", "d"], ["a", ...others(10), "b", "c"], 0.6)).toBeUndefined();
  // Twelve words: the first "a" is one too many.
  expect(nearestWindow(wanted, ["a", "a", "b", "c", ...others(7), "d", "e"], 0.6)).toEqual({ from: 1, to: 13 });
});
