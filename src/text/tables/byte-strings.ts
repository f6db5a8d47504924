const minSlots = 1024;
/** Strings between two pauses of long work: some tens of microseconds. */
const stringsPerStep = 1024;

/** Strings of bytes as two arrays, which a file can hold. */
export interface PackedStrings {
  /** Bytes of all strings, one after another. */
  readonly bytes: Uint8Array;
  /** End of each string in `bytes`, by number. */
  readonly ends: Uint32Array;
}

/** Numbers strings of bytes from 0 on, in the order in which they are first added. */
export class ByteStrings {
  #bytes: Uint8Array;
  #ends: Uint32Array;
  #size: number;
  /** Hash table with linear probing: a slot holds a string's number plus one, 0 if free. At most half are taken. */
  #slots: Uint32Array;

  private constructor({ bytes, ends }: PackedStrings) {
    this.#bytes = bytes;
    this.#ends = ends;
    this.#size = ends.length;
    this.#slots = new Uint32Array(Math.max(minSlots, 2 ** Math.ceil(Math.log2(2 * ends.length + 1))));
  }

  static empty(): ByteStrings {
    return new ByteStrings({ bytes: new Uint8Array(0), ends: new Uint32Array(0) });
  }

  /** Takes over arrays of different strings; pauses between steps, so that other work may run. */
  static *from(packed: PackedStrings): Generator<void, ByteStrings> {
    const strings = new ByteStrings(packed);
    for (let number = 0; number < strings.#size; number++) {
      strings.#place(number);
      if (number % stringsPerStep === 0) yield;
    }
    return strings;
  }

  /** Number of strings, which the next new one gets as its number. */
  get size(): number {
    return this.#size;
  }

  /** The number of the bytes of `key` from `start` to `end`. */
  numberOf(key: Uint8Array, start: number, end: number): number | undefined {
    const taken = this.#slots[this.#slotOf(key, start, end)]!;
    return taken === 0 ? undefined : taken - 1;
  }

  /** Like `numberOf`, but adds new bytes. */
  add(key: Uint8Array, start: number, end: number): number {
    const slot = this.#slotOf(key, start, end);
    const taken = this.#slots[slot]!;
    if (taken > 0) return taken - 1;
    const number = this.#append(key, start, end);
    if (this.#size * 2 <= this.#slots.length) {
      this.#slots[slot] = number + 1;
    } else {
      this.#slots = new Uint32Array(this.#slots.length * 2);
      for (let known = 0; known < this.#size; known++) this.#place(known);
    }
    return number;
  }

  /** The string with this number. Valid until the next `add`. */
  at(number: number): Uint8Array {
    return this.#bytes.subarray(this.#startOf(number), this.#ends[number]);
  }

  #startOf(number: number): number {
    return number === 0 ? 0 : this.#ends[number - 1]!;
  }

  /** The slot of the string with these bytes, or the free one where it would be. */
  #slotOf(key: Uint8Array, start: number, end: number): number {
    const [slots, ends, bytes] = [this.#slots, this.#ends, this.#bytes];
    const length = end - start;
    const mask = slots.length - 1;
    let slot = hashOf(key, start, end) & mask;
    for (;;) {
      const number = slots[slot]! - 1;
      if (number < 0) return slot;
      const from = number === 0 ? 0 : ends[number - 1]!;
      let same = ends[number]! - from === length;
      for (let index = 0; same && index < length; index++) same = bytes[from + index] === key[start + index];
      if (same) return slot;
      slot = (slot + 1) & mask;
    }
  }

  /** Enters a string that is not there yet, which needs no comparison with others. */
  #place(number: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hashOf(this.#bytes, this.#startOf(number), this.#ends[number]!) & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = number + 1;
  }

  #append(key: Uint8Array, start: number, end: number): number {
    const from = this.#startOf(this.#size);
    const to = from + end - start;
    if (to > this.#bytes.length) {
      const larger = new Uint8Array(Math.ceil(to * 1.5));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    if (this.#size === this.#ends.length) {
      const larger = new Uint32Array(Math.max(minSlots / 2, Math.ceil(this.#size * 1.5)));
      larger.set(this.#ends);
      this.#ends = larger;
    }
    for (let index = start; index < end; index++) this.#bytes[from + index - start] = key[index]!;
    this.#ends[this.#size] = to;
    return this.#size++;
  }
}

/** FNV-1a, with the high bits mixed in: http://www.isthe.com/chongo/tech/comp/fnv/ */
function hashOf(key: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let index = start; index < end; index++) hash = Math.imul(hash ^ key[index]!, 0x01000193);
  return hash ^ (hash >>> 15);
}
