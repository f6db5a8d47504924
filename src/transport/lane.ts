import { type AdaptiveLimit, type Outcome, adapt, openLimit } from "./adaptive-limit.js";
import { type Budget, type TokenBucket, bucketWaitMs, budgetOf, fullBucket, take } from "./token-bucket.js";

export interface LaneLimits {
  /** Most calls in flight. */
  readonly concurrency: number;
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
}

/** What one call takes of the budgets. */
export interface Load {
  readonly requests: number;
  readonly tokens: number;
}

interface Meter {
  readonly budget: Budget;
  readonly of: (load: Load) => number;
  bucket: TokenBucket;
}

/**
 * What one model takes now. Limits are the account's, so what one caller hears holds for all that share the key; a
 * transport has one key, so models are enough to tell them apart.
 */
export class Lane {
  inFlight = 0;
  readonly #cap: number;
  readonly #meters: readonly Meter[];
  #adaptive: AdaptiveLimit;
  #coolUntilMs = 0;

  constructor({ concurrency, requestsPerMinute, tokensPerMinute }: LaneLimits, nowMs: number) {
    this.#cap = concurrency;
    this.#adaptive = openLimit(concurrency);
    const meter = (perMinute: number | undefined, of: Meter["of"]): Meter[] => {
      if (perMinute === undefined) return [];
      const budget = budgetOf(perMinute);
      return [{ budget, of, bucket: fullBucket(budget, nowMs) }];
    };
    this.#meters = [
      ...meter(requestsPerMinute, (load) => load.requests),
      ...meter(tokensPerMinute, (load) => load.tokens),
    ];
  }

  /** Calls that may wait for an answer at once. */
  get room(): number {
    return Math.floor(this.#adaptive.limit);
  }

  /** Whether there is a budget at all. */
  get metered(): boolean {
    return this.#meters.length > 0;
  }

  /** Milliseconds of cool-down left. */
  coolMs(nowMs: number): number {
    return Math.max(0, this.#coolUntilMs - nowMs);
  }

  /** Never shortens a longer cool-down. True when it is longer now. */
  cool(untilMs: number): boolean {
    if (untilMs <= this.#coolUntilMs) return false;
    this.#coolUntilMs = untilMs;
    return true;
  }

  /** Milliseconds until the budgets have room for a call behind those ahead of it. */
  budgetMs(load: Load, nowMs: number, ahead: Load = { requests: 0, tokens: 0 }): number {
    let longest = 0;
    for (const { bucket, budget, of } of this.#meters) {
      longest = Math.max(longest, bucketWaitMs(bucket, budget, of(load), nowMs, of(ahead)));
    }
    return longest;
  }

  /** Takes from the budgets; negative loads give back. */
  take(load: Load, nowMs: number): void {
    for (const meter of this.#meters) meter.bucket = take(meter.bucket, meter.budget, meter.of(load), nowMs);
  }

  learn(outcome: Outcome, leftAtMs: number, nowMs: number): void {
    this.#adaptive = adapt(this.#adaptive, { outcome, leftAtMs, nowMs }, this.#cap);
  }
}
