import type { Allowed } from "../allowed-labels.js";
import { TimeSlice } from "../time-slice.js";
import { type Ranking, TopK } from "../top-k.js";
import { normalised } from "../vectors.js";
import { createRowBlock, type RowBlock, rowsPerScan } from "./row-block.js";
import { RowsByLabel } from "./rows-by-label.js";

/** Squares between these are sums that 32-bit floats hold, and not of numbers too small for them. */
const [leastSquare, mostSquare] = [1e-20, 1e30];

/** Exact search by cosine: every vector is compared. Queries have length 1, vectors any. */
export class FlatIndex {
  readonly #dimension: number;
  readonly #plain: boolean;
  readonly #blocks: RowBlock[] = [];
  readonly #rows = new RowsByLabel();
  readonly #free: number[] = [];
  #rowCount = 0;
  /** By row; 0 for a row that is free. */
  #labels = new Uint32Array(16);
  /** By row: what makes a dot product the cosine, one over the length. */
  #scales = new Float32Array(16);

  /** `plain`: without WebAssembly. */
  constructor(dimension: number, plain = false) {
    this.#dimension = dimension;
    this.#plain = plain;
  }

  get size(): number {
    return this.#rows.size;
  }

  has(label: number): boolean {
    return this.#rows.get(label) !== undefined;
  }

  /** Labels are positive; a label that is there gets the new vector. */
  add(label: number, vector: Float32Array): void {
    const row = this.#rows.get(label) ?? this.#free.pop() ?? this.#newRow();
    const [block, at] = this.#locate(row);
    block.set(at, vector);
    // The kernel squares several times as fast as a loop, which the first vectors of a thread would also wait to be compiled.
    const squared = block.squaredLength(at);
    const inRange = squared > leastSquare && squared < mostSquare;
    if (!inRange) block.set(at, normalised(vector));
    this.#scales[row] = inRange ? 1 / Math.sqrt(squared) : 1;
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
    // Row by row each takes hardly longer, but memory is read ahead worse; and who is allowed has to be looked up.
    return allowed && allowed.size * 2 < this.size
      ? this.#offersOfSome(query, best, allowed)
      : this.#offersOfAll(query, best, allowed);
  }

  *#offersOfAll(query: Float32Array, best: TopK, allowed: Allowed | undefined): Generator<void> {
    for (let first = 0; first < this.#rowCount;) {
      const [block, at] = this.#locate(first);
      const rows = Math.min(rowsPerScan, this.#rowCount - first, block.capacity - at);
      const dots = block.dots(query, at, rows);
      for (let row = 0; row < rows; row++) {
        const label = this.#labels[first + row]!;
        if (label > 0 && (!allowed || allowed.has(label))) best.offer(label, dots[row]! * this.#scales[first + row]!);
      }
      first += rows;
      yield;
    }
  }

  *#offersOfSome(query: Float32Array, best: TopK, allowed: Allowed): Generator<void> {
    let rows: number[] = [];
    for (const label of allowed.labels()) {
      const row = this.#rows.get(label);
      if (row === undefined) continue;
      const [block] = this.#locate(row);
      if (rows.length === rowsPerScan || (rows.length > 0 && block !== this.#locate(rows[0]!)[0])) {
        this.#offerRows(query, best, rows);
        rows = [];
        yield;
      }
      rows.push(row);
    }
    this.#offerRows(query, best, rows);
  }

  /** Of one block. */
  #offerRows(query: Float32Array, best: TopK, rows: readonly number[]): void {
    if (rows.length === 0) return;
    const [block] = this.#locate(rows[0]!);
    const dots = block.dotsOf(
      query,
      rows.map((row) => row % block.capacity),
    );
    for (const [at, row] of rows.entries()) best.offer(this.#labels[row]!, dots[at]! * this.#scales[row]!);
  }

  #newRow(): number {
    if (this.#rowCount === this.#labels.length) {
      const rows = Math.ceil(1.25 * this.#rowCount);
      const [labels, scales] = [new Uint32Array(rows), new Float32Array(rows)];
      labels.set(this.#labels);
      scales.set(this.#scales);
      [this.#labels, this.#scales] = [labels, scales];
    }
    return this.#rowCount++;
  }

  #locate(row: number): [block: RowBlock, at: number] {
    const first = (this.#blocks[0] ??= createRowBlock(this.#dimension, this.#plain));
    const index = Math.floor(row / first.capacity);
    const block = (this.#blocks[index] ??= createRowBlock(this.#dimension, this.#plain));
    return [block, row % first.capacity];
  }
}
