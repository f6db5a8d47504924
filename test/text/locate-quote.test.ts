import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { alignWords, bestWindow } from "../../src/text/align-words.js";
import { comparable } from "../../src/text/comparable-text.js";
import { quoteLocator } from "../../src/text/locate-quote.js";
import type { WordSpan } from "../../src/text/word-spans.js";

const text = `# Keys

An **API key** expires after 90 days. It can’t be renewed — create a
new one under [Settings](https://example.org/settings) and store it safely.

密钥在创建后
九十天内有效，不能续期。The café’s price is 1,500 € per year.`;
const locator = quoteLocator(text);
const found = (words: string) => {
  const at = locator.quote(words);
  return at && [at.support, text.slice(at.start, at.end)];
};

describe("a quote", () => {
  test.each([
    ["An **API key** expires", "exact", "An **API key** expires"],
    ["an API key expires after 90 days", "normalised", "An **API key** expires after 90 days"],
    ["It can't be renewed - create a new one", "normalised", "It can’t be renewed — create a\nnew one"],
    ["under Settings and store it", "normalised", "under [Settings](https://example.org/settings) and store it"],
    ["密钥在创建后九十天内有效,不能续期", "normalised", "密钥在创建后\n九十天内有效，不能续期"],
    ["The cafe's price is 1,500 €", "normalised", "The café’s price is 1,500 €"],
    ["expires after ninety-odd 90 days it can't be renewed", "fuzzy", "expires after 90 days. It can’t be renewed"],
    [
      "create one new one under settings and store",
      "fuzzy",
      "create a\nnew one under [Settings](https://example.org/settings) and store",
    ],
  ])("%j is found: %s", (words, support, own) => {
    expect(found(words)).toEqual([support, own]);
  });

  test.each([
    ["An API key expires after 30 days. It can't be renewed", "another number"],
    ["密钥在创建后九十天内有效，能续期", "a dropped negation"],
    ["An API key expires after 90 days. It can be renewed", "a dropped negation"],
    ["days expire key API an after 90", "another order"],
    ["Keys are renewed by the administrator every month", "other words"],
    ["pire", "part of a word"],
    ["", "nothing"],
    ['… " !', "punctuation alone"],
  ])("%j is not found: %s", (words) => {
    expect(found(words)).toBeUndefined();
  });
});

describe("a sentence without quoted words", () => {
  const rests = (sentence: string) => {
    const at = locator.sentence(sentence);
    return at && text.slice(at.start, at.end);
  };
  test.each([
    ["Your API key expires 90 days after that.", "An **API key** expires after 90 days."],
    ["密钥创建后九十天内有效。", "密钥在创建后\n九十天内有效，不能续期。"],
  ])("%j rests on the sentence that holds most of its words", (sentence, stretch) => {
    expect(rests(sentence)).toBe(stretch);
  });

  test.each([
    "An API key expires after 30 days.",
    "An API key never expires after 90 days.",
    "The office opens at nine in the morning.",
    "Yes.",
  ])("%j rests on nothing here", (sentence) => {
    expect(rests(sentence)).toBeUndefined();
  });
});

const words = fc.array(
  fc.constantFrom("key", "Key", "café", "ﬁle", "90", "“so”", "—", "密", "钥", "**x**", "İ", "🙂"),
  {
    minLength: 1,
    maxLength: 25,
  },
);
const spaces = fc.constantFrom(" ", "\n", "  ");

test("any run of whole words is found exactly where a plain search finds it", () => {
  fc.assert(
    fc.property(words, spaces, fc.nat(24), fc.nat(24), (all, space, from, count) => {
      const start = from % all.length;
      const run = all.slice(start, start + 1 + count).join(space);
      fc.pre(/[\p{L}\p{N}]/u.test(run));
      const whole = all.join(space);
      const at = quoteLocator(whole).quote(run);
      expect(at?.support).toBe("exact");
      expect(whole.slice(at?.start, at?.end)).toBe(run);
    }),
  );
});

test("every place in the comparable form leads back to characters that have that very form", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        words.map((all) => all.join(" ")),
        fc.string({ unit: "binary" }),
      ),
      (original) => {
        const form = comparable(original);
        expect(form.starts).toHaveLength(form.text.length);
        for (let at = 0; at < form.text.length; at++) {
          const start = form.starts[at] ?? -1;
          const end = form.ends[at] ?? -1;
          expect(end).toBeGreaterThan(start);
          expect(start).toBeGreaterThanOrEqual(at === 0 ? 0 : (form.starts[at - 1] ?? 0));
          const character = original.slice(start, end);
          if (form.text[at] !== " ") expect(comparable(character).text).toContain(form.text[at]);
        }
      },
    ),
  );
});

const few = fc.array(fc.constantFrom<string[]>("a", "b", "c", "d"), { maxLength: 9 });
const spans = (list: readonly string[]): WordSpan[] => list.map((word, at) => ({ word, start: at, end: at + 1 }));

/** Edit distance of two lists, by its definition. */
function distance(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return a.length + b.length;
  const [x, ...restA] = a;
  const [y, ...restB] = b;
  return x === y
    ? distance(restA, restB)
    : 1 + Math.min(distance(restA, restB), distance(a, restB), distance(restA, b));
}

test("alignment finds a window exactly when trying every window finds one, and one as good", () => {
  fc.assert(
    fc.property(
      few.filter((list) => list.length > 0 && list.length < 6),
      few,
      (wanted, all) => {
        const limit = Math.floor(wanted.length * 0.4 + 1e-9);
        let least = Infinity;
        for (let from = 0; from < all.length; from++) {
          for (let to = from + 1; to <= all.length; to++)
            least = Math.min(least, distance(wanted, all.slice(from, to)));
        }
        const window = alignWords(spans(wanted), spans(all), 0.6);
        expect(window !== undefined).toBe(least <= limit);
        if (window) expect(distance(wanted, all.slice(window.from, window.to))).toBe(least);
      },
    ),
    { numRuns: 200 },
  );
});

test("the best window holds as many distinct words as the best of all windows of its width", () => {
  fc.assert(
    fc.property(
      few,
      fc.array(fc.constantFrom<string[]>("a", "b", "c", "d", "x", "y", "z"), { maxLength: 60 }),
      (wanted, all) => {
        const width = Math.max(2 * wanted.length, 12);
        const held = (list: readonly string[]) => new Set(list.filter((word) => wanted.includes(word))).size;
        const most = Math.max(0, ...all.map((_, from) => held(all.slice(from, from + width))));
        const window = bestWindow(spans(wanted), spans(all), 0.6);
        expect(window !== undefined).toBe(most > 0 && most >= 0.6 * new Set(wanted).size);
        if (window) expect(held(all.slice(window.from, window.to))).toBe(most);
      },
    ),
  );
});

test("a hostile source and a hostile quote are read in a bounded number of steps", () => {
  const brackets = quoteLocator("](".repeat(50_000));
  expect(brackets.quote("one two three four five")).toBeUndefined();
  const apostrophes = quoteLocator(`a${"'".repeat(100_000)}b`);
  expect(apostrophes.quote("one two three four five")).toBeUndefined();
  const repeats = quoteLocator("a b ".repeat(20_000));
  expect(repeats.quote("a ".repeat(190))).toBeUndefined();
  expect(repeats.quote("c ".repeat(100_000))).toBeUndefined();
});
