import { beforeFirst, postingLength, putPosting } from "./posting.js";

const pageBits = 18;
/** Numbers of a page, which takes half a megabyte: growing by pages copies nothing. */
export const pageLength = 2 ** pageBits;

/** Blocks hold 2, 3, 4, 6, 8, 12 … numbers, because most terms of a corpus occur once or twice. */
function sizeOf(sizeClass: number): number {
  return (sizeClass % 2 === 0 ? 2 : 3) << (sizeClass >> 1);
}

/** Class of a term without a block: a new one, or one whose list is in the base. */
const noClass = 255;

/** Lists in the form that is saved, by term number. */
export interface PostingLists {
  /** Number of postings of each list. */
  readonly counts: Uint32Array;
  /** Length of each list. */
  readonly lengths: Uint32Array;
  /** Slot of the last posting of each list. */
  readonly lastSlots: Uint32Array;
  /** All lists, concatenated. */
  readonly numbers: Uint16Array;
}

/**
 * The lists of postings, one for each term, in blocks of shared pages, so that hundreds of thousands of rare terms need no
 * object each. A list that outgrows its block moves to a larger one, and its old block serves another list. A block longer
 * than a page gets a page of its own length.
 */
export class Postings {
  /** The lists of a saved index. Places in pages are counted on from its end. */
  readonly #base: Uint16Array;
  readonly #pages: Uint16Array[] = [];
  /** Numbers in use on the last page. */
  #used = pageLength;
  /** Places by term. A place in a page is the base's length + the page's index * `pageLength` + the index in the page. */
  #starts: Uint32Array;
  #counts: Uint32Array;
  #lengths: Uint32Array;
  #lastSlots: Uint32Array;
  #classes: Uint8Array;
  #terms: number;
  /** Places of free blocks, by size class. */
  readonly #free: number[][] = [];

  /** @param lists of a saved index, whose arrays are used without a copy. */
  constructor(lists: PostingLists = noLists()) {
    this.#base = lists.numbers;
    this.#counts = lists.counts;
    this.#lengths = lists.lengths;
    this.#lastSlots = lists.lastSlots;
    this.#terms = lists.counts.length;
    this.#classes = new Uint8Array(this.#terms).fill(noClass);
    this.#starts = new Uint32Array(this.#terms);
    for (let term = 1; term < this.#terms; term++) {
      this.#starts[term] = this.#starts[term - 1]! + this.#lengths[term - 1]!;
    }
  }

  /** Number of terms. The next one gets this number. */
  get terms(): number {
    return this.#terms;
  }

  /** Adds an empty list, and returns its term's number. */
  addTerm(): number {
    const room = this.#starts.length;
    if (this.#terms === room) {
      const larger = Math.max(1024, Math.ceil(room * 1.5));
      this.#starts = enlarged(this.#starts, new Uint32Array(larger));
      this.#counts = enlarged(this.#counts, new Uint32Array(larger));
      this.#lengths = enlarged(this.#lengths, new Uint32Array(larger));
      this.#lastSlots = enlarged(this.#lastSlots, new Uint32Array(larger));
      this.#classes = enlarged(this.#classes, new Uint8Array(larger));
    }
    this.#classes[this.#terms] = noClass;
    return this.#terms++;
  }

  /** @param slot above all slots of the list. */
  append(term: number, slot: number, frequency: number): void {
    const length = this.#lengths[term]!;
    const before = this.#counts[term] === 0 ? beforeFirst : this.#lastSlots[term]!;
    const needed = postingLength(slot - before, frequency);
    if (length + needed > this.#capacityOf(term)) this.#move(term, length + needed);
    const place = this.#starts[term]!;
    putPosting(this.#arrayAt(place), this.#indexOf(place) + length, slot - before, frequency);
    this.#lengths[term] = length + needed;
    this.#lastSlots[term] = slot;
    this.#counts[term]!++;
  }

  /** Number of postings of a term. */
  count(term: number): number {
    return this.#counts[term]!;
  }

  /** Slot of a term's last posting, which must exist. */
  lastSlot(term: number): number {
    return this.#lastSlots[term]!;
  }

  /** The list of a term, valid until the next `append`. */
  list(term: number): Uint16Array {
    const length = this.#lengths[term]!;
    // An empty list has no place yet.
    if (length === 0) return this.#base.subarray(0, 0);
    const place = this.#starts[term]!;
    const start = this.#indexOf(place);
    return this.#arrayAt(place).subarray(start, start + length);
  }

  /** A list in the base has no room: the next list begins at its end. */
  #capacityOf(term: number): number {
    const sizeClass = this.#classes[term]!;
    return sizeClass === noClass ? this.#lengths[term]! : sizeOf(sizeClass);
  }

  #arrayAt(place: number): Uint16Array {
    return place < this.#base.length ? this.#base : this.#pages[(place - this.#base.length) >>> pageBits]!;
  }

  #indexOf(place: number): number {
    return place < this.#base.length ? place : (place - this.#base.length) & (pageLength - 1);
  }

  #move(term: number, needed: number): void {
    let sizeClass = Math.max(0, 2 * Math.floor(Math.log2(needed / 2)));
    while (sizeOf(sizeClass) < needed) sizeClass++;
    const to = this.#allocate(sizeClass);
    this.#copy(this.#starts[term]!, to, this.#lengths[term]!);
    const old = this.#classes[term]!;
    if (old !== noClass) (this.#free[old] ??= []).push(this.#starts[term]!);
    this.#starts[term] = to;
    this.#classes[term] = sizeClass;
  }

  /** Short lists are copied by a loop, because a view would be an object for each of a text's rare words. */
  #copy(from: number, to: number, length: number): void {
    if (length === 0) return;
    const [source, target] = [this.#arrayAt(from), this.#arrayAt(to)];
    const [sourceAt, targetAt] = [this.#indexOf(from), this.#indexOf(to)];
    if (length > 64) target.set(source.subarray(sourceAt, sourceAt + length), targetAt);
    else for (let at = 0; at < length; at++) target[targetAt + at] = source[sourceAt + at]!;
  }

  #allocate(sizeClass: number): number {
    const free = this.#free[sizeClass]?.pop();
    if (free !== undefined) return free;
    const capacity = sizeOf(sizeClass);
    if (capacity > pageLength) return this.#addPage(capacity);
    // The numbers left on a page that are too few for the block stay unused.
    if (this.#used + capacity > pageLength) {
      this.#addPage(pageLength);
      this.#used = 0;
    }
    const place = this.#base.length + (this.#pages.length - 1) * pageLength + this.#used;
    this.#used += capacity;
    return place;
  }

  #addPage(length: number): number {
    this.#used = pageLength;
    return this.#base.length + (this.#pages.push(new Uint16Array(length)) - 1) * pageLength;
  }
}

function noLists(): PostingLists {
  const none = new Uint32Array(0);
  return { counts: none, lengths: none, lastSlots: none, numbers: new Uint16Array(0) };
}

function enlarged<Numbers extends Uint32Array | Uint8Array>(array: Numbers, larger: Numbers): Numbers {
  larger.set(array);
  return larger;
}
