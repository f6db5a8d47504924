import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bucketWaitMs, budgetOf, fullBucket, take } from "../../../src/transport/limits/token-bucket.js";

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

describe("a budget per minute (E8)", () => {
  test("is exceeded in no minute, wherever it begins, except by a call larger than the bucket", () => {
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

  test("a wait is never negative, is just long enough, and is none while the bucket holds the amount", () => {
    const whole = fc.integer({ min: 0, max: 300 });
    const near = fc.integer({ min: -2, max: 2 });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3000 }),
        whole,
        near,
        whole,
        fc.nat(9000),
        (perMinute, taken, beyond, ahead, nowMs) => {
          const budget = budgetOf(perMinute);
          const bucket = take(fullBucket(budget, 0), budget, taken, 0);
          const { level } = take(bucket, budget, 0, nowMs);
          // Close to what the bucket holds, on either side.
          const amount = Math.max(0, Math.floor(level) - ahead + beyond);
          const needed = ahead + Math.min(amount, budget.burst);
          const waitMs = bucketWaitMs(bucket, budget, amount, nowMs, ahead);
          expect(waitMs).toBeGreaterThanOrEqual(0);
          expect(waitMs === 0).toBe(level >= needed);
          if (waitMs > 0) expect(level + waitMs * budget.refillPerMs).toBeCloseTo(needed, 6);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("an excess is given back, up to a full bucket", () => {
    const budget = budgetOf(1000);
    const taken = take(fullBucket(budget, 0), budget, 100, 0);
    expect(bucketWaitMs(taken, budget, 60, 0)).toBeGreaterThan(0);
    expect(bucketWaitMs(take(taken, budget, -60, 0), budget, 60, 0)).toBe(0);
    expect(take(taken, budget, -1000, 0).level).toBe(100);
  });

  test("a call waits for those ahead of it", () => {
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
