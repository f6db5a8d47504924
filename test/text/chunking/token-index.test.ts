import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { TokenCounter } from "../../../src/core/ports.js";
import { TokenIndex } from "../../../src/text/chunking/token-index.js";
import { defaultTokens } from "../../../src/text/tokens/tokens.js";
import { hostileText } from "../hostile-text.js";

/** A text with its pieces, and two offsets into it in order. */
const measured = fc
  .tuple(hostileText(20), fc.nat(), fc.nat())
  .filter(([text]) => text !== "")
  .map(([text, one, other]) => {
    const { ends, tokens } = defaultTokens.measure(text);
    const pieces = Array.from(ends, (end, index) => ({
      start: ends[index - 1] ?? 0,
      end,
      tokens: tokens[index]! - (tokens[index - 1] ?? 0),
    }));
    const [start, end] = [one % text.length, other % (text.length + 1)].toSorted((a, b) => a - b) as [number, number];
    return { text, pieces, start, end };
  });
const total = (pieces: readonly { readonly tokens: number }[]) => pieces.reduce((sum, { tokens }) => sum + tokens, 0);

test("tokens between two offsets are those of all pieces that touch the span", () => {
  fc.assert(
    fc.property(measured, ({ text, pieces, start, end }) => {
      const touching = start === end ? [] : pieces.filter((piece) => piece.end > start && piece.start < end);
      expect(TokenIndex.of(text, defaultTokens).between(start, end)).toBe(total(touching));
    }),
  );
});

test("the reach of a budget is the furthest end of a piece within it, forwards and backwards", () => {
  fc.assert(
    fc.property(measured, fc.nat(30), ({ text, pieces, start, end }, budget) => {
      const index = TokenIndex.of(text, defaultTokens);
      const ahead = pieces.filter((piece) => piece.end > start && index.between(start, piece.end) <= budget);
      expect(index.reach(start, budget)).toBe(ahead.at(-1)?.end ?? start);
      const behind = pieces.filter((piece) => piece.start < end && index.between(piece.start, end) <= budget);
      expect(index.reachBack(end, budget)).toBe(behind[0]?.start ?? end);
    }),
  );
});

test("a budget of exactly the tokens of some pieces reaches over all of them, and one token less does not", () => {
  fc.assert(
    fc.property(measured, ({ text, pieces, start, end }) => {
      const [first, last] = [start % pieces.length, end % pieces.length].toSorted((a, b) => a - b) as [number, number];
      const index = TokenIndex.of(text, defaultTokens);
      for (const [from, to] of [
        [first, last],
        [0, last],
        [first, pieces.length - 1],
      ] as const) {
        const exact = total(pieces.slice(from, to + 1));
        expect(index.reach(pieces[from]!.start, exact)).toBeGreaterThanOrEqual(pieces[to]!.end);
        expect(index.reachBack(pieces[to]!.end, exact)).toBeLessThanOrEqual(pieces[from]!.start);
        if (exact === 0) continue;
        expect(index.reach(pieces[from]!.start, exact - 1)).toBeLessThan(pieces[to]!.end);
        expect(index.reachBack(pieces[to]!.end, exact - 1)).toBeGreaterThan(pieces[from]!.start);
      }
    }),
  );
});

test("a counter that cannot measure gets words, never more than a line at once", () => {
  const asked: number[] = [];
  const counter: TokenCounter = {
    name: "length",
    count: (text) => {
      asked.push(text.length);
      return text.length;
    },
  };
  const text = `short words ${"x".repeat(1_000)} ${" ".repeat(1_000)}end`;
  expect(TokenIndex.of(text, counter).between(0, text.length)).toBe(text.length);
  expect(Math.max(...asked)).toBeLessThanOrEqual(80);
});

/** Texts of what pre-tokens begin or end with, and of runs that are cut for their length. */
const pieceTexts = fc
  .array(
    fc.oneof(
      fc.constantFrom(" ", "\n", "\r\n", "\t", "a", "Ab", "é", "7", "'s", "'", "!", "|", "漢", "𠀀", "\u3000"),
      fc.constantFrom("!".repeat(511), "x".repeat(513), " ".repeat(512), "_".repeat(1025)),
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((parts) => parts.join(""));

test("tokens of a slice by itself, read off the whole text, are those that are counted in it, also behind a blank line", () => {
  fc.assert(
    fc.property(fc.oneof(pieceTexts, hostileText(20)), (text) => {
      const index = TokenIndex.of(text, defaultTokens);
      const ends = [0, ...defaultTokens.measure(text).ends];
      for (const start of ends.slice(0, 40)) {
        for (const end of ends.slice(0, 40)) {
          const known = index.ofSlice(start, end);
          if (known === undefined) continue;
          const slice = text.slice(start, end);
          expect(known).toBe(defaultTokens.count(slice));
          expect(known).toBe(defaultTokens.count(`Title.\n\n${slice}`) - defaultTokens.count("Title.\n\n"));
          expect(known).toBe(defaultTokens.count(`Title\n\n${slice}`) - defaultTokens.count("Title\n\n"));
        }
      }
    }),
    { numRuns: 300 },
  );
});

test("chunks of prose are not counted again, and those of another counter are", () => {
  const text = "# Keys\n\nA key lasts 90 days. It's rotated then.\n\n- one\n- two\n".repeat(40);
  const bounds = [...text.matchAll(/(?<=\n)(?=\S)/g)].map(({ index }) => index);
  const index = TokenIndex.of(text, defaultTokens);
  for (const [at, start] of bounds.entries())
    expect(index.ofSlice(start, bounds[at + 3] ?? text.length)).toBeGreaterThan(0);
  expect(TokenIndex.of(text, { ...defaultTokens, name: "own" }).ofSlice(0, text.length)).toBeUndefined();
});
