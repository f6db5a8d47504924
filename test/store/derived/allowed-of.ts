import type { Allowed } from "../../../src/store/derived/allowed-labels.js";

/** The result of a filter that allows these labels. */
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
