import fc from "fast-check";
import { expect, test } from "vitest";
import { AllowedLabels, labelBits } from "../../../src/store/derived/allowed-labels.js";

test("a set of bits holds exactly the labels it was made from, also after it is sent to another thread", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 300 }),
      fc.uniqueArray(fc.integer({ min: 1, max: 400 })),
      fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      (last, chosen, other) => {
        const expected = chosen.filter((label) => label <= last).toSorted((a, b) => a - b);
        const made = new AllowedLabels(labelBits(last, (label) => chosen.includes(label)));
        const received = new AllowedLabels(structuredClone(made.shared));
        expect(received.shared.bits.buffer).toBeInstanceOf(SharedArrayBuffer);
        for (const labels of [made, received]) {
          expect([...labels.labels()]).toEqual(expected);
          expect(labels.size).toBe(expected.length);
          for (const label of [0, ...chosen, last + 1, other]) expect(labels.has(label)).toBe(expected.includes(label));
        }
      },
    ),
  );
});
