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
  #timer: NodeJS.Timeout | undefined;

  /** @param lock takes the store's lock, once. */
  constructor(store: Pick<Store, "write" | "knownVectors">, lock: () => Promise<unknown>) {
    this.#store = store;
    this.#lock = lock;
  }

  landed(vectors: ReadonlyMap<string, Float32Array>): void {
    const landedAt = performance.now();
    for (const [key, vector] of vectors) this.#unsaved.set(key, { vector, landedAt });
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

  /** Writes what is left, whichever way the run ended. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#save(Infinity);
  }

  #watch(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#save(performance.now() - maxUnsavedMs);
      if (this.#unsaved.size > 0) this.#watch();
    }, maxUnsavedMs).unref();
  }

  async #save(landedBefore: number): Promise<void> {
    const vectors = new Map<string, Float32Array>();
    for (const [key, { vector, landedAt }] of this.#unsaved) if (landedAt <= landedBefore) vectors.set(key, vector);
    this.written(vectors.keys());
    // A store that cannot be written to tells the stage that writes documents as well.
    if (vectors.size > 0) await this.#store.write({ vectors }).catch(() => {});
  }
}
