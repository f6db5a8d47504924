import type { Allowed } from "../../src/store/allowed-labels.js";

/** What a filter lets through that lets these labels through. */
export function allowedOf(labels: readonly number[]): Allowed {
  const set = new Set(labels);
  return {
    size: set.size,
    has: (label) => set.has(label),
    *labels() {
      yield* [...set].toSorted((one, other) => one - other);
    },
  };
}
