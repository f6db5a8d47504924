import { z } from "zod";
import { RequestFailure } from "../failure/request-failure.js";
import type { ServiceClock } from "../service-clock.js";

export const RateLimitOptions = z.strictObject({
  /** Most requests in a minute of the service's time, 1 or more. Default: no limit. */
  requestsPerMinute: z.int().min(1).optional(),
  /** Most tokens of requests in a minute of the service's time, 1 or more. Default: no limit. */
  tokensPerMinute: z.int().min(1).optional(),
  /** Most requests at the same time, 1 or more; a stream counts until its end. Default: no limit. */
  concurrency: z.int().min(1).optional(),
  /** Whether a refusal says in `retry-after` when to come again, in seconds of the wall clock. Default: true. */
  retryAfter: z.boolean().default(true),
  /** Whether every reply carries `x-ratelimit-limit-requests` and the like. Default: false. */
  headers: z.boolean().default(false),
});
export type RateLimitSettings = z.output<typeof RateLimitOptions>;

/** The usage of one model by one key, in the minute that began with its first request. */
interface Bucket {
  startedSeconds: number;
  requests: number;
  tokens: number;
  active: number;
}

const minute = 60;

/** Counts apart for every key and model. */
export class RateLimits {
  readonly #settings: RateLimitSettings;
  readonly #clock: ServiceClock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(settings: RateLimitSettings, clock: ServiceClock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  /**
   * Admits a request, or throws a 429 for the first limit that it would exceed. A refused request counts for nothing. A
   * single request of more tokens than a minute allows is admitted when it is the only one: it could never be otherwise.
   */
  admit(key: string, model: string, tokens: number): Admission {
    const { requestsPerMinute, tokensPerMinute, concurrency } = this.#settings;
    const bucket = this.#bucket(`${key}\n${model}`);
    if (requestsPerMinute !== undefined && bucket.requests + 1 > requestsPerMinute) {
      throw this.#refusal("requests-per-minute", "RPM", bucket);
    }
    if (tokensPerMinute !== undefined && bucket.tokens > 0 && bucket.tokens + tokens > tokensPerMinute) {
      throw this.#refusal("tokens-per-minute", "TPM", bucket);
    }
    if (concurrency !== undefined && bucket.active + 1 > concurrency) {
      throw new RequestFailure("concurrency", limitMessage("concurrency"), this.#settings.retryAfter ? retryIn(1) : {});
    }
    bucket.requests++;
    bucket.tokens += tokens;
    bucket.active++;
    let released = false;
    return {
      headers: this.#settings.headers ? this.#headers(bucket) : {},
      release: () => {
        if (!released) bucket.active--;
        released = true;
      },
    };
  }

  #bucket(name: string): Bucket {
    const now = this.#clock.nowSeconds();
    const found = this.#buckets.get(name);
    if (found === undefined) {
      const bucket = { startedSeconds: now, requests: 0, tokens: 0, active: 0 };
      this.#buckets.set(name, bucket);
      return bucket;
    }
    if (now - found.startedSeconds >= minute) {
      found.startedSeconds = now;
      found.requests = 0;
      found.tokens = 0;
    }
    return found;
  }

  #refusal(kind: "requests-per-minute" | "tokens-per-minute", limit: string, bucket: Bucket): RequestFailure {
    const details = this.#settings.retryAfter ? retryIn(this.#wallSecondsLeft(bucket)) : {};
    return new RequestFailure(kind, limitMessage(limit), details);
  }

  #wallSecondsLeft({ startedSeconds }: Bucket): number {
    return this.#clock.wallMs(startedSeconds + minute - this.#clock.nowSeconds()) / 1000;
  }

  #headers(bucket: Bucket): Readonly<Record<string, string>> {
    const { requestsPerMinute, tokensPerMinute } = this.#settings;
    const left = (limit: number, used: number) => String(Math.max(0, limit - used));
    const reset = `${Math.ceil(this.#wallSecondsLeft(bucket) * 1000)}ms`;
    return {
      ...(requestsPerMinute !== undefined && {
        "x-ratelimit-limit-requests": String(requestsPerMinute),
        "x-ratelimit-remaining-requests": left(requestsPerMinute, bucket.requests),
        "x-ratelimit-reset-requests": reset,
      }),
      ...(tokensPerMinute !== undefined && {
        "x-ratelimit-limit-tokens": String(tokensPerMinute),
        "x-ratelimit-remaining-tokens": left(tokensPerMinute, bucket.tokens),
        "x-ratelimit-reset-tokens": reset,
      }),
    };
  }
}

/** An admitted request. */
export interface Admission {
  readonly headers: Readonly<Record<string, string>>;
  /** Says that the request is over; calling it again does nothing more. */
  readonly release: () => void;
}

function limitMessage(limit: string): string {
  return `Request was rejected due to rate limiting. Details: ${limit} limit reached.`;
}

function retryIn(seconds: number): { readonly headers: Readonly<Record<string, string>> } {
  return { headers: { "retry-after": String(Math.max(1, Math.ceil(seconds))) } };
}
