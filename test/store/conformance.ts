import { describe, expect, test } from "vitest";
import type { StoreFactory } from "../../src/conformance/check.js";
import { storeCases } from "../../src/conformance/store-cases.js";

/**
 * Runs the promises of the `Store` port as tests of one kind of store.
 *
 * @param about only the promises that begin with one of these words. Default: all.
 */
export function conformance(kind: string, factory: StoreFactory, about: readonly string[] = [""]): void {
  describe(`${kind} keeps its promises:`, () => {
    for (const { name, run } of storeCases(factory)) {
      if (!about.some((word) => name.startsWith(word))) continue;
      test(`it ${name}`, async ({ skip }) => {
        const reason = await run();
        if (reason !== undefined) skip(reason);
        expect(reason).toBeUndefined();
      });
    }
  });
}
