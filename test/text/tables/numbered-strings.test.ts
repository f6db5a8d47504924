import fc from "fast-check";
import { expect, test } from "vitest";
import { NumberedStrings } from "../../../src/text/tables/numbered-strings.js";

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

function finished<Result>(steps: Generator<void, Result>): Result {
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

test("strings get the numbers that a Map would give them, and come back unchanged", () => {
  fc.assert(
    fc.property(fc.array(text), fc.array(text), (added, asked) => {
      const strings = NumberedStrings.empty();
      const model = new Map<string, number>();
      for (const one of added) {
        if (!model.has(one)) model.set(one, model.size);
        expect(strings.add(one)).toBe(model.get(one));
      }
      expect(strings.size).toBe(model.size);
      for (const one of [...added, ...asked]) expect(strings.numberOf(one)).toBe(model.get(one));
      for (const [one, number] of model) expect(strings.text(number)).toBe(one);
    }),
  );
});

test("long work pauses after every 1,024 strings", () => {
  const strings = NumberedStrings.empty();
  for (let number = 0; number < 2049; number++) strings.add(`${number}`);
  const packing = [...strings.packed(Uint32Array.from({ length: 2049 }, (_, number) => number))];
  expect(packing).toHaveLength(3);
  expect([...NumberedStrings.from(finished(strings.packed(Uint32Array.from([0, 1, 2]))))]).toHaveLength(1);
});

test("packed strings are renumbered, and more can be added", () => {
  const before = NumberedStrings.empty();
  for (let number = 0; number < 5000; number++) before.add(`词 ${number}`);
  const even = Uint32Array.from({ length: 2500 }, (_, at) => 2 * at);
  const strings = finished(NumberedStrings.from(finished(before.packed(even))));
  expect(strings.size).toBe(2500);
  for (let at = 0; at < 2500; at++) {
    expect(strings.text(at)).toBe(`词 ${2 * at}`);
    expect(strings.numberOf(`词 ${2 * at}`)).toBe(at);
    expect(strings.numberOf(`词 ${2 * at + 1}`)).toBeUndefined();
  }
  for (let at = 0; at < 9000; at++) expect(strings.add(`new ${at}`)).toBe(2500 + at);
  expect(strings.numberOf("词 4998")).toBe(2499);
});
