import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bootstrapInterval, quantile, randomisationTest } from "../../src/evaluate/statistics.js";
import { seededRandom } from "../../src/core/random.js";

describe("seededRandom", () => {
  test("gives the same numbers for the same seed, others for another, from 0 to below 1", () => {
    const draw = (seed: number) => Array.from({ length: 1000 }, seededRandom(seed));
    expect(draw(7)).toEqual(draw(7));
    for (const seed of [0, 1, 2, -1]) {
      const numbers = draw(seed);
      expect(numbers).not.toEqual(draw(seed + 10));
      expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...numbers)).toBeLessThan(1);
      // The mean of 1,000 uniform numbers has a standard deviation of 0.009.
      expect(numbers.reduce((sum, number) => sum + number, 0) / 1000).toBeCloseTo(0.5, 1);
    }
  });
});

describe("bootstrapInterval", () => {
  test("of equal values is that value twice", () => {
    expect(bootstrapInterval([0.25, 0.25, 0.25])).toEqual([0.25, 0.25]);
  });

  test("of two values has both as ends, since a quarter of the four resamples draws each", () => {
    // Means 0, 0.5, 0.5, 1, so 2.5 % from either end still lies in the outer quarters.
    expect(bootstrapInterval([0, 1])).toEqual([0, 1]);
    expect(bootstrapInterval([0, 1], { confidence: 0.3 })).toEqual([0.5, 0.5]);
  });

  test("of many values is about the mean plus and minus 1.96 standard errors", () => {
    const random = seededRandom(3);
    const values = Array.from({ length: 400 }, random);
    const mean = values.reduce((sum, value) => sum + value, 0) / 400;
    const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 399);
    const [low, high] = bootstrapInterval(values);
    // A standard error is 0.0144; the ends of 2,000 resamples scatter by about a twentieth of it.
    expect(Math.abs(low - (mean - (1.96 * deviation) / 20))).toBeLessThan(0.003);
    expect(Math.abs(high - (mean + (1.96 * deviation) / 20))).toBeLessThan(0.003);
  });

  test("is the same every time", () => {
    expect(bootstrapInterval([0, 0.2, 0.9, 1])).toEqual(bootstrapInterval([0, 0.2, 0.9, 1]));
  });
});

describe("quantile", () => {
  test("lies between its neighbours, in proportion", () => {
    expect(quantile([1, 2, 4], 0.5)).toBe(2);
    expect(quantile([1, 2, 4], 0.75)).toBe(3);
    expect(quantile([5], 0.95)).toBe(5);
  });
});

describe("randomisationTest", () => {
  /** The share of all ways to give signs that reach what was observed. */
  function exactly(differences: readonly number[]): number {
    const sums = differences.reduce((all, each) => all.flatMap((sum) => [sum + each, sum - each]), [0]);
    const observed = Math.abs(differences.reduce((sum, difference) => sum + difference, 0));
    return sums.filter((sum) => Math.abs(sum) >= observed - 1e-9).length / sums.length;
  }

  test("agrees with counting every assignment of signs", () => {
    const differences = fc.array(fc.integer({ min: -10, max: 10 }), { maxLength: 10 });
    fc.assert(
      fc.property(differences, (tenths) => {
        const some = tenths.map((tenth) => tenth / 10);
        // Five standard deviations of a share of 10,000 trials are 0.025 at most.
        expect(Math.abs(randomisationTest(some) - exactly(some))).toBeLessThan(0.026);
      }),
      { numRuns: 30 },
    );
  });

  test("finds a steady small loss significant, and the same loss among large swings not", () => {
    const steady = Array.from({ length: 50 }, (_, index) => -0.01 - (index % 3) / 1000);
    const swinging = steady.map((loss, index) => loss + (index % 2 === 0 ? 0.5 : -0.5));
    expect(randomisationTest(steady)).toBeLessThan(0.001);
    expect(randomisationTest(swinging)).toBeGreaterThan(0.5);
  });

  test("of no difference is 1", () => {
    expect(randomisationTest([0, 0, 0])).toBe(1);
    expect(randomisationTest([])).toBe(1);
  });
});
