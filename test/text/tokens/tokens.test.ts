import { createRequire } from "node:module";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defaultTokens, tokenRank } from "../../../src/text/tokens/tokens.js";
import { hostileText } from "../hostile-text.js";

const { countTokens } = createRequire(import.meta.url)(
  "gpt-tokenizer/encoding/cl100k_base",
) as typeof import("gpt-tokenizer/encoding/cl100k_base");
const library = (text: string) => countTokens(text, { disallowedSpecial: new Set() });
/** The library does not find the eight tokens of its vocabulary that begin with a byte order mark. */
const unmarked = (text: string) => text.replaceAll("\ufeff", "");
const measure = (text: string) => defaultTokens.measure(text);

describe("counting tokens", () => {
  test("agrees with the library on hostile text", () => {
    fc.assert(
      fc.property(hostileText(), (text) => {
        expect(defaultTokens.count(unmarked(text))).toBe(library(unmarked(text)));
      }),
      { numRuns: 500 },
    );
  });

  test("agrees with the library on any mix of code units, lone surrogates included", () => {
    const units = fc.array(fc.oneof(fc.nat(0x7f), fc.nat(0xffff), fc.constantFrom(0x20, 0x27, 0x0a, 0xd83d, 0xde00)));
    fc.assert(
      fc.property(units, (codes) => {
        const text = unmarked(String.fromCharCode(...codes));
        expect(defaultTokens.count(text)).toBe(library(text));
      }),
      { numRuns: 500 },
    );
  });

  test("agrees with the library on the first and the last of all code units", () => {
    for (const text of ["\u0000", "\u0000\u0000 \u0000", "\uffff", "a\uffff", "\uffff\uffff b"])
      expect(defaultTokens.count(text)).toBe(library(text));
  });

  test("counts special words as the text they are", () => {
    expect(defaultTokens.count("<|endoftext|>")).toBe(library("<|endoftext|>"));
    expect(defaultTokens.count("<|endoftext|>")).toBeGreaterThan(1);
  });

  test("counts a byte order mark as the one token that the vocabulary has for it", () => {
    expect(defaultTokens.count("\ufeff")).toBe(1);
  });

  test("counts an unbroken run in pieces, and never below the library's count", () => {
    for (const run of ["a".repeat(5_000), "啊".repeat(2_000), "😀".repeat(900), "-".repeat(4_000), " ".repeat(3_000)]) {
      expect(defaultTokens.count(run)).toBeGreaterThanOrEqual(library(run));
    }
  });

  test("stays exact over more different words than it remembers", () => {
    const text = Array.from({ length: 80_000 }, (_, index) => `w${(index * 7919).toString(36)}`).join(" ");
    expect(defaultTokens.count(text)).toBe(library(text));
    expect(defaultTokens.count(text)).toBe(library(text));
  });

  test("takes ten megabytes without a single break", () => {
    expect(defaultTokens.count("z".repeat(10_000_000))).toBeGreaterThan(1_000_000);
  });

  test("finds no tokens in an empty text", () => {
    expect(defaultTokens.count("")).toBe(0);
    expect(measure("")).toEqual({ ends: new Uint32Array(0), tokens: new Uint32Array(0) });
  });
});

describe("measuring", () => {
  test("ends at the end of the text with the count of the text", () => {
    fc.assert(
      fc.property(hostileText(), (text) => {
        const { ends, tokens } = measure(text);
        expect(ends.length).toBe(tokens.length);
        expect(ends.at(-1) ?? 0).toBe(text.length);
        expect(tokens.at(-1) ?? 0).toBe(defaultTokens.count(text));
      }),
    );
  });

  test("rises with every piece and never splits a surrogate pair", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          hostileText(),
          fc.nat(1_500).map((length) => `x${"😀".repeat(length)}`),
        ),
        (text) => {
          const { ends, tokens } = measure(text);
          for (let piece = 0; piece < ends.length; piece++) {
            expect(ends[piece]).toBeGreaterThan(ends[piece - 1] ?? 0);
            expect(tokens[piece]).toBeGreaterThan(tokens[piece - 1] ?? 0);
            expect(text.slice(ends[piece]! - 1, ends[piece]! + 1)).not.toMatch(/^[\ud800-\udbff][\udc00-\udfff]$/);
          }
        },
      ),
    );
  });

  test("gives the count of any slice between two pieces without white space at its edges", () => {
    fc.assert(
      fc.property(hostileText(), fc.nat(), fc.nat(), (text, one, other) => {
        const { ends, tokens } = measure(text);
        const [from, to] = [one % (ends.length + 1), other % (ends.length + 1)].toSorted((a, b) => a - b) as [
          number,
          number,
        ];
        const slice = text.slice(ends[from - 1] ?? 0, ends[to - 1] ?? 0);
        fc.pre(slice !== "" && !/^\s|\s$/.test(slice));
        expect(defaultTokens.count(slice)).toBe((tokens[to - 1] ?? 0) - (tokens[from - 1] ?? 0));
      }),
      { numRuns: 300 },
    );
  });
});

test("a token has the rank of its line in the vocabulary, and a text of several tokens has none", () => {
  expect(tokenRank("!")).toBe(0);
  expect(tokenRank(" the")).toBe(279);
  expect(tokenRank(" thylakoids")).toBeUndefined();
});
