import { Refusal } from "./refusal.js";

/** Callers that are remembered at once; the one that has been quiet for longest is forgotten first. */
const maxCallers = 10_000;

/** Limits how often each caller asks, by a bucket that holds a minute's requests and fills evenly. */
export class RequestLimits {
  readonly #perMinute: number;
  readonly #now: () => number;
  /** By caller, in order of the last request. */
  readonly #buckets = new Map<string, { readonly left: number; readonly atMs: number }>();

  constructor(perMinute: number, now: () => number = () => performance.now()) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  /** @throws Refusal (429) with the time to wait, when the caller has used up its minute. */
  admit(caller: string): void {
    const atMs = this.#now();
    const bucket = this.#buckets.get(caller);
    const filled = bucket ? bucket.left + ((atMs - bucket.atMs) / 60_000) * this.#perMinute : this.#perMinute;
    const available = Math.min(this.#perMinute, filled);
    if (available < 1) {
      const seconds = Math.ceil(((1 - available) / this.#perMinute) * 60);
      const message = `More than ${this.#perMinute} requests in a minute: try again in ${seconds} s`;
      throw new Refusal(429, "rate-limited", message, { "retry-after": String(seconds) });
    }
    this.#buckets.delete(caller);
    this.#buckets.set(caller, { left: available - 1, atMs });
    if (this.#buckets.size > maxCallers) this.#buckets.delete(this.#buckets.keys().next().value!);
  }
}
