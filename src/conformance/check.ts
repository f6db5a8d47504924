import { deepStrictEqual, rejects } from "node:assert/strict";
import { functionOption, optionsOf } from "../core/options.js";
import type { Store } from "../core/ports.js";

/** How the cases open the stores that they test. */
export interface StoreFactory {
  /**
   * Opens the store of this name for the space `conformance` and vectors of any length; a new name makes an empty store. The
   * same name opens the same store, also while it is open already. Names are of letters, digits and `-`, at most 48.
   */
  readonly open: (name: string) => Promise<Store>;
  /**
   * Opens the same store so that searching and reading need `scoped(filter)`. Absent: the store cannot demand that, and the
   * case is skipped.
   */
  readonly openRequiringScope?: (name: string) => Promise<Store>;
}

export const storeFactory = optionsOf<StoreFactory>()({
  open: functionOption<StoreFactory["open"]>(),
  openRequiringScope: functionOption<StoreFactory["open"]>().optional(),
});

/** More stores for a check; all are closed when it ends. */
export interface MoreStores {
  /** Opens the same store once more. */
  readonly again: () => Promise<Store>;
  readonly requiringScope?: () => Promise<Store>;
}

/** Throws if a new, empty store breaks a promise, or `NotApplicable`. */
export type Check = (store: Store, more: MoreStores) => Promise<void>;

/** The store lacks an optional method that the check is about. */
export class NotApplicable extends Error {}

/** Length of the vectors in the cases. */
export const dimension = 24;

/** Fails unless both are equal, where a property that is undefined counts as absent. */
export function same(actual: unknown, expected: unknown, about?: string): void {
  if (about === undefined) deepStrictEqual(withoutUndefined(actual), withoutUndefined(expected));
  else deepStrictEqual({ [about]: withoutUndefined(actual) }, { [about]: withoutUndefined(expected) });
}

/** Fails unless the call rejects with an error of this code. */
export async function refuses(code: string, call: () => Promise<unknown>): Promise<void> {
  await rejects(call, (error: unknown) => {
    same((error as { code?: unknown }).code, code, `code of ${String(error)}`);
    return true;
  });
}

function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (value instanceof Map) return new Map([...value].map(([key, inner]) => [key, withoutUndefined(inner)]));
  if (ArrayBuffer.isView(value) || typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  // Stores may return objects of classes, or without a prototype.
  return Object.fromEntries(entries.map(([name, inner]) => [name, withoutUndefined(inner)]));
}
