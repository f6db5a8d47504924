import type { Allowed } from "../allowed-labels.js";
import { TimeSlice } from "../time-slice.js";
import { type Ranking, TopK } from "../top-k.js";
import { createRowBlock, type RowBlock, rowsPerScan } from "./row-block.js";

/** Exact search by cosine: every vector is compared. Vectors and queries have length 1. */
export class FlatIndex {
  readonly #dimension: number;
  readonly #plain: boolean;
  readonly #blocks: RowBlock[] = [];
  /** Label by row; 0 for a row that is free. */
  readonly #labels: number[] = [];
  readonly #rows = new Map<number, number>();
  readonly #free: number[] = [];

  /** `plain`: without WebAssembly. */
  constructor(dimension: number, plain = false) {
    this.#dimension = dimension;
    this.#plain = plain;
  }

  get size(): number {
    return this.#rows.size;
  }

  has(label: number): boolean {
    return this.#rows.has(label);
  }

  /** Labels are positive; a label that is there gets the new vector. */
  add(label: number, vector: Float32Array): void {
    const row = this.#rows.get(label) ?? this.#free.pop() ?? this.#labels.length;
    const [block, at] = this.#locate(row);
    block.set(at, vector);
    this.#labels[row] = label;
    this.#rows.set(label, row);
  }

  remove(label: number): void {
    const row = this.#rows.get(label);
    if (row === undefined) return;
    this.#rows.delete(label);
    this.#labels[row] = 0;
    this.#free.push(row);
  }

  /** The `count` nearest of those allowed; other work may run between slices of a long scan. */
  async search(query: Float32Array, count: number, allowed?: Allowed): Promise<Ranking> {
    const best = new TopK(Math.min(count, this.size));
    const slice = new TimeSlice();
    for (const _ of this.#offers(query, best, allowed)) if (slice.over) await slice.next();
    return best.ranking();
  }

  /** The `count` nearest of those allowed, without giving way to anybody. */
  searchAtOnce(query: Float32Array, count: number, allowed?: Allowed): Ranking {
    const best = new TopK(Math.min(count, this.size));
    for (const _ of this.#offers(query, best, allowed));
    return best.ranking();
  }

  /** Offers every allowed row, a step at a time. */
  #offers(query: Float32Array, best: TopK, allowed: Allowed | undefined): Iterable<void> {
    // Single rows cost some four times as much each as rows in a row.
    return allowed && allowed.size * 4 < this.size
      ? this.#offersOneByOne(query, best, allowed)
      : this.#offersOfAll(query, best, allowed);
  }

  *#offersOfAll(query: Float32Array, best: TopK, allowed: Allowed | undefined): Generator<void> {
    for (let first = 0; first < this.#labels.length;) {
      const [block, at] = this.#locate(first);
      const rows = Math.min(rowsPerScan, this.#labels.length - first, block.capacity - at);
      const scores = block.dots(query, at, rows);
      for (let row = 0; row < rows; row++) {
        const label = this.#labels[first + row]!;
        if (label > 0 && (!allowed || allowed.has(label))) best.offer(label, scores[row]!);
      }
      first += rows;
      yield;
    }
  }

  *#offersOneByOne(query: Float32Array, best: TopK, allowed: Allowed): Generator<void> {
    for (const label of allowed.labels()) {
      const row = this.#rows.get(label);
      if (row === undefined) continue;
      const [block, at] = this.#locate(row);
      best.offer(label, block.dots(query, at, 1)[0]!);
      yield;
    }
  }

  #locate(row: number): [block: RowBlock, at: number] {
    const first = (this.#blocks[0] ??= createRowBlock(this.#dimension, this.#plain));
    const index = Math.floor(row / first.capacity);
    const block = (this.#blocks[index] ??= createRowBlock(this.#dimension, this.#plain));
    return [block, row % first.capacity];
  }
}
