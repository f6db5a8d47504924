import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bucketWaitMs, budgetOf, fullBucket, take } from "../../src/transport/token-bucket.js";

const minuteMs = 60_000;

/** When each amount leaves, if each waits as long as it is told to. */
function departures(
  perMinute: number,
  calls: readonly { readonly amount: number; readonly afterMs: number }[],
): readonly { readonly amount: number; readonly atMs: number }[] {
  const budget = budgetOf(perMinute);
  let bucket = fullBucket(budget, 0);
  let nowMs = 0;
  return calls.map(({ amount, afterMs }) => {
    nowMs += afterMs;
    nowMs += Math.ceil(bucketWaitMs(bucket, budget, amount, nowMs));
    bucket = take(bucket, budget, amount, nowMs);
    return { amount, atMs: nowMs };
  });
}

describe("E8: a budget per minute", () => {
  test("is exceeded in no minute, wherever it begins, but by what is larger than the bucket", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5000 }),
        fc.array(fc.record({ amount: fc.integer({ min: 1, max: 600 }), afterMs: fc.integer({ min: 0, max: 4000 }) }), {
          minLength: 1,
          maxLength: 80,
        }),
        (perMinute, calls) => {
          const { burst } = budgetOf(perMinute);
          const left = departures(perMinute, calls);
          for (const { atMs: from } of left) {
            const minute = left.filter(({ atMs }) => atMs >= from && atMs < from + minuteMs);
            const taken = minute.reduce((sum, { amount }) => sum + amount, 0);
            const oversize = minute.reduce((sum, { amount }) => sum + Math.max(0, amount - burst), 0);
            expect(taken - oversize).toBeLessThanOrEqual(perMinute);
            const largest = Math.max(0, ...minute.map(({ amount }) => amount - burst));
            expect(taken).toBeLessThanOrEqual(perMinute + largest);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  test.each([1, 2, 9, 10, 60, 1000])("of %d is used up when calls wait for it", (perMinute) => {
    const minutes = 20;
    const left = departures(
      perMinute,
      Array.from({ length: perMinute * minutes }, () => ({ amount: 1, afterMs: 0 })),
    );
    // Nine tenths of the limit are the price of never passing it.
    expect(left.at(-1)!.atMs).toBeLessThanOrEqual((minutes / 0.9 + 1) * minuteMs);
  });

  test("what was taken in excess is given back, up to a full bucket", () => {
    const budget = budgetOf(1000);
    const taken = take(fullBucket(budget, 0), budget, 100, 0);
    expect(bucketWaitMs(taken, budget, 60, 0)).toBeGreaterThan(0);
    expect(bucketWaitMs(take(taken, budget, -60, 0), budget, 60, 0)).toBe(0);
    expect(take(taken, budget, -1000, 0).level).toBe(100);
  });

  test("those ahead are waited for", () => {
    const budget = budgetOf(1000);
    const empty = take(fullBucket(budget, 0), budget, 100, 0);
    const alone = bucketWaitMs(empty, budget, 10, 0);
    expect(bucketWaitMs(empty, budget, 10, 0, 90)).toBeCloseTo(alone * 10);
  });

  test("a clock that goes back takes nothing", () => {
    const budget = budgetOf(100);
    const bucket = take(fullBucket(budget, 1000), budget, 4, 1000);
    expect(take(bucket, budget, 0, 500).level).toBe(6);
  });
});
