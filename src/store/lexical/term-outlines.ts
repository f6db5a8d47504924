import { beforeAll, PostingReader } from "./posting.js";

/** What BM25 makes of a frequency: `f / (f + flat + perLength * length)`. */
export interface Saturation {
  readonly flat: number;
  readonly perLength: number;
}

/** Numbers of a list between two places that are noted. */
const stride = 128;

/** What is known of a term's list without reading it again. */
export interface TermOutline {
  /** Upper bound on what one posting of the term can bring, before its rarity. */
  readonly share: number;
  /** Postings of texts that have not been removed. */
  readonly living: number;
  /** Every so often in the list, the slot of a posting and where the next one is. */
  readonly slots: readonly number[];
  readonly places: readonly number[];
}

interface Known extends TermOutline {
  share: number;
  living: number;
  readonly slots: number[];
  readonly places: number[];
  /** Where in the list, and at which posting's slot, reading has come to. */
  at: number;
  slot: number;
  /** As they were then. */
  perLength: number;
  removals: number;
}

/** The texts of an index, by slot. */
export interface Texts {
  readonly lengths: Uint32Array;
  readonly dead: Uint8Array;
  /** Of texts, ever. */
  readonly removals: number;
}

/** Outlines of the terms that were asked for: made by one pass over a list, and kept up as the list grows. */
export class TermOutlines {
  readonly #known = new Map<number, Known>();
  #flat = NaN;

  /** @param list the term's postings, of which only the end is new since the last call. */
  of(term: number, list: Uint16Array, texts: Texts, { flat, perLength }: Saturation): TermOutline {
    if (flat !== this.#flat) this.#known.clear();
    this.#flat = flat;
    let known = this.#known.get(term);
    if (!known) {
      const { removals } = texts;
      known = { share: 0, living: 0, slots: [], places: [], at: 0, slot: beforeAll, perLength, removals };
      this.#known.set(term, known);
    }
    // Texts that are longer on average raise every share, by no more than they are longer.
    if (perLength > 0 && perLength < known.perLength) known.share *= known.perLength / perLength;
    known.perLength = perLength;
    if (known.removals !== texts.removals) {
      known.living = livingUpTo(list.subarray(0, known.at), texts.dead);
      known.removals = texts.removals;
    }
    if (known.at < list.length) readOn(known, list, texts, flat);
    return known;
  }
}

/** Postings of texts that have not been removed. */
function livingUpTo(list: Uint16Array, dead: Uint8Array): number {
  const reader = new PostingReader(list);
  let living = 0;
  while (reader.next()) if (dead[reader.slot] === 0) living++;
  return living;
}

function readOn(known: Known, list: Uint16Array, { lengths, dead }: Texts, flat: number): void {
  const { perLength, slots, places } = known;
  const reader = new PostingReader(list, known.at, known.slot);
  let { share, living } = known;
  let noted = (places.at(-1) ?? 0) + stride;
  while (reader.next()) {
    const { slot, frequency } = reader;
    share = Math.max(share, frequency / (frequency + flat + perLength * lengths[slot]!));
    if (dead[slot] === 0) living++;
    if (reader.at >= noted) {
      slots.push(slot);
      places.push(reader.at);
      noted = reader.at + stride;
    }
  }
  known.share = share;
  known.living = living;
  known.at = reader.at;
  known.slot = reader.slot;
}
