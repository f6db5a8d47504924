import { frequencyMask, stepShift } from "./posting.js";
import type { PostingSeeker, Saturation } from "./term-outlines.js";

/** A term of a query: its weight by rarity, and how its frequency saturates. */
export interface Weighed extends Saturation {
  readonly rarity: number;
}

/** Sums the scores of texts over the terms of a query, by slot. */
export class Scores {
  #sums = new Float64Array(0);
  #touched = new Uint32Array(0);
  #count = 0;

  /** Makes room for slots below `room`, while all sums are 0. */
  reserve(slots: number, room: number): void {
    if (this.#sums.length >= slots) return;
    this.#sums = new Float64Array(room);
    this.#touched = new Uint32Array(room);
  }

  /** Number of texts that have any of the terms. */
  get count(): number {
    return this.#count;
  }

  /** Slots of those texts, unordered. */
  get touched(): Uint32Array {
    return this.#touched.subarray(0, this.#count);
  }

  of(slot: number): number {
    return this.#sums[slot]!;
  }

  /** Slots of those texts whose sum is at least `minScore` and that fit, unordered. */
  atLeast(minScore: number, fits: (slot: number) => boolean): Uint32Array {
    const found = new Uint32Array(this.#count);
    let count = 0;
    for (let at = 0; at < this.#count; at++) {
      const slot = this.#touched[at]!;
      if (this.#sums[slot]! >= minScore && fits(slot)) found[count++] = slot;
    }
    return found.subarray(0, count);
  }

  /** Adds a term's share to each text of its list, except deleted ones. */
  addAll(list: Uint16Array, term: Weighed, lengths: Uint32Array, dead: Uint8Array | undefined): void {
    this.#count = addShares(list, term, lengths, dead, this.#sums, this.#touched, this.#count);
  }

  /** Adds a term's share to those of the given texts that have it. Slots ascend. */
  addTo(slots: Uint32Array, postings: PostingSeeker, term: Weighed, lengths: Uint32Array): void {
    const { rarity, flat, perLength } = term;
    const sums = this.#sums;
    for (let at = 0; at < slots.length; at++) {
      const slot = slots[at]!;
      const frequency = postings.frequencyIn(slot);
      if (frequency > 0) sums[slot]! += (rarity * frequency) / (frequency + flat + perLength * lengths[slot]!);
    }
  }

  /** Sets all sums to 0 again. */
  clear(): void {
    const [sums, touched] = [this.#sums, this.#touched];
    for (let at = 0; at < this.#count; at++) sums[touched[at]!] = 0;
    this.#count = 0;
  }
}

/**
 * The innermost loop of a search. It decodes postings as `PostingReader` does, whose object and fields would make it half as
 * slow again. `| 0` keeps V8 from using floating-point arithmetic, which takes twice as long. Returns the new number of
 * slots in `touched`.
 */
function addShares(
  list: Uint16Array,
  { rarity, flat, perLength }: Weighed,
  lengths: Uint32Array,
  dead: Uint8Array | undefined,
  sums: Float64Array,
  touched: Uint32Array,
  touchedBefore: number,
): number {
  let count = touchedBefore;
  let slot = -1;
  for (let at = 0; at < list.length; at = (at + 1) | 0) {
    const first = list[at]!;
    let step = first >> stepShift;
    let frequency = first & frequencyMask;
    if (frequency === 0) {
      frequency = step & 0xff;
      at = (at + 1) | 0;
      step = ((first >> 12) << 16) | list[at]!;
      if (frequency === 0) {
        step = (step << 16) | list[at + 1]!;
        frequency = list[at + 2]!;
        at = (at + 2) | 0;
      }
    }
    slot = (slot + step) | 0;
    if (dead && dead[slot] !== 0) continue;
    const before = sums[slot]!;
    if (before === 0) {
      touched[count] = slot;
      count = (count + 1) | 0;
    }
    sums[slot] = before + (rarity * frequency) / (frequency + flat + perLength * lengths[slot]!);
  }
  return count;
}
