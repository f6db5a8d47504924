/** The rest of a budget per minute, at a moment of a clock in milliseconds. */
export interface TokenBucket {
  /** Below 0 after something larger than the bucket was taken. */
  readonly level: number;
  readonly atMs: number;
}

export interface Budget {
  /** Capacity: the maximum that is taken at one moment. */
  readonly burst: number;
  readonly refillPerMs: number;
}

const minuteMs = 60_000;

/**
 * A budget that no minute exceeds, wherever the service begins to count it. A bucket as large as the minute's limit
 * would admit two limits in a row: this one holds a tenth of the limit, and refills with the rest.
 */
export function budgetOf(perMinute: number): Budget {
  const burst = Math.max(1, Math.floor(perMinute / 10));
  return { burst, refillPerMs: (perMinute - burst + 1) / minuteMs };
}

export function fullBucket({ burst }: Budget, nowMs: number): TokenBucket {
  return { level: burst, atMs: nowMs };
}

/**
 * Milliseconds until `amount` may be taken after `ahead`, which goes first. An amount larger than the bucket is taken
 * from a full one, and the next call waits for the debt.
 */
export function bucketWaitMs(bucket: TokenBucket, budget: Budget, amount: number, nowMs: number, ahead = 0): number {
  const missing = ahead + Math.min(amount, budget.burst) - levelAt(bucket, budget, nowMs);
  return missing <= 0 ? 0 : missing / budget.refillPerMs;
}

/** Takes `amount`; a negative one gives back what was taken in excess. */
export function take(bucket: TokenBucket, budget: Budget, amount: number, nowMs: number): TokenBucket {
  return { level: Math.min(budget.burst, levelAt(bucket, budget, nowMs) - amount), atMs: nowMs };
}

function levelAt({ level, atMs }: TokenBucket, { burst, refillPerMs }: Budget, nowMs: number): number {
  return Math.min(burst, level + Math.max(0, nowMs - atMs) * refillPerMs);
}
