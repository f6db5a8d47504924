/** Pieces remembered at most, and their code units all together, with a length before each. Some 3 MB beside the answers. */
const mostPieces = 65_536;
const mostUnits = 1 << 20;
const slots = 2 * mostPieces;

/** Longer pieces do not come again. In UTF-16 code units. */
const longestPiece = 512;

/**
 * What a function answered for pieces of text seen before. A `Map` would do, but needs a string cut out of the text for
 * every look-up, which takes longer than all else in counting tokens or terms; this table hashes and compares the code
 * units where they stand. When it is full it forgets everything and fills anew.
 */
export class RememberedPieces<Value> {
  readonly #answer: (piece: string) => Value;
  /**
   * By hash, with linear probing: where the piece stands in `#units`, 0 for a free slot, and its number. Most of the time
   * goes into waiting for memory, so that all that a look-up reads lies in three places.
   */
  readonly #slots = new Int32Array(2 * slots);
  /** From 1: the length of a piece, then its code units. */
  readonly #units = new Uint16Array(mostUnits);
  #used = 1;
  /** By piece number. */
  #values: Value[] = [];

  /** @param answer is asked about a piece that is not remembered. */
  constructor(answer: (piece: string) => Value) {
    this.#answer = answer;
  }

  /** The answer for `text.slice(start, end)`. */
  of(text: string, start: number, end: number): Value {
    let hash = end - start;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    hash ^= hash >>> 15;
    let slot = 2 * (hash & (slots - 1));
    for (;;) {
      const place = this.#slots[slot]!;
      if (place === 0) return this.#add(text, start, end, slot);
      if (this.#isAt(place, text, start, end)) return this.#values[this.#slots[slot + 1]!]!;
      slot = (slot + 2) & (2 * slots - 1);
    }
  }

  #isAt(place: number, text: string, start: number, end: number): boolean {
    const units = this.#units;
    if (units[place] !== end - start) return false;
    const shift = place + 1 - start;
    for (let at = start; at < end; at++) if (units[shift + at] !== text.charCodeAt(at)) return false;
    return true;
  }

  #add(text: string, start: number, end: number, slot: number): Value {
    // Whoever answers may keep the piece, and V8's slices keep the whole text alive: it has to be a string of its own.
    const value = this.#answer(` ${text.slice(start, end)}`.slice(1));
    const length = end - start;
    if (length > longestPiece) return value;
    if (this.#values.length === mostPieces || this.#used + 1 + length > mostUnits) {
      this.#slots.fill(0);
      this.#values = [];
      this.#used = 1;
      return value;
    }
    const units = this.#units;
    this.#slots[slot] = this.#used;
    this.#slots[slot + 1] = this.#values.push(value) - 1;
    units[this.#used++] = length;
    for (let at = start; at < end; at++) units[this.#used++] = text.charCodeAt(at);
    return value;
  }
}
