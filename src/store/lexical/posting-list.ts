// A list is an array of 32-bit words. First come two words for each block of 128 postings: the slot of its last posting, and
// an upper bound of what its postings can add (16 bits) with the bits that a slot (5) and a frequency (4) take. Then come the
// blocks: the distances between slots, less one, then the frequencies, less one, each kind in as many bits as its largest
// needs. Common words so take less than a byte a posting, and a block that cannot matter is stepped over unread.
//
// A frequency above 255 counts as 255: the score of such a term is within 1% of its limit.
export const blockLength = 128;
const wordsPerEntry = 2;
const maxBound = 0xffff;
const [stepShift, frequencyShift] = [16, 21];
const [stepMask, frequencyMask] = [0x1f, 0xf];

export const maxFrequency = 255;

/** More slots, and a distance would need more bits than an entry can say. */
export const maxSlots = 2 ** 24;

/** How BM25 saturates a frequency: `f / (f + flat + perLength * length)`. */
export interface Saturation {
  readonly flat: number;
  readonly perLength: number;
}

/** Factor by which shares can be larger under another saturation than the one that a bound was computed with. */
export function growthOfShares(from: Saturation, to: Saturation): number {
  const ratio = (one: number, other: number) => (one <= other ? 1 : one / other);
  // Finite, because a bound of 0 must stay 0: with k1 = 0, or a b of 0 or 1, there is nothing left to saturate by.
  return Math.min(Number.MAX_VALUE, Math.max(ratio(from.flat, to.flat), ratio(from.perLength, to.perLength)));
}

/** The postings of a term: ascending slots, and how often each has the term. */
export class PostingList {
  readonly count: number;
  readonly words: Int32Array;
  readonly blocks: number;
  /** Where the words of each block begin. */
  readonly #starts: Int32Array;

  constructor(words: Int32Array, count: number) {
    this.words = words;
    this.count = count;
    this.blocks = Math.ceil(count / blockLength);
    this.#starts = new Int32Array(this.blocks);
    let start = wordsPerEntry * this.blocks;
    for (let block = 0; block < this.blocks; block++) {
      this.#starts[block] = start;
      const entry = words[wordsPerEntry * block + 1]!;
      const length = Math.min(blockLength, count - block * blockLength);
      start += wordsFor(length, (entry >>> stepShift) & stepMask) + wordsFor(length, widthOfFrequency(entry));
    }
  }

  lastSlot(block: number): number {
    return this.words[wordsPerEntry * block]!;
  }

  /** Upper bound of the saturated frequencies in a block, from 0 to 1. */
  bound(block: number): number {
    return (this.words[wordsPerEntry * block + 1]! & maxBound) / maxBound;
  }

  /** Writes the slots of a block to `slots` from `at` on; returns their number. */
  unpackSlots(block: number, slots: Int32Array, index = 0): number {
    const { words } = this;
    const count = this.#lengthOf(block);
    unpackNumbers(words, this.#starts[block]!, this.#stepWidth(block), count, slots, index);
    let slot = block === 0 ? -1 : this.lastSlot(block - 1);
    for (let next = index, end = index + count; next < end; next = (next + 1) | 0) {
      slot = (slot + slots[next]! + 1) | 0;
      slots[next] = slot;
    }
    return count;
  }

  /** Writes the frequencies of a block to `frequencies` from `at` on. */
  unpackFrequencies(block: number, frequencies: Int32Array, index = 0): void {
    const count = this.#lengthOf(block);
    const start = this.#starts[block]! + wordsFor(count, this.#stepWidth(block));
    unpackNumbers(this.words, start, widthOfFrequency(this.#entry(block)), count, frequencies, index);
    for (let next = index, end = index + count; next < end; next++) frequencies[next]! += 1;
  }

  /** One frequency of a block: a search that looks texts up needs few. */
  frequency(block: number, index: number): number {
    const { words } = this;
    const width = widthOfFrequency(this.#entry(block));
    if (width === 0) return 1;
    const start = this.#starts[block]! + wordsFor(this.#lengthOf(block), this.#stepWidth(block));
    const bit = index * width;
    const word = start + (bit >>> 5);
    const shift = bit & 31;
    let number = words[word]! >>> shift;
    if (shift + width > 32) number |= words[word + 1]! << (32 - shift);
    return (number & ((1 << width) - 1)) + 1;
  }

  /** Writes all postings. */
  unpackAll(slots: Int32Array, frequencies: Int32Array, index = 0): void {
    for (let block = 0; block < this.blocks; block++) {
      this.unpackSlots(block, slots, index + block * blockLength);
      this.unpackFrequencies(block, frequencies, index + block * blockLength);
    }
  }

  #entry(block: number): number {
    return this.words[wordsPerEntry * block + 1]!;
  }

  #stepWidth(block: number): number {
    return (this.#entry(block) >>> stepShift) & stepMask;
  }

  #lengthOf(block: number): number {
    return Math.min(blockLength, this.count - block * blockLength);
  }
}

/** The words of a list of the first `count` slots and frequencies, with bounds for texts of these lengths. */
export function packPostings(
  slots: Int32Array,
  frequencies: Int32Array,
  count: number,
  lengths: Uint32Array,
  { flat, perLength }: Saturation,
): Int32Array {
  const blocks = Math.ceil(count / blockLength);
  const words = new Int32Array(wordsPerEntry * blocks + 2 * blocks + count * 1.25 + 2);
  let packed = words;
  let end = wordsPerEntry * blocks;
  for (let block = 0, before = -1; block < blocks; block++) {
    const from = block * blockLength;
    const to = Math.min(from + blockLength, count);
    let [allSteps, allFrequencies, share] = [0, 0, 0];
    for (let index = from, last = before; index < to; index++) {
      const [slot, frequency] = [slots[index]!, frequencies[index]!];
      allSteps |= slot - last - 1;
      allFrequencies |= frequency - 1;
      last = slot;
      share = Math.max(share, frequency / (frequency + flat + perLength * lengths[slot]!));
    }
    const [stepWidth, width] = [32 - Math.clz32(allSteps), 32 - Math.clz32(allFrequencies)];
    const needed = end + wordsFor(to - from, stepWidth) + wordsFor(to - from, width);
    if (needed > packed.length) {
      const larger = new Int32Array(2 * needed);
      larger.set(packed);
      packed = larger;
    }
    packed[wordsPerEntry * block] = slots[to - 1]!;
    packed[wordsPerEntry * block + 1] =
      Math.ceil(share * maxBound) | (stepWidth << stepShift) | (width << frequencyShift);
    for (let position = from, bit = 32 * end; position < to; position++, bit += stepWidth) {
      putBits(packed, bit, stepWidth, slots[position]! - before - 1);
      before = slots[position]!;
    }
    end += wordsFor(to - from, stepWidth);
    for (let offset = from, bit = 32 * end; offset < to; offset++, bit += width)
      putBits(packed, bit, width, frequencies[offset]! - 1);
    end = needed;
  }
  return packed.slice(0, end);
}

/** Words for `count` numbers of `width` bits. */
function wordsFor(count: number, width: number): number {
  return (count * width + 31) >>> 5;
}

function widthOfFrequency(entry: number): number {
  return (entry >>> frequencyShift) & frequencyMask;
}

/** Adds the bits of a number to words that are 0 there. */
function putBits(words: Int32Array, bit: number, width: number, number: number): void {
  const index = Math.floor(bit / 32);
  const shift = bit & 31;
  words[index]! |= number << shift;
  if (shift + width > 32) words[index + 1]! |= number >>> (32 - shift);
}

/** The innermost loop of reading. */
function unpackNumbers(
  words: Int32Array,
  start: number,
  width: number,
  count: number,
  into: Int32Array,
  from: number,
): void {
  if (width === 0) {
    into.fill(0, from, from + count);
    return;
  }
  const mask = (1 << width) - 1;
  for (let index = 0, bit = 0; index < count; index = (index + 1) | 0, bit = (bit + width) | 0) {
    const word = start + (bit >>> 5);
    const shift = bit & 31;
    let number = words[word]! >>> shift;
    if (shift + width > 32) number |= words[word + 1]! << (32 - shift);
    into[from + index] = number & mask;
  }
}
