import { type SparseVector, wholeVector } from "../../database/columns.js";
import { dot } from "../../database/vectors.js";
import { bytesPerPage, createKernel, floatsPerStep, type Kernel } from "./kernel.js";

/** Rows of vectors of one length, and the dot products of a query with them. */
export interface RowBlock {
  /** Maximum number of rows. */
  readonly capacity: number;
  readonly set: (row: number, vector: Float32Array | SparseVector) => void;
  /** A copy of a row. */
  readonly get: (row: number) => Float32Array;
  /** The dot product of a row with itself. */
  readonly squaredLength: (row: number) => number;
  /** Dot products of `query` with up to `rowsPerScan` rows from `first` on. The result is overwritten by the next call. */
  readonly dots: (query: Float32Array, first: number, count: number) => Float32Array;
  /** Dot products of `query` with any rows, which takes longer for each. */
  readonly dotsOf: (query: Float32Array, rows: readonly number[]) => Float32Array;
}

export const rowsPerScan = 1024;

// V8 reserves this much address space for a memory, which therefore grows in place. Beyond it the next block begins.
const maxBytes = 1 << 30;

/** A block in WebAssembly's memory, or in JavaScript's if WebAssembly is missing or `plain` is true. */
export function createRowBlock(dimension: number, plain = false): RowBlock {
  const kernel = plain ? undefined : createKernel(maxBytes / bytesPerPage);
  return kernel ? wasmBlock(dimension, kernel) : plainBlock(dimension);
}

function wasmBlock(dimension: number, { memory, run }: Kernel): RowBlock {
  const stride = Math.ceil(dimension / floatsPerStep) * floatsPerStep * 4;
  const outAt = stride;
  const rowsAt = outAt + rowsPerScan * 4;
  const reserve = (bytes: number) => {
    const missing = bytes - memory.buffer.byteLength;
    if (missing <= 0) return;
    // An eighth in advance, because growing renews every view.
    const wanted = Math.min(missing + (memory.buffer.byteLength >> 3), maxBytes - memory.buffer.byteLength);
    memory.grow(Math.ceil(wanted / bytesPerPage));
  };
  reserve(rowsAt);
  const put = (index: number, vector: Float32Array) => new Float32Array(memory.buffer, index, dimension).set(vector);
  const results = (count: number) => new Float32Array(memory.buffer, outAt, count);
  return {
    capacity: Math.floor((maxBytes - rowsAt) / stride),
    set: (row, vector) => {
      const position = rowsAt + row * stride;
      reserve(position + stride);
      put(position, wholeVector(vector));
    },
    get: (row) => new Float32Array(memory.buffer, rowsAt + row * stride, dimension).slice(),
    squaredLength: (row) => {
      const offset = rowsAt + row * stride;
      run(offset, offset, outAt, 1, stride);
      return results(1)[0]!;
    },
    dots: (query, first, count) => {
      put(0, query);
      if (count > 0) run(0, rowsAt + first * stride, outAt, count, stride);
      return results(count);
    },
    dotsOf: (query, rows) => {
      put(0, query);
      for (let index = 0; index < rows.length; index++)
        run(0, rowsAt + rows[index]! * stride, outAt + 4 * index, 1, stride);
      return results(rows.length);
    },
  };
}

function plainBlock(dimension: number): RowBlock {
  const pieces: Float32Array[] = [];
  const position = (row: number) => {
    const piece = (pieces[Math.floor(row / rowsPerScan)] ??= new Float32Array(rowsPerScan * dimension));
    const start = (row % rowsPerScan) * dimension;
    return piece.subarray(start, start + dimension);
  };
  return {
    capacity: Number.MAX_SAFE_INTEGER,
    set: (row, vector) => position(row).set(wholeVector(vector)),
    get: (row) => position(row).slice(),
    squaredLength: (row) => dot(position(row), position(row)),
    dotsOf: (query, rows) => Float32Array.from(rows, (row) => dot(query, position(row))),
    dots: (query, first, count) =>
      Float32Array.from({ length: count }, (_, index) => dot(query, position(first + index))),
  };
}
