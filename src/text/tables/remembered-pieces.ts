import type { TextUnits } from "./text-units.js";

/** Limits of the pieces, and of their code units together with a length for each: some 3 MB beside the answers. */
const maxPieces = 65_536;
const maxUnits = 1 << 20;
const slots = 2 * maxPieces;

/** In UTF-16 code units: longer pieces do not come again, and are not remembered. */
const maxPieceLength = 512;

/** From this length on, V8 makes a slice a view of its text: https://github.com/v8/v8/blob/main/src/objects/string.h (SlicedString) */
const minSliceLength = 13;

/**
 * Remembers the answers of a function for pieces of text. A `Map` needs a string cut out of the text for every look-up,
 * which takes longer than everything else in counting tokens; this table hashes and compares the code units in place.
 * When it is full, it forgets everything and starts again.
 */
export class RememberedPieces<Value> {
  readonly #answer: (piece: string) => Value;
  /**
   * Look-ups mostly wait for memory, so one reads only three places. Slots are found by hash with linear probing, and hold
   * the piece's offset in `#units`, 0 for a free slot, and its number.
   */
  readonly #slots = new Int32Array(2 * slots);
  /** From 1 on: the length of a piece, then its code units. */
  readonly #units = new Uint16Array(maxUnits);
  #used = 1;
  /** Values by piece number. */
  #values: Value[] = [];

  /** @param answer called for a piece that is not remembered. */
  constructor(answer: (piece: string) => Value) {
    this.#answer = answer;
  }

  /** The answer for the text that was read, from `start` to `end`. */
  of(read: TextUnits, start: number, end: number): Value {
    const { units } = read;
    let hash = end - start;
    for (let offset = start; offset < end; offset++) hash = Math.imul(hash ^ units[offset]!, 0x01000193);
    hash ^= hash >>> 15;
    let slot = 2 * (hash & (slots - 1));
    for (;;) {
      const place = this.#slots[slot]!;
      if (place === 0) return this.#add(read, start, end, slot);
      if (this.#isAt(place, units, start, end)) return this.#values[this.#slots[slot + 1]!]!;
      slot = (slot + 2) & (2 * slots - 1);
    }
  }

  #isAt(place: number, units: Uint16Array, start: number, end: number): boolean {
    const known = this.#units;
    if (known[place] !== end - start) return false;
    const shift = place + 1 - start;
    for (let offset = start; offset < end; offset++) if (known[shift + offset] !== units[offset]) return false;
    return true;
  }

  #add({ text, units }: TextUnits, start: number, end: number, slot: number): Value {
    const length = end - start;
    const piece = text.slice(start, end);
    // A slice in V8 keeps the whole text alive, and `answer` may keep the piece: it gets a copy. A short slice is one.
    const value = this.#answer(length < minSliceLength ? piece : ` ${piece}`.slice(1));
    if (length > maxPieceLength) return value;
    if (this.#values.length === maxPieces || this.#used + 1 + length > maxUnits) {
      this.#slots.fill(0);
      this.#values = [];
      this.#used = 1;
      return value;
    }
    this.#slots[slot] = this.#used;
    this.#slots[slot + 1] = this.#values.push(value) - 1;
    this.#units[this.#used++] = length;
    for (let offset = start; offset < end; offset++) this.#units[this.#used++] = units[offset]!;
    return value;
  }
}
