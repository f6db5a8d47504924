import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { alignWords, bestWindow } from "../../../src/text/citations/align-words.js";
import { comparable } from "../../../src/text/citations/comparable-text.js";
import { quoteLocator } from "../../../src/text/citations/locate-quote.js";
import type { WordSpan } from "../../../src/text/citations/comparable-text.js";

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
  ])("%j is supported by the sentence with most of its words", (sentence, stretch) => {
    expect(rests(sentence)).toBe(stretch);
  });

  test.each([
    "An API key expires after 30 days.",
    "An API key never expires after 90 days.",
    "The office opens at nine in the morning.",
    "Yes.",
  ])("%j has no support here", (sentence) => {
    expect(rests(sentence)).toBeUndefined();
  });
});

describe("a quote that ends or begins inside a word of the text", () => {
  test.each([
    ["pay the cat", "Members pay the category fee."],
    ["PAY the cat", "Members pay the category fee."],
    ["ate the fee", "They debate the fee."],
    ["the 90", "the 900 days"],
    ["the cat.", "the category"],
    ["pay the café", "pay the caféteria"],
    ["the \u{1d400}", "the \u{1d400}\u{1d401}"],
  ])("%j is not in %j", (quote, whole) => {
    expect(quoteLocator(whole).quote(quote)).toBeUndefined();
    expect(quoteLocator(whole).sentence(quote)).toBeUndefined();
  });

  test("is found where the same words stand whole behind that place", () => {
    const whole = "Members pay the category fee, guests pay the cat.";
    expect(quoteLocator(whole).quote("pay the cat")).toEqual({ start: 37, end: 48, support: "exact" });
    expect(quoteLocator(whole).quote("Pay THE cat")).toEqual({ start: 37, end: 48, support: "normalised" });
  });

  test.each([
    ["the cat", "the cat's tail", "punctuation"],
    ["密钥", "新密钥有效", "a script that puts no spaces between words"],
    ["key-", "key-value", "a quote that ends with punctuation itself"],
  ])("%j is found in %j: what follows is %s", (quote, whole) => {
    const at = quoteLocator(whole).quote(quote);
    expect([at?.support, whole.slice(at?.start, at?.end)]).toEqual(["exact", quote]);
  });
});

describe("near enough", () => {
  const numbered = (count: number, other = 0) =>
    Array.from({ length: count }, (_, at) =>
      at % 2 === 1 && at < 2 * other ? `other${letter(at)}` : `word${letter(at)}`,
    );
  const letter = (at: number) => String.fromCharCode(97 + at);

  test.each([
    [5, 1, "fuzzy"],
    [10, 2, "fuzzy"],
    [15, 3, "fuzzy"],
    [4, 1, undefined],
    [9, 2, undefined],
    [10, 3, undefined],
    [14, 3, undefined],
  ])("of a quote of %i words, %i are others (at most a fifth may be): %s", (count, other, support) => {
    const place = quoteLocator(`Before it. ${numbered(count).join(" ")}. Behind it.`);
    expect(place.quote(numbered(count, other).join(" "))?.support).toBe(support);
  });

  test.each([
    [5, 2, "fuzzy"],
    [10, 4, "fuzzy"],
    [15, 6, "fuzzy"],
    [4, 2, undefined],
    [10, 5, undefined],
    [7, 3, undefined],
    [12, 5, undefined],
  ])("of a sentence of %i words, %i are others (at most two fifths may be): %s", (count, other, support) => {
    const place = quoteLocator(`Before it. ${numbered(count).join(" ")}. Behind it.`);
    expect(place.sentence(numbered(count, other).join(" "))?.support).toBe(support);
  });

  test("three words that stand there in another form are too few to be near anything, four are enough", () => {
    const place = quoteLocator("worda wordb so wordc wordd.");
    expect(place.quote("worda wordb wordc")).toBeUndefined();
    expect(place.quote("worda wordb wordc wordd")).toBeUndefined();
    expect(place.sentence("wordb worda wordc")).toBeUndefined();
    expect(place.sentence("wordb worda wordd wordc")?.support).toBe("fuzzy");
  });

  test("200 words are aligned, 201 are not", () => {
    const many = Array.from({ length: 210 }, (_, at) => `w${at}x`);
    const place = quoteLocator(many.join(" "));
    const changed = (count: number) => ["other", ...many.slice(1, count)].join(" ");
    expect(place.quote(changed(200))?.support).toBe("fuzzy");
    expect(place.quote(changed(201))).toBeUndefined();
    expect(place.sentence(changed(200))?.support).toBe("fuzzy");
    expect(place.sentence(changed(201))).toBeUndefined();
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

test("any run of whole words is found where a plain search finds it", () => {
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

test("every place in the comparable form leads back to characters with that form", () => {
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

test("alignment finds a window whenever trying every window does, and an equally good one", () => {
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

test("the best window has as many distinct words as any window of its width", () => {
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

test("words that lie more than twice the sentence's length apart do not count together", () => {
  const wanted = spans(["a", "b", "c", "d", "e", "f"]);
  const others = (count: number) => Array.from({ length: count }, () => "x");
  expect(bestWindow(wanted, spans(["a", "a", ...others(11), "b", "c", "d"]), 0.6)).toBeUndefined();
  // Twelve words: the first "a" is one too many.
  expect(bestWindow(wanted, spans(["a", "a", "b", "c", ...others(7), "d", "e"]), 0.6)).toEqual({ from: 1, to: 13 });
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
