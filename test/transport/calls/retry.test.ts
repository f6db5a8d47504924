import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Failure } from "../../../src/transport/failures/failure.js";
import { type RetryPolicy, type RetrySituation, retryDelayMs } from "../../../src/transport/calls/retry.js";

const policy: RetryPolicy = {
  maxRetries: 4,
  backoffMs: 500,
  maxBackoffMs: 8000,
  maxRetryAfterMs: 600_000,
  repeat: "always",
};
const passing: Failure = { code: "upstream", message: "", retryable: true, undelivered: false };
const at = (more: Partial<RetrySituation> = {}): RetrySituation => ({
  failure: passing,
  attempt: 1,
  nowMs: 1000,
  random: 0.5,
  ...more,
});

describe("whether and when to send again (E5)", () => {
  test.each([
    ["a first failure waits up to 0.5 s", at(), 250],
    ["the ceiling doubles", at({ attempt: 3 }), 1000],
    ["the ceiling ends at 8 s", at({ attempt: 4, random: 1 }), 4000],
    ["after four retries it gives up", at({ attempt: 5 }), undefined],
    ["a final failure is final", at({ failure: { ...passing, retryable: false } }), undefined],
    ["the service's own wait wins", at({ failure: { ...passing, retryAfterMs: 90_000 } }), 90_000],
    ["a wait of nothing is one", at({ failure: { ...passing, retryAfterMs: 0 } }), 0],
    [
      "a wait within the deadline is kept, however long",
      at({ failure: { ...passing, retryAfterMs: 86_400_000 }, deadlineAtMs: 90_000_000 }),
      86_400_000,
    ],
    [
      "a wait past the deadline gives up at once",
      at({ failure: { ...passing, retryAfterMs: 5000 }, deadlineAtMs: 6000 }),
      undefined,
    ],
    ["our own wait past the deadline gives up as well", at({ deadlineAtMs: 1250 }), undefined],
    ["without a deadline a wait has a limit", at({ failure: { ...passing, retryAfterMs: 600_001 } }), undefined],
    ["a minute's limit waits longer", at({ failure: { ...passing, minuteWindow: true } }), 3000],
    ["and never less than half", at({ failure: { ...passing, minuteWindow: true }, attempt: 4, random: 0 }), 16_000],
  ])("%s", (_, situation, expected) => {
    expect(retryDelayMs(situation, policy)).toBe(expected);
  });

  test("what costs is sent again only if it never arrived (V13)", () => {
    const once = { ...policy, repeat: "undelivered" as const };
    expect(retryDelayMs(at(), once)).toBeUndefined();
    expect(retryDelayMs(at({ failure: { ...passing, undelivered: true } }), once)).toBe(250);
  });

  test("our own waits lie between nothing and the ceiling, for any luck and attempt", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: 1, max: 40 }),
        (random, attempt) => {
          const delayMs = retryDelayMs(at({ random, attempt }), { ...policy, maxRetries: 40 })!;
          expect(delayMs).toBeGreaterThanOrEqual(0);
          expect(delayMs).toBeLessThanOrEqual(Math.min(8000, 500 * 2 ** (attempt - 1)));
        },
      ),
    );
  });
});
