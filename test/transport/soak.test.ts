// In test:all alone: it sends thousands of requests and looks at memory, for 10 s.
import { expect, test } from "vitest";
import { discrepancies, servedByKind, soak } from "../support/soak.js";

test("every call is accounted for before a service that fails one in five, and nothing is left behind", async () => {
  const soaking = { calls: 500, concurrency: 16, seed: 7, readTimeoutMs: 1500 };
  const report = await soak(soaking);
  expect(discrepancies(report, soaking)).toEqual([]);
  // Each kind of failure was met, the cap was reached, and retries did their work.
  expect(servedByKind(report).size).toBe(8);
  expect(report.maxWaiting).toBe(soaking.concurrency);
  expect(report.givenUp.size).toBeGreaterThan(0);
  expect(report.right).toBeGreaterThan(soaking.calls * 0.9);
});
