import { PostingReader } from "./posting.js";
import type { TermOutline } from "./term-outlines.js";

/** Finds postings by slot in a list that has an outline, without reading all that is between them. */
export class PostingSeeker {
  readonly #reader: PostingReader;
  readonly #slots: readonly number[];
  readonly #places: readonly number[];
  /** Noted places that are behind us. */
  #passed = 0;

  constructor(list: Uint16Array, { slots, places }: Pick<TermOutline, "slots" | "places">) {
    this.#reader = new PostingReader(list);
    this.#slots = slots;
    this.#places = places;
  }

  /** Frequency in the text of that slot, 0 where there is no posting of it. Slots are asked for in rising order. */
  frequencyIn(slot: number): number {
    const reader = this.#reader;
    if (reader.slot < slot) {
      const passed = this.#passedAt(slot);
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

  /** How many of the noted slots are below `slot`: looks in steps that double. */
  #passedAt(slot: number): number {
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
