import fc from "fast-check";
import { expect, test } from "vitest";
import { RowsByLabel } from "../../src/store/dense/rows-by-label.js";

test("labels have the rows that a Map would give them, after any additions and removals", () => {
  // Many meet in a slot: those of a run, those that are a power of two apart, and the greatest.
  const label = fc.oneof(
    fc.integer({ min: 1, max: 40 }),
    fc.integer({ min: 0, max: 20 }).map((times) => 64 * times + 3),
    fc.integer({ min: 2 ** 32 - 20, max: 2 ** 32 - 1 }),
  );
  const step = fc.record({ label, row: fc.option(fc.nat()) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const rows = new RowsByLabel();
      const model = new Map<number, number>();
      for (const { label: of, row } of steps) {
        if (row === null) {
          rows.delete(of);
          model.delete(of);
        } else {
          rows.set(of, row);
          model.set(of, row);
        }
        expect(rows.get(of)).toBe(model.get(of));
      }
      expect(rows.size).toBe(model.size);
      for (const { label: of } of steps) expect(rows.get(of)).toBe(model.get(of));
    }),
    { numRuns: 500 },
  );
});
