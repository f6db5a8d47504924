import { randomUUID } from "node:crypto";
import { resolve } from "../core/options.js";
import type { Store } from "../core/ports.js";
import { type Check, NotApplicable, type StoreFactory, storeFactory } from "./check.js";
import { concurrencyChecks } from "./concurrency-checks.js";
import { filterChecks } from "./filter-checks.js";
import { readingChecks } from "./reading-checks.js";
import { refusalChecks } from "./refusal-checks.js";
import { searchChecks } from "./search-checks.js";
import { writingChecks } from "./writing-checks.js";

/** One promise of the `Store` port, to be run by any test runner. */
export interface StoreCase {
  /** The promise, as a sentence about a store: `keeps texts that UTF-8 cannot express`. */
  readonly name: string;
  /**
   * Opens stores of its own, and rejects with an `AssertionError` if the promise is not kept. Resolves to the reason if it
   * does not apply: the store lacks an optional method.
   */
  readonly run: () => Promise<string | undefined>;
}

const allChecks: Readonly<Record<string, Check>> = {
  ...writingChecks,
  ...readingChecks,
  ...searchChecks,
  ...filterChecks,
  ...refusalChecks,
  ...concurrencyChecks,
};

/**
 * The promises of the `Store` port, each as a case of its own. Every case works on a new store.
 *
 * @example
 * ```ts
 * import { test } from "vitest";
 * import { memoryStore, storeCases } from "citewell/store-conformance";
 * for (const { name, run } of storeCases({ open: async () => memoryStore("made") })) {
 *   test(name, async ({ skip }) => {
 *     const reason = await run();
 *     if (reason !== undefined) skip(reason);
 *   });
 * }
 * ```
 */
export function storeCases(factory: StoreFactory): readonly StoreCase[] {
  const { open: openStore, openRequiringScope } = resolve("storeCases", storeFactory, factory);
  return Object.entries(allChecks).map(([name, check]) => ({
    name,
    run: async () => {
      const storeName = `conformance-${randomUUID()}`;
      const opened: Store[] = [];
      const open = async (how = openStore) => {
        const store = await how(storeName);
        opened.push(store);
        return store;
      };
      try {
        await check(await open(), {
          again: () => open(),
          ...(openRequiringScope && { requiringScope: () => open(openRequiringScope) }),
        });
        return undefined;
      } catch (error) {
        if (error instanceof NotApplicable) return error.message;
        throw error;
      } finally {
        await Promise.all(opened.map((store) => store.close()));
      }
    },
  }));
}
