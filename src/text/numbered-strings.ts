const fewestSlots = 1024;
/** Strings between two steps of taking over: some tens of microseconds. */
const stringsPerStep = 1024;

/** Strings as arrays that can be kept and taken over: each code unit in one to three bytes, seven bits in each. */
export interface StringBytes {
  /** Of all strings, one behind the other. */
  readonly bytes: Uint8Array;
  /** Where each string ends in `bytes`, by number. */
  readonly ends: Uint32Array;
}

/**
 * Numbers strings from 0 on, in the order in which they first come. Does what a `Map` from string to number does, in three
 * arrays outside the heap: a third of the memory, and nothing for the garbage collector to walk through.
 */
export class NumberedStrings {
  #bytes: Uint8Array;
  #ends: Uint32Array;
  #size: number;
  /** By hash, with linear probing: one more than the number; 0 for a free slot. At most half are taken. */
  #slots: Uint32Array;

  private constructor({ bytes, ends }: StringBytes) {
    this.#bytes = bytes;
    this.#ends = ends;
    this.#size = ends.length;
    this.#slots = new Uint32Array(Math.max(fewestSlots, 2 ** Math.ceil(Math.log2(2 * ends.length + 1))));
  }

  static empty(): NumberedStrings {
    return new NumberedStrings({ bytes: new Uint8Array(0), ends: new Uint32Array(0) });
  }

  /** Takes over what `content` gave, in steps between which other work may run. */
  static *from(content: StringBytes): Generator<void, NumberedStrings> {
    const strings = new NumberedStrings(content);
    for (let number = 0; number < strings.#size; number++) {
      strings.#place(number);
      if (number % stringsPerStep === 0) yield;
    }
    return strings;
  }

  /** How many there are; the next new one gets this number. */
  get size(): number {
    return this.#size;
  }

  /** The number of a string that was added. */
  numberOf(text: string): number | undefined {
    const taken = this.#slots[this.#slotOf(text)]!;
    return taken === 0 ? undefined : taken - 1;
  }

  /** The number of a string, which is added where it is new. */
  add(text: string): number {
    const slot = this.#slotOf(text);
    const taken = this.#slots[slot]!;
    if (taken > 0) return taken - 1;
    const number = this.#append(text);
    if (this.#size * 2 <= this.#slots.length) {
      this.#slots[slot] = number + 1;
    } else {
      this.#slots = new Uint32Array(this.#slots.length * 2);
      for (let each = 0; each < this.#size; each++) this.#place(each);
    }
    return number;
  }

  /** The string with that number. */
  text(number: number): string {
    const units: number[] = [];
    const end = this.#ends[number]!;
    for (let at = this.#startOf(number); at < end; at++) {
      let unit = this.#bytes[at]! & lowBits;
      for (let shift = 7; this.#bytes[at]! > lowBits; shift += 7) unit |= (this.#bytes[++at]! & lowBits) << shift;
      units.push(unit);
    }
    return units.map((unit) => String.fromCharCode(unit)).join("");
  }

  /** The strings with these numbers, numbered anew in their order; in steps between which nothing may be added. */
  *content(numbers: Uint32Array): Generator<void, StringBytes> {
    const ends = new Uint32Array(numbers.length);
    let length = 0;
    for (let at = 0; at < numbers.length; at++) {
      length += this.#ends[numbers[at]!]! - this.#startOf(numbers[at]!);
      ends[at] = length;
    }
    const bytes = new Uint8Array(length);
    for (let at = 0, start = 0; at < numbers.length; start = ends[at++]!) {
      bytes.set(this.#bytes.subarray(this.#startOf(numbers[at]!), this.#ends[numbers[at]!]), start);
      if (at % stringsPerStep === 0) yield;
    }
    return { bytes, ends };
  }

  #startOf(number: number): number {
    return number === 0 ? 0 : this.#ends[number - 1]!;
  }

  /** Where `text` stands in the table, or would. */
  #slotOf(text: string): number {
    let hash = firstHash;
    for (let at = 0; at < text.length; at++) {
      let unit = text.charCodeAt(at);
      for (; unit > lowBits; unit >>>= 7) hash = hashed(hash, (unit & lowBits) | more);
      hash = hashed(hash, unit);
    }
    const mask = this.#slots.length - 1;
    let slot = mixed(hash) & mask;
    for (;;) {
      const taken = this.#slots[slot]!;
      if (taken === 0 || this.#isNumber(taken - 1, text)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  /** Puts a new number into the table. */
  #place(number: number): void {
    let hash = firstHash;
    const end = this.#ends[number]!;
    for (let at = this.#startOf(number); at < end; at++) hash = hashed(hash, this.#bytes[at]!);
    const mask = this.#slots.length - 1;
    let slot = mixed(hash) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = number + 1;
  }

  #isNumber(number: number, text: string): boolean {
    const bytes = this.#bytes;
    let at = this.#startOf(number);
    const end = this.#ends[number]!;
    if (end - at < text.length) return false;
    for (let index = 0; index < text.length; index++) {
      let unit = text.charCodeAt(index);
      for (; unit > lowBits; unit >>>= 7) if (bytes[at++] !== ((unit & lowBits) | more)) return false;
      if (bytes[at++] !== unit) return false;
    }
    return at === end;
  }

  #append(text: string): number {
    let end = this.#startOf(this.#size);
    const longest = end + 3 * text.length;
    if (longest > this.#bytes.length) {
      const larger = new Uint8Array(Math.ceil(longest * 1.5));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    if (this.#size === this.#ends.length) {
      const larger = new Uint32Array(Math.max(fewestSlots / 2, Math.ceil(this.#size * 1.5)));
      larger.set(this.#ends);
      this.#ends = larger;
    }
    for (let index = 0; index < text.length; index++) {
      let unit = text.charCodeAt(index);
      for (; unit > lowBits; unit >>>= 7) this.#bytes[end++] = (unit & lowBits) | more;
      this.#bytes[end++] = unit;
    }
    this.#ends[this.#size] = end;
    return this.#size++;
  }
}

const lowBits = 0x7f;
/** Set where more of the same code unit follows. */
const more = 0x80;

// FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/
const firstHash = 0x811c9dc5;

function hashed(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193);
}

/** Slots are found by its low bits, which shall depend on all. */
function mixed(hash: number): number {
  return hash ^ (hash >>> 15);
}
