import { type SparseVector, wholeVector } from "../../database/columns.js";
import { normalised } from "../../database/vectors.js";
import type { Allowed } from "../../derived/allowed-labels.js";
import { TimeSlice } from "../../derived/scheduling.js";
import { type Ranking, TopK } from "../../derived/top-k.js";
import { createRowBlock, type RowBlock, rowsPerScan } from "./row-block.js";

/** Within these bounds a squared length neither overflows 32-bit floats nor loses its precision to underflow. */
const [minSquare, maxSquare] = [1e-20, 1e30];

/** One over the length of a vector; `undefined` where that is out of range, so that the vector must be normalised itself. */
export function scaleOf(squaredLength: number): number | undefined {
  return squaredLength > minSquare && squaredLength < maxSquare ? 1 / Math.sqrt(squaredLength) : undefined;
}

/** Exact search by cosine: every vector is compared. Queries have length 1, vectors any length. */
export class FlatIndex {
  readonly #createBlock: () => RowBlock;
  readonly #blocks: RowBlock[] = [];
  readonly #rows = new Map<number, number>();
  readonly #freeRows: number[] = [];
  #rowCount = 0;
  /** Label by row; 0 for a free row. */
  #labels = new Uint32Array(16);
  /** Inverse length of each row's vector, which turns a dot product into the cosine. */
  #scales = new Float32Array(16);

  constructor(dimension: number, createBlock: (dimension: number) => RowBlock = createRowBlock) {
    this.#createBlock = () => createBlock(dimension);
  }

  get size(): number {
    return this.#rows.size;
  }

  has(label: number): boolean {
    return this.#rows.has(label);
  }

  /** Labels are positive. A label that exists gets the new vector. */
  add(label: number, vector: Float32Array | SparseVector): void {
    const row = this.#rows.get(label) ?? this.#freeRows.pop() ?? this.#newRow();
    const [block, position] = this.#locate(row);
    block.set(position, vector);
    // The kernel is several times as fast as a loop, which would also be slow until it is compiled.
    const scale = scaleOf(block.squaredLength(position));
    if (scale === undefined) block.set(position, normalised(wholeVector(vector)));
    this.#scales[row] = scale ?? 1;
    this.#labels[row] = label;
    this.#rows.set(label, row);
  }

  remove(label: number): void {
    const row = this.#rows.get(label);
    if (row === undefined) return;
    this.#rows.delete(label);
    this.#labels[row] = 0;
    this.#freeRows.push(row);
  }

  /** All labels, each with a copy of its vector. */
  *entries(): Generator<[label: number, vector: Float32Array]> {
    for (const [label, row] of this.#rows) {
      const [block, position] = this.#locate(row);
      yield [label, block.get(position)];
    }
  }

  /** The `count` nearest of the allowed. Lets other work run between slices of a long scan. */
  async search(query: Float32Array, count: number, allowed?: Allowed): Promise<Ranking> {
    const best = new TopK(Math.min(count, this.size));
    const slice = new TimeSlice();
    for (const _ of this.#offer(query, best, allowed)) if (slice.over) await slice.next();
    return best.ranking();
  }

  /** The `count` nearest of the allowed, without a pause. */
  searchAtOnce(query: Float32Array, count: number, allowed?: Allowed): Ranking {
    const best = new TopK(Math.min(count, this.size));
    for (const _ of this.#offer(query, best, allowed));
    return best.ranking();
  }

  /** Offers every allowed row, in steps. */
  #offer(query: Float32Array, best: TopK, allowed: Allowed | undefined): Iterable<void> {
    // A single row takes hardly longer than one of a scan, but prefetching works less well and each label is looked up.
    return allowed && allowed.size * 2 < this.size
      ? this.#offerSome(query, best, allowed)
      : this.#offerAll(query, best, allowed);
  }

  *#offerAll(query: Float32Array, best: TopK, allowed: Allowed | undefined): Generator<void> {
    for (let first = 0; first < this.#rowCount;) {
      const [block, position] = this.#locate(first);
      const rows = Math.min(rowsPerScan, this.#rowCount - first, block.capacity - position);
      const dots = block.dots(query, position, rows);
      for (let row = 0; row < rows; row++) {
        const label = this.#labels[first + row]!;
        if (label > 0 && (!allowed || allowed.has(label))) best.offer(label, dots[row]! * this.#scales[first + row]!);
      }
      first += rows;
      yield;
    }
  }

  *#offerSome(query: Float32Array, best: TopK, allowed: Allowed): Generator<void> {
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

  /** Offers rows of one block. */
  #offerRows(query: Float32Array, best: TopK, rows: readonly number[]): void {
    if (rows.length === 0) return;
    const [block] = this.#locate(rows[0]!);
    const dots = block.dotsOf(
      query,
      rows.map((row) => row % block.capacity),
    );
    for (const [index, row] of rows.entries()) best.offer(this.#labels[row]!, dots[index]! * this.#scales[row]!);
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
    const first = (this.#blocks[0] ??= this.#createBlock());
    const index = Math.floor(row / first.capacity);
    const block = (this.#blocks[index] ??= this.#createBlock());
    return [block, row % first.capacity];
  }
}
