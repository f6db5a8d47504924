import { type Bits, type Codes, codesOf } from "./codes.js";
import { bytesPerPage, createKernel, createSharedMemory, maxPages, rowsPerStep, type SharedMemory } from "./kernel.js";

/** Memory and parameters that the threads building a graph share. */
export interface SharedGraph {
  readonly bits: Bits;
  readonly dimension: number;
  readonly m: number;
  /** Maximum size of the records, in bytes. */
  readonly maxBytes: number;
  /** The control words, the scratch space of each thread, and a record for each vector. */
  readonly records: SharedMemory;
  /** The links of the upper layers. */
  readonly upper: SharedMemory;
}

export function sharedGraph(bits: Bits, dimension: number, m: number, maxBytes = maxPages * bytesPerPage): SharedGraph {
  return { bits, dimension, m, maxBytes, records: createSharedMemory(), upper: createSharedMemory() };
}

/** Threads that may work on a graph at the same time, with the one that writes its slots. */
export const maxThreads = 8;

/** Slots whose similarity is computed at once: more than a vector ever has links. */
export const slotsPerCall = 1024;

/** Words at the beginning of the records. `entry` is the slot at which searches begin. */
const control = { count: 0, claimed: 1, linked: 2, entry: 3, upperWords: 4, lock: 5, stopped: 6 } as const;
const controlBytes = 64;

/** Parts of a record behind its vector, in bytes. The last is a list: the number of links, and the links. */
const field = { scale: 0, label: 4, state: 8, layer: 12, upper: 16, lock: 20, links: 24 } as const;
const state = { removed: 1, linked: 2 } as const;

/** A lock is held for less than a millisecond: beyond this time, the thread that holds it has died. */
const maxLockMs = 30_000;

const align = (bytes: number, to = 64) => Math.ceil(bytes / to) * to;

/** The shape of a graph's records. */
interface RecordShape {
  /** Capacity of a list of links. Spare room avoids choosing the links again for every new one. */
  readonly maxLinks: number;
  readonly maxUpperLinks: number;
  /** Bytes of a record. */
  readonly stride: number;
}

function recordShape(bits: Bits, m: number, rowBytes: number): RecordShape {
  const slack = Math.ceil(0.75 * m);
  const maxLinks = 2 * m + slack;
  // With 4 bits, padding to cache lines costs a twelfth more memory and saves hardly any reads. Saved graphs of 8 bits are padded.
  const stride = align(rowBytes + field.links + 4 * (1 + maxLinks), bits === 8 ? 64 : 16);
  return { maxLinks, maxUpperLinks: m + slack, stride };
}

/**
 * The memory of a graph of vectors as numbers of few bits: a record for each slot, with the vector, its label and its links, so that
 * what is read together lies together. Several threads hold it at once. One of them writes the slots, all of them link.
 *
 * Links are read without a lock: a reader of a list that is being written sees an old link or a new one.
 */
export class GraphMemory {
  readonly shared: SharedGraph;
  /** Where the numbers of this thread's query stand. */
  readonly queryAt: number;
  /** The list that `similarities` and `anyAbove` read. */
  readonly slots: Uint32Array;
  /** The similarity of a row, given by its address, to the first `count` slots of the list. Overwritten by the next call. */
  readonly similarities: (row: number, count: number) => Float32Array;
  /** Whether a row is more similar than `limit` to any of the first `count` slots of the list. */
  readonly anyAbove: (row: number, count: number, limit: number) => boolean;
  /** See `RecordShape`. */
  readonly maxLinks: number;
  readonly maxUpperLinks: number;
  readonly #codes: Codes;
  readonly #rowBytes: number;
  readonly #stride: number;
  readonly #recordsAt: number;
  #numbers!: Int8Array;
  #words!: Int32Array;
  #floats!: Float32Array;
  #upper!: Int32Array;

  /** @param thread which of the threads this is. 0 is the one that writes slots. */
  constructor(shared: SharedGraph, thread: number) {
    const { bits, dimension, m, records } = shared;
    this.shared = shared;
    this.#codes = codesOf(bits, dimension);
    const { rowBytes, queryBytes } = this.#codes;
    const { maxLinks, maxUpperLinks, stride } = recordShape(bits, m, rowBytes);
    [this.maxLinks, this.maxUpperLinks, this.#rowBytes, this.#stride] = [maxLinks, maxUpperLinks, rowBytes, stride];
    // Scratch space of a thread: its query, a row as a query, and the list of slots with their similarities.
    const scratchBytes = 2 * align(queryBytes) + 8 * slotsPerCall;
    this.#recordsAt = controlBytes + maxThreads * scratchBytes;
    this.queryAt = controlBytes + thread * scratchBytes;
    reserve(records, this.#recordsAt);
    this.#renewViews();
    const unpackedAt = this.queryAt + align(queryBytes);
    const slotsAt = unpackedAt + align(queryBytes);
    const outAt = slotsAt + 4 * slotsPerCall;
    this.slots = new Uint32Array(records.buffer, slotsAt, slotsPerCall);
    const out = new Float32Array(records.buffer, outAt, slotsPerCall);
    const kernel = createKernel(records, bits);
    const rows = this.#recordsAt;
    let unpacked = 0;
    /** The address of a query of the same numbers. Rows are written once, so that the one unpacked last need not be again. */
    const asQuery = (row: number) => {
      if (row === this.queryAt || !kernel.unpack) return row;
      if (row !== unpacked) kernel.unpack((unpacked = row), unpackedAt, rowBytes);
      return unpackedAt;
    };
    this.similarities = (row, count) => {
      let end = count;
      while (end % rowsPerStep !== 0) this.slots[end++] = this.slots[0]!;
      if (end > 0) kernel.similarities(asQuery(row), slotsAt, end, outAt, rows, stride, rowBytes);
      return out;
    };
    this.anyAbove = (row, count, limit) =>
      count > 0 && kernel.anyAbove(asQuery(row), slotsAt, count, limit, rows, stride, rowBytes) === 1;
  }

  /** Slots that were written. */
  get count(): number {
    return Atomics.load(this.#words, control.count);
  }

  /** Slots whose linking has ended. */
  get linkedCount(): number {
    return Atomics.load(this.#words, control.linked);
  }

  /** The slot at which searches begin: one of the highest layer. */
  get entry(): number {
    return Atomics.load(this.#words, control.entry);
  }

  set entry(slot: number) {
    Atomics.store(this.#words, control.entry, slot);
  }

  /** Takes the next slot to link; undefined if there is none. */
  claim(): number | undefined {
    for (;;) {
      const slot = Atomics.load(this.#words, control.claimed);
      if (slot >= this.count) return undefined;
      if (Atomics.compareExchange(this.#words, control.claimed, slot, slot + 1) === slot) return slot;
    }
  }

  /** Blocks this thread until there may be another slot to link; false when there will be none. */
  waitForSlots(): boolean {
    const { count } = this;
    if (!this.#isStopped && Atomics.load(this.#words, control.claimed) >= count)
      Atomics.wait(this.#words, control.count, count, 1000);
    return !this.#isStopped;
  }

  get #isStopped(): boolean {
    return Atomics.load(this.#words, control.stopped) === 1;
  }

  /** Lets threads wait for slots again. */
  resume(): void {
    Atomics.store(this.#words, control.stopped, 0);
  }

  /** Ends the waiting of all threads. */
  stop(): void {
    Atomics.store(this.#words, control.stopped, 1);
    Atomics.notify(this.#words, control.count);
  }

  /**
   * Writes a vector to the next slot.
   *
   * @throws Error when there is no room for it.
   */
  append(label: number, vector: Float32Array, layer: number): number {
    const slot = this.count;
    const row = this.#recordAt(slot);
    if (row + this.#stride > this.shared.maxBytes) {
      throw new Error(
        `A graph of ${this.shared.bits}-bit vectors holds ${slot} of ${vector.length} dimensions, and is full: ` +
          'open the store with quantization: "none", or use several stores',
      );
    }
    const upperAt = this.#words[control.upperWords]!;
    const upperWords = upperAt + layer * (1 + this.maxUpperLinks);
    reserve(this.shared.records, row + this.#stride);
    reserve(this.shared.upper, 4 * upperWords);
    this.#renewViews();
    const words = this.#writeRow(vector, row);
    this.#words[words + field.label / 4] = label;
    this.#words[words + field.layer / 4] = layer;
    this.#words[words + field.upper / 4] = upperAt;
    this.#words[control.upperWords] = upperWords;
    Atomics.store(this.#words, control.count, slot + 1);
    Atomics.notify(this.#words, control.count);
    return slot;
  }

  /** Writes a vector as this thread's query. Returns its scale, which the similarities lack. */
  writeQuery(vector: Float32Array): number {
    return this.#codes.writeQuery(vector, this.#numbers, this.queryAt);
  }

  /** The address of a slot's numbers. */
  rowOf(slot: number): number {
    const row = this.#recordAt(slot);
    if (row + this.#stride > this.#numbers.length) this.#renewViews();
    return row;
  }

  scaleOf(slot: number): number {
    return this.#floats[this.#wordAt(this.rowOf(slot)) + field.scale / 4]!;
  }

  labelOf(slot: number): number {
    return this.#words[this.#wordAt(this.rowOf(slot)) + field.label / 4]! >>> 0;
  }

  layerOf(slot: number): number {
    return this.#words[this.#wordAt(this.rowOf(slot)) + field.layer / 4]!;
  }

  isRemoved(slot: number): boolean {
    return (this.#state(slot) & state.removed) !== 0;
  }

  isLinked(slot: number): boolean {
    return (this.#state(slot) & state.linked) !== 0;
  }

  setRemoved(slot: number): void {
    Atomics.or(this.#words, this.#wordAt(this.rowOf(slot)) + field.state / 4, state.removed);
  }

  setLinked(slot: number): void {
    Atomics.or(this.#words, this.#wordAt(this.rowOf(slot)) + field.state / 4, state.linked);
    Atomics.add(this.#words, control.linked, 1);
  }

  /** The list of a slot's links in a layer: the words that hold it, and the place of the number of links in them. */
  links(slot: number, layer: number): { readonly words: Int32Array; readonly first: number } {
    const index = this.#wordAt(this.rowOf(slot));
    if (layer === 0) return { words: this.#words, first: index + field.links / 4 };
    const upperAt = this.#words[index + field.upper / 4]! + (layer - 1) * (1 + this.maxUpperLinks);
    if (upperAt + this.maxUpperLinks >= this.#upper.length) this.#renewViews();
    return { words: this.#upper, first: upperAt };
  }

  /** Runs `work` while no other thread holds the lock of the slot; without a slot, that of the entry. */
  locked<Result>(slot: number | undefined, work: () => Result): Result {
    const index = slot === undefined ? control.lock : this.#wordAt(this.rowOf(slot)) + field.lock / 4;
    if (Atomics.compareExchange(this.#words, index, 0, 1) !== 0) this.#waitForLock(index);
    try {
      return work();
    } finally {
      Atomics.store(this.#words, index, 0);
    }
  }

  #waitForLock(index: number): void {
    const until = performance.now() + maxLockMs;
    while (Atomics.compareExchange(this.#words, index, 0, 1) !== 0) {
      if (performance.now() > until) throw new Error(`A thread that builds the graph held a lock for ${maxLockMs} ms`);
      Atomics.wait(this.#words, index, 1, 0.05);
    }
  }

  /** The parts of the memory that a saved graph consists of: the control words, the records, and the upper links. */
  parts(): Uint8Array[] {
    const { records, upper } = this.shared;
    return [
      new Uint8Array(records.buffer, 0, controlBytes),
      new Uint8Array(records.buffer, this.#recordsAt, this.count * this.#stride),
      new Uint8Array(upper.buffer, 0, 4 * this.#words[control.upperWords]!),
    ];
  }

  /** Makes room for a saved graph of this many vectors, whose control words have been read. Returns the parts to read. */
  reserveParts(count: number): Uint8Array[] {
    reserve(this.shared.records, this.#recordAt(count));
    reserve(this.shared.upper, 4 * this.#words[control.upperWords]!);
    this.#renewViews();
    return this.parts();
  }

  /** Bytes of a record of 8 bits. */
  get strideOf8Bits(): number {
    const { dimension, m } = this.shared;
    return recordShape(8, m, codesOf(8, dimension).rowBytes).stride;
  }

  /** Writes saved records of 8 bits to slots from `slot` on: the vectors as numbers of this memory, all else as it is. */
  convert(records: Uint8Array<ArrayBuffer>, slot: number): void {
    const { dimension } = this.shared;
    const { rowBytes } = codesOf(8, dimension);
    const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
    const vector = new Float32Array(dimension);
    const stride = this.strideOf8Bits;
    const restWords = (field.links - field.label) / 4 + 1 + this.maxLinks;
    for (let index = 0, to = slot; index < records.length; index += stride, to++) {
      const scale = view.getFloat32(index + rowBytes + field.scale, true);
      for (let place = 0; place < dimension; place++) vector[place] = scale * view.getInt8(index + place);
      const into = this.#writeRow(vector, this.#recordAt(to)) + field.label / 4;
      const from = index + rowBytes + field.label;
      for (let word = 0; word < restWords; word++) this.#words[into + word] = view.getInt32(from + 4 * word, true);
    }
  }

  /** Returns the place of the first word behind the vector. */
  #writeRow(vector: Float32Array, row: number): number {
    const words = this.#wordAt(row);
    this.#floats[words + field.scale / 4] = this.#codes.writeRow(vector, this.#numbers, row);
    return words;
  }

  #state(slot: number): number {
    return this.#words[this.#wordAt(this.rowOf(slot)) + field.state / 4]!;
  }

  #recordAt(slot: number): number {
    return this.#recordsAt + slot * this.#stride;
  }

  /** The place of the first word behind the vector that stands at an address. */
  #wordAt(row: number): number {
    return (row + this.#rowBytes) / 4;
  }

  #renewViews(): void {
    const { records, upper } = this.shared;
    if (this.#numbers?.length !== records.buffer.byteLength) {
      this.#numbers = new Int8Array(records.buffer);
      this.#words = new Int32Array(records.buffer);
      this.#floats = new Float32Array(records.buffer);
    }
    if (this.#upper?.length !== upper.buffer.byteLength / 4) this.#upper = new Int32Array(upper.buffer);
  }
}

/** Grows a memory to at least this many bytes, by an eighth in advance. */
function reserve(memory: SharedMemory, bytes: number): void {
  const pages = memory.buffer.byteLength / bytesPerPage;
  const missing = Math.ceil(bytes / bytesPerPage) - pages;
  if (missing > 0) memory.grow(Math.max(missing, Math.min(pages >> 3, maxPages - pages)));
}
