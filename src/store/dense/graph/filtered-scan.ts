import { cosine } from "../../database/vectors.js";
import type { Allowed } from "../../derived/allowed-labels.js";
import type { Changes } from "../../derived/changes.js";
import { type Ranking, TopK } from "../../derived/top-k.js";
import { FlatIndex } from "../flat/flat-index.js";

/** Size of the cache: 2,000 vectors of 1,024 dimensions, a fiftieth of a store of 100,000. */
const defaultCacheBytes = 8_388_608;

/** Rows read at once, as the chunks of one document have consecutive labels. */
const rowsPerRead = 256;

/**
 * Exact search among the chunks that a selective filter allows. Their vectors are read from the store, and the most recent
 * ones are cached, because a filter is often used again.
 */
export class FilteredScan {
  readonly #changes: Changes;
  readonly #cacheBytes: number;
  #cache: FlatIndex | undefined;
  #maxCached = 0;
  /** Labels in the cache, the least recently used first. A label never changes its vector. */
  readonly #order = new Set<number>();

  constructor(changes: Changes, cacheBytes = defaultCacheBytes) {
    this.#changes = changes;
    this.#cacheBytes = cacheBytes;
  }

  /** The `count` nearest of the allowed. `vector` has length 1. */
  search(vector: Float32Array, count: number, allowed: Allowed): Ranking {
    this.#maxCached = Math.floor(this.#cacheBytes / vector.byteLength);
    const best = new TopK(Math.min(count, allowed.size));
    const fits = allowed.size <= this.#maxCached;
    for (const { first, last } of this.#uncached(allowed)) {
      for (const row of this.#changes.vectorsBetween(first, last)) {
        if (fits) this.#cacheVector(row.label, row.vector, allowed);
        else best.offer(row.label, cosine(vector, row.vector));
      }
    }
    if (this.#cache) {
      const { labels, scores } = this.#cache.searchAtOnce(vector, count, allowed);
      for (let index = 0; index < labels.length; index++) best.offer(labels[index]!, scores[index]!);
    }
    return best.ranking();
  }

  /** Allowed labels that are not cached, as runs of consecutive labels. */
  *#uncached(allowed: Allowed): Generator<{ readonly first: number; readonly last: number }> {
    let [first, last] = [0, -1];
    for (const label of allowed.labels()) {
      if (this.#order.has(label)) continue;
      if (label === last + 1 && label - first < rowsPerRead) {
        last = label;
        continue;
      }
      if (first > 0) yield { first, last };
      [first, last] = [label, label];
    }
    if (first > 0) yield { first, last };
  }

  /** Replaces a cached vector that is not allowed, of which there is one, because all that are allowed fit. */
  #cacheVector(label: number, vector: Float32Array, allowed: Allowed): void {
    while (this.#order.size >= this.#maxCached) {
      const oldest = this.#order.values().next().value!;
      this.#order.delete(oldest);
      if (allowed.has(oldest)) this.#order.add(oldest);
      else this.#cache!.remove(oldest);
    }
    this.#order.add(label);
    (this.#cache ??= new FlatIndex(vector.length)).add(label, vector);
  }
}
