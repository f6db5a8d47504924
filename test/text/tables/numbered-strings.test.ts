import fc from "fast-check";
import { expect, test } from "vitest";
import { NumberedStrings, unitBytes } from "../../../src/text/tables/numbered-strings.js";

/** Texts with every kind of code unit, lone surrogates among them, some of them often. */
const text = fc.oneof(
  fc.constantFrom(
    "",
    "a",
    "ab",
    "abc",
    "\u0000",
    "\u0080",
    "é",
    "检索",
    "\ud800",
    "🙂",
    "a".repeat(300),
    "\uffff".repeat(100),
  ),
  fc.string({ unit: "binary" }),
  fc.array(fc.nat({ max: 0xffff }), { maxLength: 6 }).map((units) => String.fromCharCode(...units)),
);

test("strings get the numbers that a Map would give them, and come back unchanged", () => {
  fc.assert(
    fc.property(fc.array(text), fc.array(text), (added, asked) => {
      const strings = new NumberedStrings();
      const model = new Map<string, number>();
      for (const one of added) {
        if (!model.has(one)) model.set(one, model.size);
        expect(strings.add(one)).toBe(model.get(one));
      }
      expect(strings.size).toBe(model.size);
      for (const one of [...added, ...asked]) expect(strings.numberOf(one)).toBe(model.get(one));
      for (const [one, number] of model) {
        expect(strings.text(number)).toBe(one);
        expect(strings.bytes(number)).toEqual(unitBytes(one));
      }
    }),
  );
});
