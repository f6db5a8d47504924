import { z } from "zod";
import { optionsOf } from "../../core/options.js";
import { RequestFailure, type FailureKind } from "../failure/request-failure.js";
import type { ServiceClock } from "../service-clock.js";

export interface RateLimitOptions {
  /** Maximum number of requests in a minute of the service's time, 1 or more. Default: no limit. */
  readonly requestsPerMinute?: number;
  /** Maximum tokens of requests in a minute of the service's time, 1 or more. Default: no limit. */
  readonly tokensPerMinute?: number;
  /** Maximum number of requests at the same time, 1 or more; a stream counts until its end. Default: no limit. */
  readonly concurrency?: number;
  /** Whether a refusal says in `retry-after` when to come again, in seconds of the wall clock. Default: true. */
  readonly retryAfter?: boolean;
  /** Whether every reply carries `x-ratelimit-limit-requests` and the like. Default: false. */
  readonly headers?: boolean;
}

export const rateLimitOptions = optionsOf<RateLimitOptions>()({
  requestsPerMinute: z.int().min(1).optional(),
  tokensPerMinute: z.int().min(1).optional(),
  concurrency: z.int().min(1).optional(),
  retryAfter: z.boolean().default(true),
  headers: z.boolean().default(false),
});
export type RateLimitSettings = z.output<typeof rateLimitOptions>;

/** The usage of one model by one key, in the minute that began with its first request. */
interface Bucket {
  startedSeconds: number;
  used: { readonly requests: number; readonly tokens: number };
  active: number;
}

/** Quantities that are counted in each minute, with the name of each one's refusal. */
const minuteLimits = [
  { counted: "requests", option: "requestsPerMinute", kind: "requests-per-minute", called: "RPM" },
  { counted: "tokens", option: "tokensPerMinute", kind: "tokens-per-minute", called: "TPM" },
] as const;

const minute = 60;
const nothing = { requests: 0, tokens: 0 };

/** An admitted request. */
export interface Admission {
  readonly headers: Readonly<Record<string, string>>;
  /** Marks the end of the request; to be called once. */
  readonly release: () => void;
}

/** Counts apart for every key and model. @internal */
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
    const { concurrency, headers } = this.#settings;
    const bucket = this.#bucket(`${key}\n${model}`);
    const asked = { requests: 1, tokens };
    for (const { counted, option, kind, called } of minuteLimits) {
      const used = bucket.used[counted];
      if (used > 0 && used + asked[counted] > (this.#settings[option] ?? Number.POSITIVE_INFINITY)) {
        throw this.#refusal(kind, called, this.#wallMsLeft(bucket));
      }
    }
    if (concurrency !== undefined && bucket.active + 1 > concurrency) {
      throw this.#refusal("concurrency", "concurrency", 1000);
    }
    bucket.used = { requests: bucket.used.requests + 1, tokens: bucket.used.tokens + tokens };
    bucket.active++;
    return { headers: headers ? this.#headers(bucket) : {}, release: () => void bucket.active-- };
  }

  #bucket(name: string): Bucket {
    const now = this.#clock.nowSeconds();
    const bucket = this.#buckets.get(name) ?? { startedSeconds: now, used: nothing, active: 0 };
    if (now - bucket.startedSeconds >= minute) Object.assign(bucket, { startedSeconds: now, used: nothing });
    this.#buckets.set(name, bucket);
    return bucket;
  }

  #wallMsLeft({ startedSeconds }: Bucket): number {
    return this.#clock.wallMs(startedSeconds + minute - this.#clock.nowSeconds());
  }

  #refusal(kind: FailureKind, called: string, retryMs: number): RequestFailure {
    const seconds = Math.max(1, Math.ceil(retryMs / 1000));
    return new RequestFailure(kind, `Request was rejected due to rate limiting. Details: ${called} limit reached.`, {
      headers: this.#settings.retryAfter ? { "retry-after": String(seconds) } : {},
    });
  }

  #headers(bucket: Bucket): Readonly<Record<string, string>> {
    const reset = `${Math.ceil(this.#wallMsLeft(bucket))}ms`;
    const written = minuteLimits.flatMap(({ counted, option }) => {
      const limit = this.#settings[option];
      if (limit === undefined) return [];
      return [
        [`x-ratelimit-limit-${counted}`, String(limit)],
        [`x-ratelimit-remaining-${counted}`, String(Math.max(0, limit - bucket.used[counted]))],
        [`x-ratelimit-reset-${counted}`, reset],
      ];
    });
    return Object.fromEntries(written) as Record<string, string>;
  }
}
