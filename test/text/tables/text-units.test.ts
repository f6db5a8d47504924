import * as fc from "fast-check";
import { expect, test } from "vitest";
import { TextUnits } from "../../../src/text/tables/text-units.js";

const halves = fc.constantFrom("a", "é", "中", "😀", "\ud83d", "\ude00", "\n");

test("units, widths and characters are those of the text, one text after the other in one array", () => {
  const read = new TextUnits();
  // Long ones are copied by another way than short ones, and the longest need more room.
  const texts = fc.tuple(fc.array(halves, { maxLength: 12 }), fc.constantFrom(1, 10, 3000, 60_000));
  fc.assert(
    fc.property(texts, ([parts, times]) => {
      const text = parts.join("").repeat(times);
      read.read(text);
      expect(read.length).toBe(text.length);
      const given = Buffer.from(read.units.slice(0, text.length).buffer);
      expect(given.equals(Buffer.from(text, "utf16le"))).toBe(true);
      for (let at = 0; at < Math.min(text.length, 40); at++) {
        const character = String.fromCodePoint(text.codePointAt(at)!);
        expect([read.characterAt(at), read.widthAt(at)]).toEqual([character, character.length]);
      }
    }),
    { numRuns: 300 },
  );
});

test("the last place of a text is not paired with what the array held before", () => {
  const read = new TextUnits().read("x😀");
  read.read("x\ud83d");
  expect([read.widthAt(1), read.characterAt(1)]).toEqual([1, "\ud83d"]);
});

test("room for a long text is given back with the next short one", () => {
  const read = new TextUnits().read("a".repeat(1_000_000));
  expect(read.read("b").units.length).toBeLessThan(10_000);
});
