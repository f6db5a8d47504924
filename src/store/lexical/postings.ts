// Smallest block of a list: most terms of a corpus occur once or twice.
const smallestBlock = 2;

/**
 * Lists of 32-bit numbers, one a term, in one growing array: lists of thousands of rare terms cost no object each. A
 * list that outgrows its block moves to one of twice the size, and its old block serves another list.
 */
export class Postings {
  #data: Uint32Array;
  #used: number;
  #starts: Uint32Array;
  #lengths: Uint32Array;
  #capacities: Uint32Array;
  #terms: number;
  #entries: number;
  /** Starts of free blocks, by the power of two they hold. */
  readonly #free: number[][] = Array.from({ length: 33 }, () => []);

  /** Takes over lists that lie one behind the other in `data`, `lengths` telling how long each is. */
  constructor(lengths: Uint32Array = new Uint32Array(0), data: Uint32Array = new Uint32Array(0)) {
    this.#data = data;
    this.#used = data.length;
    this.#lengths = lengths;
    this.#capacities = lengths.slice();
    this.#starts = new Uint32Array(lengths.length);
    this.#terms = lengths.length;
    this.#entries = data.length;
    for (let term = 1; term < lengths.length; term++) {
      this.#starts[term] = this.#starts[term - 1]! + lengths[term - 1]!;
    }
  }

  /** How many terms there are; the next one gets this number. */
  get terms(): number {
    return this.#terms;
  }

  /** Numbers in all lists together. */
  get entries(): number {
    return this.#entries;
  }

  /** A new, empty list. */
  addTerm(): number {
    if (this.#terms === this.#starts.length) {
      const room = Math.max(1024, this.#terms * 2);
      this.#starts = enlarged(this.#starts, room);
      this.#lengths = enlarged(this.#lengths, room);
      this.#capacities = enlarged(this.#capacities, room);
    }
    return this.#terms++;
  }

  append(term: number, value: number): void {
    const length = this.#lengths[term]!;
    if (length === this.#capacities[term]!) this.#move(term);
    this.#data[this.#starts[term]! + length] = value;
    this.#lengths[term] = length + 1;
    this.#entries++;
  }

  /** The list of a term; good until the next `append`. */
  list(term: number): Uint32Array {
    const start = this.#starts[term]!;
    return this.#data.subarray(start, start + this.#lengths[term]!);
  }

  #move(term: number): void {
    const start = this.#starts[term]!;
    const length = this.#lengths[term]!;
    const capacity = Math.max(smallestBlock, 2 ** Math.ceil(Math.log2(length + 1)));
    const to = this.#allocate(capacity);
    this.#data.copyWithin(to, start, start + length);
    const old = this.#capacities[term]!;
    if (old >= smallestBlock) this.#free[Math.floor(Math.log2(old))]!.push(start);
    this.#starts[term] = to;
    this.#capacities[term] = capacity;
  }

  #allocate(capacity: number): number {
    const free = this.#free[Math.log2(capacity)]!.pop();
    if (free !== undefined) return free;
    const start = this.#used;
    this.#used += capacity;
    if (this.#used > this.#data.length) {
      this.#data = enlarged(this.#data, Math.max(65_536, this.#used, Math.ceil(this.#data.length * 1.5)));
    }
    return start;
  }
}

function enlarged(array: Uint32Array, length: number): Uint32Array {
  const copy = new Uint32Array(length);
  copy.set(array);
  return copy;
}
