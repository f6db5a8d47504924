import type { Charge, Store } from "../../core/ports.js";
import type { Payments } from "../../stages/calls/payments.js";
import { TokenBudget } from "../../stages/indexing/token-budget.js";

/** Maximum time for which a paid vector is in memory alone, in milliseconds. */
const maxUnsavedMs = 1000;

export interface RunPaymentsOptions {
  readonly store: Pick<Store, "write" | "knownVectors">;
  /**
   * Takes the store's lock, once. Of two runs into one store, the one that comes second to the first write would lose all that
   * it paid for, so the lock is taken before the first request. A run that embeds nothing needs none.
   */
  readonly lock: () => Promise<unknown>;
  /** Maximum tokens of the run. Default: no limit. */
  readonly maxTokens?: number | undefined;
}

/**
 * Pays for the requests of a run, and writes vectors that have arrived and still wait for their documents. Vectors leave
 * `embedChunks` in the order of their chunks, so those behind a slow request wait for it, for half a minute if the service
 * asks for that. They are paid for, and a killed process would pay for them again. A run without slow requests writes nothing
 * here.
 */
export class RunPayments implements Payments {
  readonly maxTokens?: number;
  readonly #store: Pick<Store, "write" | "knownVectors">;
  readonly #lock: () => Promise<unknown>;
  readonly #budget: TokenBudget | undefined;
  readonly #unsaved = new Map<string, { readonly vector: Float32Array; readonly landedAt: number }>();
  #landed = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor({ store, lock, maxTokens }: RunPaymentsOptions) {
    this.#store = store;
    this.#lock = lock;
    this.#budget = maxTokens === undefined ? undefined : new TokenBudget(maxTokens);
    if (maxTokens !== undefined) this.maxTokens = maxTokens;
  }

  readonly reserve = async (tokens: number): Promise<Charge> => {
    await this.#lock();
    return this.#budget ? this.#budget.reserve(tokens) : { settle: () => {} };
  };

  readonly stored = async (keys: readonly string[]): Promise<ReadonlyMap<string, Float32Array>> => {
    // Until the lock is taken, another run may be storing what this one has looked up and not found.
    await this.#lock();
    return this.#store.knownVectors(keys);
  };

  readonly landed = (vectors: ReadonlyMap<string, Float32Array>): void => {
    const landedAt = performance.now();
    for (const [key, vector] of vectors) this.#unsaved.set(key, { vector, landedAt });
    this.#landed += vectors.size;
    this.#watch();
  };

  /** Notes that these vectors are in the store. */
  written(keys: Iterable<string>): void {
    for (const key of keys) this.#unsaved.delete(key);
  }

  /**
   * Writes the remaining vectors, however the run ended.
   *
   * @returns the number of vectors that were paid for and are kept, if some could not be written
   */
  async end(): Promise<number | undefined> {
    clearTimeout(this.#timer);
    await this.#save(Infinity);
    return this.#unsaved.size === 0 ? undefined : this.#landed - this.#unsaved.size;
  }

  #watch(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#save(performance.now() - maxUnsavedMs);
      if (this.#unsaved.size > 0) this.#watch();
    }, maxUnsavedMs).unref();
  }

  async #save(landedBefore: number): Promise<void> {
    const due = [...this.#unsaved].filter(([, { landedAt }]) => landedAt <= landedBefore);
    if (due.length === 0) return;
    this.written(due.map(([key]) => key));
    const vectors = new Map(due.map(([key, { vector }]) => [key, vector]));
    await this.#store.write({ vectors }).catch(() => {
      // A store that cannot be written to tells the stage that writes documents as well.
      for (const [key, unsaved] of due) this.#unsaved.set(key, unsaved);
    });
  }
}
