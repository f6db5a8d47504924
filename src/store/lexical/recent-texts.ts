import { NumberedStrings } from "../../text/tables/numbered-strings.js";
import { slotOfLabel } from "../derived/allowed-labels.js";
import { maxFrequency, maxSlots, packPostings, PostingList, type Saturation } from "./posting-list.js";
import { termHash } from "./segment-writer.js";
import { TermFrequencies } from "./term-frequencies.js";

/** The texts that were added last, whose postings stand in the order of their addition. */
export class RecentTexts {
  readonly #vocabulary = new NumberedStrings();
  readonly #counted = new TermFrequencies();
  /** Index of each term's last posting, or 0 for none, and the number of its postings. */
  #heads = new Uint32Array(1024);
  #counts = new Uint32Array(1024);
  /** Slot and frequency of each posting, and the index of its term's previous posting. Postings are numbered from 1. */
  #slots = new Uint32Array(1024);
  #frequencies = new Uint8Array(1024);
  #previous = new Uint32Array(1024);
  #postings = 1;
  #labels = new Uint32Array(64);
  #lengths = new Uint32Array(64);
  #dead = new Uint8Array(64);
  #texts = 0;
  #deadTexts = 0;

  get labels(): Uint32Array {
    return this.#labels.subarray(0, this.#texts);
  }

  get lengths(): Uint32Array {
    return this.#lengths.subarray(0, this.#texts);
  }

  get dead(): Uint8Array | undefined {
    return this.#deadTexts > 0 ? this.#dead.subarray(0, this.#texts) : undefined;
  }

  get texts(): number {
    return this.#texts;
  }

  get terms(): number {
    return this.#vocabulary.size;
  }

  /** Number of postings, which tells how much room they take. */
  get postings(): number {
    return this.#postings - 1;
  }

  /** Number of a term, for `add`. */
  numberOf(term: string): number {
    return this.#vocabulary.add(term);
  }

  /** Returns the text's length. `count` passes on each occurrence of a term, with the whole number that it counts for. */
  add(label: number, count: (add: (term: number, weight: number) => void) => void): number {
    const slot = this.#texts;
    if (slot > 0 && label <= this.#labels[slot - 1]!) throw new RangeError(`Label ${label} is not above the last one`);
    if (slot === maxSlots) throw new RangeError(`At most ${maxSlots} texts can be added at a time`);
    const counted = this.#counted;
    // An earlier `count` may have thrown halfway.
    counted.clear();
    count((term, weight) => counted.add(term, weight));
    this.#reserve(counted.size);
    let length = 0;
    for (let index = 0; index < counted.size; index++) {
      const term = counted.term(index);
      const posting = this.#postings++;
      this.#slots[posting] = slot;
      this.#frequencies[posting] = Math.min(counted.of(term), maxFrequency);
      this.#previous[posting] = this.#heads[term]!;
      this.#heads[term] = posting;
      this.#counts[term]!++;
      length += counted.of(term);
    }
    this.#labels[slot] = label;
    this.#lengths[slot] = length;
    this.#texts++;
    return length;
  }

  /** Returns the length of the removed text; undefined where there is none. */
  remove(label: number): number | undefined {
    const slot = slotOfLabel(this.labels, label);
    if (slot === undefined || this.#dead[slot]) return undefined;
    this.#dead[slot] = 1;
    this.#deadTexts++;
    return this.#lengths[slot]!;
  }

  /** The postings of a term, removed texts included, and the number of those that are not removed. */
  find(term: string, boundsOf: Saturation): { readonly list: PostingList; readonly living: number } | undefined {
    const number = this.#vocabulary.numberOf(term);
    const count = number === undefined ? 0 : this.#counts[number]!;
    if (count === 0) return undefined;
    const [slots, frequencies] = [new Int32Array(count), new Int32Array(count)];
    this.unpack(number!, slots, frequencies);
    const living = slots.reduce((sum, slot) => sum + 1 - this.#dead[slot]!, 0);
    return { list: new PostingList(packPostings(slots, frequencies, count, this.#lengths, boundsOf), count), living };
  }

  /** The terms that occur. Nothing may be added meanwhile. */
  *words(): Generator<string> {
    for (let term = 0; term < this.terms; term++) if (this.#counts[term]! > 0) yield this.#vocabulary.text(term);
  }

  /** Number of postings of a term. */
  count(term: number): number {
    return this.#counts[term]!;
  }

  /** Writes the postings of a term. */
  unpack(term: number, slots: Int32Array, frequencies: Int32Array): void {
    let index = this.#counts[term]!;
    for (let posting = this.#heads[term]!; posting > 0; posting = this.#previous[posting]!) {
      index--;
      slots[index] = this.#slots[posting]!;
      frequencies[index] = this.#frequencies[posting]!;
    }
  }

  /** The terms that occur, in the order of a segment, with the hash and the bytes of each. */
  *sortedTerms(): Generator<{ readonly term: number; readonly hash: number; readonly bytes: Uint8Array }> {
    const hashes = new Uint32Array(this.terms);
    for (let term = 0; term < this.terms; term++) hashes[term] = termHash(this.#vocabulary.bytes(term));
    for (const term of inOrder(hashes)) {
      if (this.#counts[term]! > 0) yield { term, hash: hashes[term]!, bytes: this.#vocabulary.bytes(term) };
    }
  }

  #reserve(postings: number): void {
    if (this.terms > this.#heads.length) {
      this.#heads = enlarged(this.#heads, new Uint32Array(2 * this.terms));
      this.#counts = enlarged(this.#counts, new Uint32Array(2 * this.terms));
    }
    const needed = this.#postings + postings;
    if (needed > this.#slots.length) {
      this.#slots = enlarged(this.#slots, new Uint32Array(2 * needed));
      this.#frequencies = enlarged(this.#frequencies, new Uint8Array(2 * needed));
      this.#previous = enlarged(this.#previous, new Uint32Array(2 * needed));
    }
    if (this.#texts === this.#labels.length) {
      const larger = 2 * this.#texts;
      this.#labels = enlarged(this.#labels, new Uint32Array(larger));
      this.#lengths = enlarged(this.#lengths, new Uint32Array(larger));
      this.#dead = enlarged(this.#dead, new Uint8Array(larger));
    }
  }
}

function enlarged<Numbers extends Uint32Array | Uint8Array>(array: Numbers, larger: Numbers): Numbers {
  larger.set(array);
  return larger;
}

/** The places of numbers in ascending order, equal ones in that of their places: sorted by the lower halves, then by the upper. */
function inOrder(numbers: Uint32Array): Uint32Array {
  const places = numbers.map((_, place) => place);
  return sortedByHalf(sortedByHalf(places, numbers, 0), numbers, 16);
}

/** Places by 16 bits of their numbers, from `shift` on; those with equal bits stay in order. */
function sortedByHalf(places: Uint32Array, numbers: Uint32Array, shift: number): Uint32Array {
  const starts = new Uint32Array(2 ** 16 + 1);
  for (let index = 0; index < numbers.length; index++) starts[((numbers[index]! >>> shift) & 0xffff) + 1]!++;
  for (let half = 1; half < starts.length; half++) starts[half]! += starts[half - 1]!;
  const sorted = new Uint32Array(places.length);
  for (let position = 0; position < places.length; position++) {
    const place = places[position]!;
    sorted[starts[(numbers[place]! >>> shift) & 0xffff]!++] = place;
  }
  return sorted;
}
