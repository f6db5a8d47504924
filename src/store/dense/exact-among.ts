import type { Allowed } from "../allowed-labels.js";
import type { Changes } from "../changes.js";
import { type Ranking, TopK } from "../top-k.js";
import { cosine } from "../vectors.js";
import { FlatIndex } from "./flat-index.js";

/** Vectors that are kept, in bytes: 2,000 of 1,024 dimensions, a fiftieth of a store of 100,000. */
const keptBytes = 8_388_608;

/** Rows of one reading: chunks of one document lie together. */
const rowsPerReading = 256;

/**
 * Exact search among the chunks that a filter lets through, while they are few: each is compared. Vectors are read from
 * the store, and the last ones are kept, as who asks with a filter often asks with it again.
 */
export class ExactAmong {
  readonly #changes: Changes;
  readonly #keptBytes: number;
  #kept: FlatIndex | undefined;
  #mostKept = 0;
  /** Labels of those kept, the longest unused first. A label never gets another vector. */
  readonly #order = new Set<number>();

  constructor(changes: Changes, bytes = keptBytes) {
    this.#changes = changes;
    this.#keptBytes = bytes;
  }

  /** The `count` nearest of those allowed. `vector` has length 1. */
  search(vector: Float32Array, count: number, allowed: Allowed): Ranking {
    this.#mostKept = Math.floor(this.#keptBytes / vector.byteLength);
    const best = new TopK(Math.min(count, allowed.size));
    const keep = allowed.size <= this.#mostKept;
    for (const { first, last } of this.#missing(allowed)) {
      for (const row of this.#changes.vectorsBetween(first, last)) {
        if (keep) this.#keep(row.label, row.vector, allowed);
        else best.offer(row.label, cosine(vector, row.vector));
      }
    }
    if (this.#kept) {
      const { labels, scores } = this.#kept.searchAtOnce(vector, count, allowed);
      for (let at = 0; at < labels.length; at++) best.offer(labels[at]!, scores[at]!);
    }
    return best.ranking();
  }

  /** Allowed labels that are not kept, in runs without a gap. */
  *#missing(allowed: Allowed): Generator<{ readonly first: number; readonly last: number }> {
    let [first, last] = [0, -1];
    for (const label of allowed.labels()) {
      if (this.#order.has(label)) continue;
      if (label === last + 1 && label - first < rowsPerReading) {
        last = label;
        continue;
      }
      if (first > 0) yield { first, last };
      [first, last] = [label, label];
    }
    if (first > 0) yield { first, last };
  }

  /** `allowed` are at most as many as can be kept, so that one of the others can always go. */
  #keep(label: number, vector: Float32Array, allowed: Allowed): void {
    while (this.#order.size >= this.#mostKept) {
      const oldest = this.#order.values().next().value!;
      this.#order.delete(oldest);
      if (allowed.has(oldest)) this.#order.add(oldest);
      else this.#kept!.remove(oldest);
    }
    this.#order.add(label);
    (this.#kept ??= new FlatIndex(vector.length)).add(label, vector);
  }
}
