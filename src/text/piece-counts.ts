/** Pieces remembered at most, and their code units all together. Some 4 MB. */
const mostPieces = 65_536;
const mostUnits = 1 << 20;
const slots = 4 * mostPieces;

/**
 * The counts of pieces of text seen before. A `Map` would do, but needs a string cut out of the text for every look-up,
 * which takes longer than all else in counting; this table hashes and compares the code units where they stand. When it
 * is full it forgets everything and fills anew.
 */
export class PieceCounts {
  readonly #countOf: (piece: string) => number;
  /** Piece number plus one by hash, with linear probing; 0 is a free slot. */
  readonly #slots = new Int32Array(slots);
  readonly #hashes = new Int32Array(mostPieces);
  readonly #counts = new Int32Array(mostPieces);
  /** Piece `n` is `#units.subarray(#bounds[n], #bounds[n + 1])`. */
  readonly #bounds = new Int32Array(mostPieces + 1);
  readonly #units = new Uint16Array(mostUnits);
  #pieces = 0;

  /** @param countOf counts a piece that is not remembered. */
  constructor(countOf: (piece: string) => number) {
    this.#countOf = countOf;
  }

  /** The count of `text.slice(start, end)`. */
  of(text: string, start: number, end: number): number {
    let hash = end - start;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    hash ^= hash >>> 15;
    let slot = hash & (slots - 1);
    for (;;) {
      const piece = (this.#slots[slot] ?? 0) - 1;
      if (piece < 0) return this.#add(text, start, end, hash, slot);
      if (this.#hashes[piece] === hash && this.#is(piece, text, start, end)) return this.#counts[piece] ?? 0;
      slot = (slot + 1) & (slots - 1);
    }
  }

  #is(piece: number, text: string, start: number, end: number): boolean {
    const first = this.#bounds[piece] ?? 0;
    if ((this.#bounds[piece + 1] ?? 0) - first !== end - start) return false;
    for (let at = start; at < end; at++) if (this.#units[first + at - start] !== text.charCodeAt(at)) return false;
    return true;
  }

  #add(text: string, start: number, end: number, hash: number, slot: number): number {
    // Whoever counts may keep the piece, and V8's slices keep the whole text alive: it has to be a string of its own.
    const count = this.#countOf(` ${text.slice(start, end)}`.slice(1));
    const first = this.#bounds[this.#pieces] ?? 0;
    const last = first + end - start;
    if (this.#pieces >= mostPieces || last > mostUnits) {
      this.#slots.fill(0);
      this.#pieces = 0;
      return count;
    }
    for (let at = start; at < end; at++) this.#units[first + at - start] = text.charCodeAt(at);
    this.#hashes[this.#pieces] = hash;
    this.#counts[this.#pieces] = count;
    this.#bounds[this.#pieces + 1] = last;
    this.#pieces++;
    this.#slots[slot] = this.#pieces;
    return count;
  }
}
