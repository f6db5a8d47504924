import { type AdaptiveLimit, type Outcome, adapt, openLimit } from "./adaptive-limit.js";
import type { Load } from "./load.js";
import { type Budget, type TokenBucket, bucketWaitMs, budgetOf, fullBucket, take } from "./token-bucket.js";

export interface ModelLimits {
  /** Maximum number of calls in flight. */
  readonly concurrency: number;
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
}

interface Meter {
  readonly budget: Budget;
  readonly amountOf: (load: Load) => number;
  bucket: TokenBucket;
}

/**
 * The limits of one model at this moment: its slots, budgets and cool-down. Limits belong to the account, so a refusal
 * that one call hears holds for all; a transport has one key, so the model is enough to tell limits apart.
 */
export class ModelLimiter {
  inFlight = 0;
  readonly #maxConcurrency: number;
  readonly #meters: readonly Meter[];
  #adaptive: AdaptiveLimit;
  #coolUntilMs = 0;

  constructor({ concurrency, requestsPerMinute, tokensPerMinute }: ModelLimits, nowMs: number) {
    this.#maxConcurrency = concurrency;
    this.#adaptive = openLimit(concurrency);
    const meter = (perMinute: number | undefined, measured: Meter["amountOf"]): Meter[] => {
      if (perMinute === undefined) return [];
      const budget = budgetOf(perMinute);
      return [{ budget, amountOf: measured, bucket: fullBucket(budget, nowMs) }];
    };
    this.#meters = [
      ...meter(requestsPerMinute, ({ requests }) => requests),
      ...meter(tokensPerMinute, ({ tokens }) => tokens),
    ];
  }

  get hasFreeSlot(): boolean {
    return this.inFlight < Math.floor(this.#adaptive.limit);
  }

  /** Milliseconds of cool-down left. */
  coolDownMs(nowMs: number): number {
    return Math.max(0, this.#coolUntilMs - nowMs);
  }

  /** Sets a cool-down; never shortens a longer one. True when it is longer now. */
  coolDownUntil(untilMs: number): boolean {
    if (untilMs <= this.#coolUntilMs) return false;
    this.#coolUntilMs = untilMs;
    return true;
  }

  /** Milliseconds until cool-down and budgets let a call go, after the calls ahead of it. */
  waitMs(load: Load, nowMs: number, ahead: () => Load = () => ({ requests: 0, tokens: 0 })): number {
    const taken = this.#meters.length > 0 ? ahead() : { requests: 0, tokens: 0 };
    const waits = this.#meters.map(({ bucket, budget, amountOf }) =>
      bucketWaitMs(bucket, budget, amountOf(load), nowMs, amountOf(taken)),
    );
    return Math.max(this.coolDownMs(nowMs), ...waits);
  }

  /** Takes from the budgets; negative loads give back. */
  take(load: Load, nowMs: number): void {
    for (const meter of this.#meters) meter.bucket = take(meter.bucket, meter.budget, meter.amountOf(load), nowMs);
  }

  learn(outcome: Outcome, leftAtMs: number, nowMs: number): void {
    this.#adaptive = adapt(this.#adaptive, { outcome, leftAtMs, nowMs }, this.#maxConcurrency);
  }
}
