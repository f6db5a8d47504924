import { Refusal } from "./refusal.js";

/** Maximum number of remembered callers; the one idle for longest is forgotten first. */
const maxCallers = 10_000;

/** Limits of one caller. */
export interface Limits {
  readonly requestsPerMinute: number;
  /** Absent: no limit. */
  readonly tokensPerMinute?: number | undefined;
  /** Absent: no limit but that of the server. */
  readonly answersAtOnce?: number | undefined;
}

/** A caller, as far as it is counted. */
export interface Counted {
  readonly name: string;
  readonly limits: Limits;
}

/**
 * Limits how much each caller takes of a server: requests and tokens of the chat model in a minute, and answers at once. It
 * counts in this process alone: of several servers each admits as much.
 */
export class CallerLimiter {
  readonly #requests: MinuteBuckets;
  readonly #tokens: MinuteBuckets;
  readonly #answers = new Map<string, number>();

  constructor(now: () => number = () => performance.now()) {
    this.#requests = new MinuteBuckets(now);
    this.#tokens = new MinuteBuckets(now);
  }

  /** Counts a request. @throws Refusal (429) with the time to wait, when the caller has used up its minute. */
  admitRequest(caller: Counted): void {
    const { name, limits } = caller;
    const { requestsPerMinute: perMinute } = limits;
    if (this.#requests.left(name, perMinute) < 1) {
      throw this.#refusal(caller, `More than ${perMinute} requests in a minute`, this.#requests.wait(name, perMinute));
    }
    this.#requests.take(name, perMinute, 1);
  }

  /**
   * Counts an answer until the returned function is called. Its tokens are known when it ends, so that the last answer may
   * take more than is left, and the next one waits until that is made up for.
   *
   * @throws Refusal (429) with the time to wait.
   */
  admitAnswer(caller: Counted): () => void {
    const { name, limits } = caller;
    const { tokensPerMinute, answersAtOnce = Infinity } = limits;
    if (tokensPerMinute !== undefined && this.#tokens.left(name, tokensPerMinute) < 1) {
      const wait = this.#tokens.wait(name, tokensPerMinute);
      throw this.#refusal(caller, `More than ${tokensPerMinute} tokens in a minute`, wait);
    }
    const running = this.#answers.get(name) ?? 0;
    if (running >= answersAtOnce) {
      throw this.#refusal(caller, `No more than ${answersAtOnce} of your answers are made at once`, 1);
    }
    this.#answers.set(name, running + 1);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const left = (this.#answers.get(name) ?? 1) - 1;
      if (left > 0) this.#answers.set(name, left);
      else this.#answers.delete(name);
    };
  }

  /** Counts tokens that an answer took. */
  spend({ name, limits: { tokensPerMinute } }: Counted, tokens: number): void {
    if (tokensPerMinute !== undefined) this.#tokens.take(name, tokensPerMinute, tokens);
  }

  /** Limits and what is left of them, by the names of OpenAI's API. */
  headers({ name, limits }: Counted): Record<string, string> {
    const { requestsPerMinute, tokensPerMinute } = limits;
    return {
      ...described("requests", this.#requests, name, requestsPerMinute),
      ...(tokensPerMinute !== undefined && described("tokens", this.#tokens, name, tokensPerMinute)),
    };
  }

  #refusal(caller: Counted, reason: string, waitSeconds: number): Refusal {
    const headers = { ...this.headers(caller), "retry-after": String(waitSeconds) };
    return new Refusal(429, "rate-limited", `${reason}: try again in ${waitSeconds} s`, headers);
  }
}

function described(what: string, buckets: MinuteBuckets, name: string, perMinute: number): Record<string, string> {
  const left = buckets.left(name, perMinute);
  const seconds = Math.ceil(((perMinute - left) / perMinute) * 60);
  const minutes = Math.floor(seconds / 60);
  return {
    [`x-ratelimit-limit-${what}`]: String(perMinute),
    [`x-ratelimit-remaining-${what}`]: String(Math.max(0, Math.floor(left))),
    [`x-ratelimit-reset-${what}`]: `${minutes > 0 ? `${minutes}m` : ""}${seconds % 60}s`,
  };
}

/** Buckets by caller that hold a minute's worth and fill evenly. */
class MinuteBuckets {
  readonly #now: () => number;
  /** In order of the last taking. */
  readonly #buckets = new Map<string, { readonly left: number; readonly atMs: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Below 0 when more was taken than there was. */
  left(name: string, perMinute: number): number {
    const bucket = this.#buckets.get(name);
    return bucket ? Math.min(perMinute, bucket.left + ((this.#now() - bucket.atMs) / 60_000) * perMinute) : perMinute;
  }

  /** Whole seconds until there is one. */
  wait(name: string, perMinute: number): number {
    return Math.max(1, Math.ceil(((1 - this.left(name, perMinute)) / perMinute) * 60));
  }

  take(name: string, perMinute: number, amount: number): void {
    const left = this.left(name, perMinute) - amount;
    this.#buckets.delete(name);
    this.#buckets.set(name, { left, atMs: this.#now() });
    if (this.#buckets.size > maxCallers) this.#buckets.delete(this.#buckets.keys().next().value!);
  }
}
