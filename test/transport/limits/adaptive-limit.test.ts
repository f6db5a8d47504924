import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AdaptiveLimit, type Outcome, adapt, openLimit } from "../../../src/transport/limits/adaptive-limit.js";

const feed = (state: AdaptiveLimit, outcome: Outcome, leftAtMs: number, nowMs: number, cap = 8) =>
  adapt(state, { outcome, leftAtMs, nowMs }, cap);

describe("concurrency follows what the service takes (§9, 3)", () => {
  test("a refusal halves it", () => {
    expect(feed(openLimit(8), "turned-away", 0, 10).limit).toBe(4);
  });

  test("refusals of calls that left before the halving are the same overload", () => {
    let state = openLimit(8);
    for (let call = 0; call < 8; call++) state = feed(state, "turned-away", call, 100 + call);
    expect(state.limit).toBe(4);
    expect(feed(state, "turned-away", 101, 200).limit).toBe(2);
  });

  test("a round of answers makes room for one more, up to the cap", () => {
    let state: AdaptiveLimit = { limit: 2, halvedAtMs: 0 };
    state = feed(feed(state, "answered", 1, 2), "answered", 1, 2);
    expect(state.limit).toBeGreaterThan(2.8);
    for (let call = 0; call < 100; call++) state = feed(state, "answered", 1, 2);
    expect(state.limit).toBe(8);
  });

  test("an answer adds its share of one call, exactly, and a cap that is reached adds none", () => {
    expect(feed({ limit: 2, halvedAtMs: 0 }, "answered", 1, 2).limit).toBe(2.5);
    expect(feed({ limit: 2.5, halvedAtMs: 0 }, "answered", 1, 2).limit).toBe(2.9);
    expect(feed({ limit: 7.9, halvedAtMs: 0 }, "answered", 1, 2).limit).toBe(8);
    const full = openLimit(8);
    expect(feed(full, "answered", 1, 2)).toBe(full);
  });

  test("a call that left in the moment of the halving belongs to the load after it", () => {
    expect(feed({ limit: 4, halvedAtMs: 100 }, "turned-away", 100, 101)).toEqual({ limit: 2, halvedAtMs: 101 });
    expect(feed({ limit: 4, halvedAtMs: 100 }, "turned-away", 99, 101)).toEqual({ limit: 4, halvedAtMs: 100 });
    expect(feed({ limit: 1, halvedAtMs: 100 }, "turned-away", 100, 101).limit).toBe(1);
  });

  test("a broken connection says nothing", () => {
    expect(feed(openLimit(8), "neither", 0, 1)).toEqual(openLimit(8));
  });

  test("whatever comes, it stays between 1 and the cap", () => {
    const outcome = fc.constantFrom<Outcome>("answered", "turned-away", "neither");
    fc.assert(
      fc.property(fc.array(outcome, { maxLength: 200 }), fc.integer({ min: 1, max: 64 }), (outcomes, cap) => {
        let state = openLimit(cap);
        for (const [at, each] of outcomes.entries()) state = feed(state, each, at, at, cap);
        expect(state.limit).toBeGreaterThanOrEqual(1);
        expect(state.limit).toBeLessThanOrEqual(cap);
      }),
    );
  });
});
