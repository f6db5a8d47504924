import * as fc from "fast-check";
import { expect, test } from "vitest";
import { RememberedPieces } from "../../../src/text/tables/remembered-pieces.js";
import { TextUnits } from "../../../src/text/tables/text-units.js";

const units = new TextUnits();

test("an answer is the function's own, however many pieces came before", () => {
  const remembered = new RememberedPieces((piece) => piece);
  // Two letters only, so that many pieces come again and many differ in one place.
  const letters = fc.array(fc.constantFrom("a", "b", "\ud800", "中"), { maxLength: 12 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(letters, fc.nat(12), fc.nat(12), (text, one, other) => {
      const [start, end] = [Math.min(one, other, text.length), Math.min(Math.max(one, other), text.length)];
      expect(remembered.of(new TextUnits().read(text), start, end)).toBe(text.slice(start, end));
    }),
    { numRuns: 2000 },
  );
});

test("a repeated piece is answered from memory", () => {
  const asked: string[] = [];
  const remembered = new RememberedPieces((piece) => asked.push(piece));
  for (const text of ["over and over", "and", "hand"])
    remembered.of(new TextUnits().read(text), text.indexOf("and"), text.indexOf("and") + 3);
  expect(asked).toEqual(["and"]);
});

test("answers stay right beyond the capacity, and repeated pieces are remembered again", () => {
  let asked = 0;
  const remembered = new RememberedPieces((piece) => {
    asked++;
    return piece;
  });
  for (let number = 0; number < 200_000; number++) {
    const piece = `piece ${number}`;
    if (remembered.of(units.read(piece), 0, piece.length) !== piece) throw new Error(`another answer for ${piece}`);
  }
  const before = asked;
  for (let time = 0; time < 3; time++) expect(remembered.of(units.read("the last one"), 4, 8)).toBe("last");
  expect(asked - before).toBeLessThanOrEqual(2);
});

/** Asks for pieces in order, and returns those that were not answered from memory. */
function forgotten(pieces: Iterable<string>): string[] {
  const asked: string[] = [];
  const remembered = new RememberedPieces((piece) => {
    asked.push(piece);
    return piece;
  });
  for (const piece of pieces) remembered.of(units.read(piece), 0, piece.length);
  return asked;
}

test("65,536 pieces are remembered; one more, and all are forgotten", () => {
  const pieces = Array.from({ length: 65_536 }, (_, number) => number.toString(36));
  expect(forgotten([...pieces, "0"])).toEqual(pieces);
  expect(forgotten([...pieces, "more", "0"])).toEqual([...pieces, "more", "0"]);
});

test("pieces are remembered up to 2 ** 20 code units, with two for the first and one for each", () => {
  // 2,044 pieces of 512 and their lengths leave room for one of two and its length.
  const pieces = Array.from({ length: 2044 }, (_, number) => `${number} `.padEnd(512, "x"));
  expect(forgotten([...pieces, "ab", pieces[0]!])).toEqual([...pieces, "ab"]);
  expect(forgotten([...pieces, "abc", pieces[0]!])).toEqual([...pieces, "abc", pieces[0]!]);
});

test("a piece of 512 code units is remembered, and a longer one is not", () => {
  const [just, more] = ["x".repeat(512), "x".repeat(513)];
  expect(forgotten([just, just, more, more])).toEqual([just, more, more]);
});

test("a very long piece is answered right and not remembered", () => {
  const asked: number[] = [];
  const remembered = new RememberedPieces((piece) => asked.push(piece.length));
  const long = "x".repeat(2_000_000);
  remembered.of(units.read("word"), 0, 4);
  remembered.of(units.read(long), 0, long.length);
  remembered.of(units.read("word"), 0, 4);
  expect(asked).toEqual([4, 2_000_000]);
});
