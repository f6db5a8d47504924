import { type Allowed, slotOfLabel } from "../../derived/allowed-labels.js";
import { TimeSlice } from "../../derived/scheduling.js";
import { type Ranking, TopK } from "../../derived/top-k.js";

/**
 * Vectors without their zeros, by component. Each row has a table of the values that occur in it, and each component names
 * one of them: the same bytes as in the database, in another order.
 */
export interface Columns {
  readonly dimension: number;
  /** Labels of the rows, ascending. */
  readonly labels: Uint32Array;
  /** Inverse length of each row's vector. */
  readonly scales: Float32Array;
  /** Where each row's table begins in `values`, and after the last row their number. */
  readonly valuesAt: Uint32Array;
  readonly values: Float32Array;
  /** Where each component's names begin, and after the last component their number. */
  readonly namesAt: Uint32Array;
  /** For each component as many whole words as rows need: a bit for each row in which it is not zero. */
  readonly bits: Uint32Array;
  /** For each bit, in their order, the place of its value in the row's table. */
  readonly names: Uint8Array | Uint16Array;
}

/**
 * Exact search by cosine over vectors that are mostly zeros: of each, only the components of the query are read. Scores are
 * the same to the last bit as those of `FlatIndex`, since products are added in the same order.
 */
export class ColumnIndex {
  readonly #columns: Columns;
  #dead: Uint8Array | undefined;
  #size: number;

  constructor(columns: Columns) {
    this.#columns = columns;
    this.#size = columns.labels.length;
  }

  /** Number of rows that were not removed. */
  get size(): number {
    return this.#size;
  }

  /** Ignores unknown labels. */
  remove(label: number): void {
    const { labels } = this.#columns;
    const row = slotOfLabel(labels, label);
    if (row === undefined) return;
    this.#dead ??= new Uint8Array(labels.length);
    if (this.#dead[row] === 0) this.#size--;
    this.#dead[row] = 1;
  }

  /** The `count` nearest of the allowed to a query of length 1. Lets other work run between slices of a long search. */
  async search(query: Float32Array, count: number, allowed?: Allowed): Promise<Ranking> {
    const { labels, scales, dimension } = this.#columns;
    const sums = new Float64Array(labels.length);
    const slice = new TimeSlice();
    for (let component = 0; component < dimension; component++) {
      if (query[component] === 0) continue;
      this.#addColumn(sums, component, query[component]!);
      if (slice.over) await slice.next();
    }
    const best = new TopK(Math.min(count, this.#size));
    const dead = this.#dead;
    for (let row = 0; row < labels.length; row++) {
      const label = labels[row]!;
      if ((dead && dead[row] !== 0) || (allowed && !allowed.has(label))) continue;
      best.offer(label, Math.fround(sums[row]!) * scales[row]!);
    }
    return best.ranking();
  }

  #addColumn(sums: Float64Array, component: number, factor: number): void {
    const { bits, names, namesAt, values, valuesAt } = this.#columns;
    const words = wordsFor(sums.length);
    const first = component * words;
    let name = namesAt[component]!;
    for (let word = 0; word < words; word++) {
      for (let left = bits[first + word]!; left !== 0; left &= left - 1) {
        const row = 32 * word + 31 - Math.clz32(left & -left);
        sums[row]! += factor * values[valuesAt[row]! + names[name++]!]!;
      }
    }
  }
}

/** Words of 32 bits that hold a bit for each row. */
export function wordsFor(rows: number): number {
  return Math.ceil(rows / 32);
}
