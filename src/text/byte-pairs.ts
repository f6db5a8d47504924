import type { Vocabulary } from "./tiktoken-file.js";

/** Above any rank. */
const none = 2 ** 31 - 1;

/**
 * Counts the tokens that byte pair encoding makes of a piece of text. The vocabulary is looked up by bytes in arrays of
 * numbers: a `Map` needs a string cut out for every look-up, and ten times the memory.
 */
export class BytePairs {
  readonly #bytes: Uint8Array;
  readonly #starts: Uint32Array;
  /** By hash, with linear probing: number of the token, which is in order of its rank, from 1; 0 for a free slot. */
  readonly #slots: Int32Array;
  readonly #encoder = new TextEncoder();
  #piece = new Uint8Array(0);
  /** Where the parts of the piece begin, and its end. */
  #parts = new Int32Array(0);
  /** Number of the token that each part is together with the next. */
  #joined = new Int32Array(0);

  constructor({ bytes, starts }: Vocabulary) {
    this.#bytes = bytes;
    this.#starts = starts;
    const slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * starts.length)));
    this.#slots = slots;
    for (let token = 1; token < starts.length; token++) {
      slots[this.#slotOf(bytes, starts[token - 1]!, starts[token]!)] = token;
    }
  }

  /** Takes time by the square of the piece's length. */
  count(piece: string): number {
    if (this.#piece.length < 3 * piece.length) this.#makeRoom(6 * piece.length);
    const [parts, joined] = [this.#parts, this.#joined];
    const { written: length } = this.#encoder.encodeInto(piece, this.#piece);
    if (this.#joinedToken(0, length) !== none) return 1;
    for (let at = 0; at < length; at++) {
      parts[at] = at;
      joined[at] = at + 1 < length ? this.#joinedToken(at, at + 2) : none;
    }
    parts[length] = length;
    let count = length;
    while (count > 1) {
      let best = 0;
      for (let at = 1; at < count; at++) if (joined[at]! < joined[best]!) best = at;
      if (joined[best] === none) break;
      for (let at = best + 1; at < count; at++) {
        parts[at] = parts[at + 1]!;
        joined[at] = joined[at + 1]!;
      }
      count--;
      joined[best] = best + 1 < count ? this.#joinedToken(parts[best]!, parts[best + 2]!) : none;
      if (best > 0) joined[best - 1] = this.#joinedToken(parts[best - 1]!, parts[best + 1]!);
    }
    return count;
  }

  #makeRoom(bytes: number): void {
    this.#piece = new Uint8Array(bytes);
    this.#parts = new Int32Array(bytes + 1);
    this.#joined = new Int32Array(bytes + 1);
  }

  /** The token that is these bytes of the piece. */
  #joinedToken(start: number, end: number): number {
    const token = this.#slots[this.#slotOf(this.#piece, start, end)]!;
    return token === 0 ? none : token;
  }

  /** The slot of the token with these bytes, or the free one where it would be. */
  #slotOf(bytes: Uint8Array, start: number, end: number): number {
    const [slots, starts, known] = [this.#slots, this.#starts, this.#bytes];
    const length = end - start;
    let hash = length;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
    hash ^= hash >>> 15;
    let slot = hash & (slots.length - 1);
    for (;;) {
      const token = slots[slot]!;
      if (token === 0) return slot;
      const from = starts[token - 1]!;
      let same = starts[token]! - from === length;
      for (let at = 0; same && at < length; at++) same = known[from + at] === bytes[start + at];
      if (same) return slot;
      slot = (slot + 1) & (slots.length - 1);
    }
  }
}
