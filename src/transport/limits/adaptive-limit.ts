/** Limit on the calls to one model that wait for an answer at once, adapted to the service's refusals. */
export interface AdaptiveLimit {
  /** From 1 to the cap; fractions count towards the next whole call. */
  readonly limit: number;
  /** Time of the last halving. */
  readonly halvedAtMs: number;
}

/** `turned-away`: 429 or 503. `neither` says nothing about load, such as a connection that broke. */
export type Outcome = "answered" | "turned-away" | "neither";

export function openLimit(cap: number): AdaptiveLimit {
  return { limit: cap, halvedAtMs: -Infinity };
}

/**
 * Additive increase, multiplicative decrease (https://www.rfc-editor.org/rfc/rfc5681#section-3.1): a full round of
 * answers makes room for one more call, a refusal halves the limit. Refusals of calls that left before the last halving
 * belong to the same overload, and count once.
 */
export function adapt(
  state: AdaptiveLimit,
  { outcome, leftAtMs, nowMs }: { readonly outcome: Outcome; readonly leftAtMs: number; readonly nowMs: number },
  cap: number,
): AdaptiveLimit {
  if (outcome === "answered") {
    return state.limit >= cap ? state : { ...state, limit: Math.min(cap, state.limit + 1 / state.limit) };
  }
  if (outcome === "neither" || leftAtMs < state.halvedAtMs) return state;
  return { limit: Math.max(1, state.limit / 2), halvedAtMs: nowMs };
}
