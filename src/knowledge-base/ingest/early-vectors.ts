import type { PaidVectors } from "../../core/pipeline.js";
import type { Store } from "../../core/ports.js";

/** Maximum time for which a paid vector is in memory alone, in milliseconds. */
const maxUnsavedMs = 1000;

/**
 * Writes vectors that have landed and still wait for their documents. Vectors leave `embedChunks` in the order of their
 * chunks, so those behind a slow request wait for it, half a minute where a service asks for that. They are paid for, and
 * a killed process would pay for them again. A run without slow requests writes nothing here.
 */
export class EarlyVectors implements PaidVectors {
  readonly #store: Pick<Store, "write" | "knownVectors">;
  readonly #lock: () => Promise<unknown>;
  readonly #unsaved = new Map<string, { readonly vector: Float32Array; readonly landedAt: number }>();
  #landed = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param lock takes the store's lock, once. */
  constructor(store: Pick<Store, "write" | "knownVectors">, lock: () => Promise<unknown>) {
    this.#store = store;
    this.#lock = lock;
  }

  landed(vectors: ReadonlyMap<string, Float32Array>): void {
    const landedAt = performance.now();
    for (const [key, vector] of vectors) this.#unsaved.set(key, { vector, landedAt });
    this.#landed += vectors.size;
    this.#watch();
  }

  written(keys: Iterable<string>): void {
    for (const key of keys) this.#unsaved.delete(key);
  }

  async stored(keys: readonly string[]): Promise<ReadonlyMap<string, Float32Array>> {
    // Until the lock is taken, another run may be storing what this one has looked up and not found.
    await this.#lock();
    return this.#store.knownVectors(keys);
  }

  /**
   * Writes what is left, whichever way the run ended.
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
