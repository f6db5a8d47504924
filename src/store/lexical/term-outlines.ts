import { beforeFirst, PostingReader } from "./posting.js";

/** How BM25 saturates a frequency: `f / (f + flat + perLength * length)`. */
export interface Saturation {
  readonly flat: number;
  readonly perLength: number;
}

/** Numbers of a list between two noted places. */
const stride = 128;

/** A summary of a term's list. */
export interface TermOutline {
  /** Upper bound of the saturated frequency in any text. */
  readonly maxShare: number;
  /** Number of postings of texts that were not removed. */
  readonly living: number;
  /** At regular intervals in the list, the slot of a posting, and where the next posting begins. */
  readonly slots: readonly number[];
  readonly places: readonly number[];
}

interface CachedOutline extends TermOutline {
  maxShare: number;
  living: number;
  readonly slots: number[];
  readonly places: number[];
  /** How far the list was read: the index of the next posting, and the slot of the last one. */
  at: number;
  slot: number;
  /** Values at that time. */
  perLength: number;
  removals: number;
}

/** The texts of an index, by slot. */
export interface Texts {
  readonly lengths: Uint32Array;
  readonly dead: Uint8Array;
  /** Number of texts that were ever removed. */
  readonly removals: number;
}

/** The outlines of terms that were searched for: made in one pass over a list, and extended as the list grows. */
export class TermOutlines {
  readonly #cache = new Map<number, CachedOutline>();
  #flat = NaN;

  /** @param list the term's postings, which only ever grow at the end. */
  of(term: number, list: Uint16Array, texts: Texts, { flat, perLength }: Saturation): TermOutline {
    if (flat !== this.#flat) this.#cache.clear();
    this.#flat = flat;
    let outline = this.#cache.get(term);
    if (!outline) {
      const { removals } = texts;
      outline = { maxShare: 0, living: 0, slots: [], places: [], at: 0, slot: beforeFirst, perLength, removals };
      this.#cache.set(term, outline);
    }
    // When texts become longer on average, shares grow by at most the same factor.
    if (perLength > 0 && perLength < outline.perLength) outline.maxShare *= outline.perLength / perLength;
    outline.perLength = perLength;
    if (outline.removals !== texts.removals) {
      outline.living = countLiving(list.subarray(0, outline.at), texts.dead);
      outline.removals = texts.removals;
    }
    if (outline.at < list.length) extend(outline, list, texts, flat);
    return outline;
  }
}

function countLiving(list: Uint16Array, dead: Uint8Array): number {
  const reader = new PostingReader(list);
  let living = 0;
  while (reader.next()) if (dead[reader.slot] === 0) living++;
  return living;
}

function extend(outline: CachedOutline, list: Uint16Array, { lengths, dead }: Texts, flat: number): void {
  const { perLength, slots, places } = outline;
  const reader = new PostingReader(list, outline.at, outline.slot);
  let { maxShare, living } = outline;
  let nextNote = (places.at(-1) ?? 0) + stride;
  while (reader.next()) {
    const { slot, frequency } = reader;
    maxShare = Math.max(maxShare, frequency / (frequency + flat + perLength * lengths[slot]!));
    if (dead[slot] === 0) living++;
    if (reader.at >= nextNote) {
      slots.push(slot);
      places.push(reader.at);
      nextNote = reader.at + stride;
    }
  }
  outline.maxShare = maxShare;
  outline.living = living;
  outline.at = reader.at;
  outline.slot = reader.slot;
}

/** Finds postings by slot with the help of an outline, without reading everything between them. */
export class PostingSeeker {
  readonly #reader: PostingReader;
  readonly #slots: readonly number[];
  readonly #places: readonly number[];
  /** Number of noted places already passed. */
  #passed = 0;

  constructor(list: Uint16Array, { slots, places }: Pick<TermOutline, "slots" | "places">) {
    this.#reader = new PostingReader(list);
    this.#slots = slots;
    this.#places = places;
  }

  /** The frequency in the text of a slot; 0 without a posting. Slots must be asked for in ascending order. */
  frequencyIn(slot: number): number {
    const reader = this.#reader;
    if (reader.slot < slot) {
      const passed = this.#countBelow(slot);
      if (passed > this.#passed) {
        this.#passed = passed;
        if (this.#places[passed - 1]! > reader.at) {
          reader.at = this.#places[passed - 1]!;
          reader.slot = this.#slots[passed - 1]!;
        }
      }
      while (reader.slot < slot && reader.next());
    }
    return reader.slot === slot ? reader.frequency : 0;
  }

  /** Number of noted slots below `slot`: doubles the step until it has passed it, then bisects. */
  #countBelow(slot: number): number {
    const slots = this.#slots;
    let low = this.#passed;
    let step = 1;
    while (low + step <= slots.length && slots[low + step - 1]! < slot) {
      low += step;
      step *= 2;
    }
    let high = Math.min(slots.length, low + step - 1);
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (slots[middle]! < slot) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
