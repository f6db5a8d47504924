import { frequencyOf, slotOf } from "./posting.js";

/** What BM25 makes of a frequency: `f / (f + flat + perLength * length)`. */
export interface Saturation {
  readonly flat: number;
  readonly perLength: number;
}

interface Strongest {
  readonly share: number;
  /** Of how many of the term's postings; for the `perLength` of that time. */
  readonly counted: number;
  readonly perLength: number;
}

/**
 * Upper bounds on what one posting of a term can bring, before its rarity: found by one pass over the list of a term
 * when it is first asked for, and kept up as the list grows.
 */
export class StrongestShares {
  readonly #known = new Map<number, Strongest>();
  #flat = NaN;

  /** @param list the term's postings, of which only the end is new since the last call. */
  of(term: number, list: Uint32Array, lengths: Uint32Array, { flat, perLength }: Saturation): number {
    if (flat !== this.#flat) this.#known.clear();
    this.#flat = flat;
    const known = this.#known.get(term);
    // Texts that are longer on average raise every share, by no more than they are longer.
    let share = known ? known.share * Math.max(1, perLength > 0 ? known.perLength / perLength : 1) : 0;
    for (let at = known?.counted ?? 0; at < list.length; at++) {
      const posting = list[at]!;
      const frequency = frequencyOf(posting);
      share = Math.max(share, frequency / (frequency + flat + perLength * lengths[slotOf(posting)]!));
    }
    if (!known || known.share !== share || known.counted !== list.length || known.perLength !== perLength) {
      this.#known.set(term, { share, counted: list.length, perLength });
    }
    return share;
  }
}
