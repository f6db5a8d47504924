import fc from "fast-check";
import { expect, test } from "vitest";
import { JsonBytes } from "../../src/stages/json-bytes.js";

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.string({ unit: fc.constantFrom("\u0000", '"', "\\", "\ud800", "\n", "中", "é", "a"), maxLength: 12 }),
);

test("texts stay within a limit exactly when their JSON array does, in whatever order they are asked about and added", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ text, limit: fc.integer({ min: 0, max: 400 }), add: fc.boolean() }), { maxLength: 20 }),
      (steps) => {
        const bytes = new JsonBytes();
        const added: string[] = [];
        for (const step of steps) {
          const whole = Buffer.byteLength(JSON.stringify([...added, step.text]));
          expect(bytes.staysWithin(step.limit, step.text)).toBe(whole <= step.limit);
          if (!step.add) continue;
          bytes.add(step.text);
          added.push(step.text);
        }
      },
    ),
  );
});
