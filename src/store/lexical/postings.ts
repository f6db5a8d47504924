// Smallest block of a list: most terms of a corpus occur once or twice.
const smallestBlock = 2;

const pageBits = 18;
/** Numbers of a page, 1 MB of them: growing by pages copies nothing. */
export const pageLength = 2 ** pageBits;

/**
 * Lists of 32-bit numbers, one a term, in pages: lists of thousands of rare terms cost no object each. A list that
 * outgrows its block moves to one of twice the size, and its old block serves another list. A block longer than a page
 * has a page of its own length.
 */
export class Postings {
  /** The lists taken over, one behind the other; places in pages count on from its end. */
  readonly #base: Uint32Array;
  readonly #pages: Uint32Array[] = [];
  /** Numbers taken of the last page. */
  #used = pageLength;
  /** Places by term. A place in a page: the base's length + index of the page * `pageLength` + index in the page. */
  #starts: Uint32Array;
  #lengths: Uint32Array;
  #capacities: Uint32Array;
  #terms: number;
  #entries: number;
  /** Places of free blocks, by the power of two they hold. */
  readonly #free: number[][] = Array.from({ length: 33 }, () => []);

  /** Takes over lists that lie one behind the other in `data`, `lengths` telling how long each is. */
  constructor(lengths: Uint32Array = new Uint32Array(0), data: Uint32Array = new Uint32Array(0)) {
    this.#base = data;
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
    const place = this.#starts[term]!;
    this.#arrayAt(place)[this.#indexOf(place) + length] = value;
    this.#lengths[term] = length + 1;
    this.#entries++;
  }

  /** The list of a term; good until the next `append`. */
  list(term: number): Uint32Array {
    const length = this.#lengths[term]!;
    // A list without a block has no place yet.
    if (length === 0) return this.#base.subarray(0, 0);
    const place = this.#starts[term]!;
    const start = this.#indexOf(place);
    return this.#arrayAt(place).subarray(start, start + length);
  }

  #arrayAt(place: number): Uint32Array {
    return place < this.#base.length ? this.#base : this.#pages[(place - this.#base.length) >>> pageBits]!;
  }

  #indexOf(place: number): number {
    return place < this.#base.length ? place : (place - this.#base.length) & (pageLength - 1);
  }

  #move(term: number): void {
    const list = this.list(term);
    const capacity = Math.max(smallestBlock, 2 ** Math.ceil(Math.log2(list.length + 1)));
    const to = this.#allocate(capacity);
    this.#arrayAt(to).set(list, this.#indexOf(to));
    this.#release(this.#starts[term]!, this.#capacities[term]!);
    this.#starts[term] = to;
    this.#capacities[term] = capacity;
  }

  #release(place: number, capacity: number): void {
    if (capacity < smallestBlock) return;
    this.#free[Math.floor(Math.log2(capacity))]!.push(place);
  }

  #allocate(capacity: number): number {
    const free = this.#free[Math.log2(capacity)]!.pop();
    if (free !== undefined) return free;
    if (capacity > pageLength) return this.#addPage(capacity);
    // The numbers left on a page are too few for the block, and are left alone.
    if (this.#used + capacity > pageLength) {
      this.#addPage(pageLength);
      this.#used = 0;
    }
    const place = this.#base.length + (this.#pages.length - 1) * pageLength + this.#used;
    this.#used += capacity;
    return place;
  }

  #addPage(length: number): number {
    this.#used = pageLength;
    return this.#base.length + (this.#pages.push(new Uint32Array(length)) - 1) * pageLength;
  }
}

function enlarged(array: Uint32Array, length: number): Uint32Array {
  const copy = new Uint32Array(length);
  copy.set(array);
  return copy;
}
