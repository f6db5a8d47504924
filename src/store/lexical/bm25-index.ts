import { NumberedStrings, type StringBytes } from "../../text/numbered-strings.js";
import type { Allowed } from "../allowed-labels.js";
import { inSlices, TimeSlice } from "../time-slice.js";
import { type Ranking, TopK } from "../top-k.js";
import { beforeAll, mostSlots, PostingReader, putPosting } from "./posting.js";
import { PostingSeeker } from "./posting-seeker.js";
import { type PostingLists, Postings } from "./postings.js";
import { Scores, type Weighed } from "./scores.js";
import { TermFrequencies } from "./term-frequencies.js";
import { type Saturation, type TermOutline, TermOutlines } from "./term-outlines.js";

export interface Bm25Options {
  /** How soon repeating a word stops counting. */
  readonly k1: number;
  /** How much a long text has to pay for its length: 0 nothing, 1 in proportion. */
  readonly b: number;
}

/** Which texts may be found. */
export interface Bm25Conditions {
  /** Only texts with all of these words. Default: all texts. */
  readonly required?: readonly string[];
  /** Only these. Default: all texts. */
  readonly allowed?: Allowed;
}

interface Bm25Outline {
  /** By term number. */
  readonly vocabulary: StringBytes;
  /** By slot. */
  readonly labels: Uint32Array;
  readonly lengths: Uint32Array;
}

/** All that an index without dead entries is made of: what is saved. Slots are in order of label. */
export interface Bm25Content extends Bm25Outline {
  readonly postings: PostingLists;
}

/** The same with the numbers of the postings in pieces, made while they are read: together they are most of an index. */
export interface Bm25Snapshot extends Bm25Outline {
  readonly postings: Omit<PostingLists, "numbers"> & {
    readonly length: number;
    /** Pieces, each good until the next one. */
    readonly numbers: () => Generator<Uint16Array>;
  };
}

/** Numbers in a piece of a snapshot, an eighth of a megabyte: less than a millisecond of copying. */
const pieceLength = 2 ** 16;

/** From so many numbers on, it is worth finding out whether a list can be left unread. */
const longList = 4096;

/** Sums of floating-point numbers differ by their order: by far less than this share of them. */
const roundedUp = 1 + 1e-9;

interface AskedTerm extends Weighed {
  readonly list: Uint16Array;
  readonly outline: TermOutline;
  /** What it can add to any text's score. */
  readonly most: number;
}

/**
 * Finds texts by words, ranked by BM25 as Lucene computes it since version 8 (no factor k1 + 1):
 * `ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + k1 * (1 - b + b * length / average))`, N and n being exact at all
 * times: what was removed is not counted.
 */
export class Bm25Index {
  readonly #vocabulary: NumberedStrings;
  readonly #postings: Postings;
  #labels: Uint32Array;
  #lengths: Uint32Array;
  #dead: Uint8Array;
  #slots: number;
  #deadSlots = 0;
  /** Of the living. */
  #totalLength = 0;
  /** Of texts, ever. */
  #removals = 0;
  readonly #outlines = new TermOutlines();
  readonly #scores = new Scores();
  readonly #frequencies = new TermFrequencies();
  #scratch = new Uint16Array(0);

  private constructor(vocabulary: NumberedStrings, content: Partial<Omit<Bm25Content, "vocabulary">> = {}) {
    this.#vocabulary = vocabulary;
    this.#labels = content.labels ?? new Uint32Array(0);
    this.#lengths = content.lengths ?? new Uint32Array(0);
    this.#slots = this.#labels.length;
    this.#dead = new Uint8Array(this.#slots);
    this.#postings = new Postings(content.postings);
    for (let slot = 0; slot < this.#slots; slot++) this.#totalLength += this.#lengths[slot]!;
  }

  static empty(): Bm25Index {
    return new Bm25Index(NumberedStrings.empty());
  }

  /** The index with that content. Takes over its arrays. */
  static async from(content: Bm25Content): Promise<Bm25Index> {
    return new Bm25Index(await inSlices(NumberedStrings.from(content.vocabulary)), content);
  }

  /** Texts that can be found. */
  get size(): number {
    return this.#slots - this.#deadSlots;
  }

  /** Removed texts that still take room. */
  get dead(): number {
    return this.#deadSlots;
  }

  /** A word's number, for `add`. */
  numberOf(word: string): number {
    const term = this.#vocabulary.add(word);
    if (term === this.#postings.terms) this.#postings.addTerm();
    return term;
  }

  /** Labels come in rising order. `count` tells each word as often as it comes, with a whole number that it counts for. */
  add(label: number, count: (add: (word: number, weight: number) => void) => void): void {
    const slot = this.#slots;
    if (slot > 0 && label <= this.#labels[slot - 1]!) throw new RangeError(`Label ${label} is not above the last one`);
    if (slot === mostSlots) throw new RangeError(`A lexical index holds at most ${mostSlots} chunks`);
    if (slot === this.#labels.length) this.#grow(Math.max(1024, Math.ceil(slot * 1.5)));
    // Left by a text whose words could not be told to the end.
    this.#frequencies.clear();
    count((term, weight) => this.#frequencies.add(term, weight));
    let length = 0;
    for (let at = 0; at < this.#frequencies.size; at++) {
      const term = this.#frequencies.term(at);
      const frequency = this.#frequencies.of(term);
      this.#postings.append(term, slot, frequency);
      length += frequency;
    }
    this.#frequencies.clear();
    this.#labels[slot] = label;
    this.#lengths[slot] = length;
    this.#totalLength += length;
    this.#slots++;
  }

  /** Unknown labels are ignored. */
  remove(label: number): void {
    const slot = this.#slotOf(label);
    if (slot === undefined || this.#dead[slot]) return;
    this.#dead[slot] = 1;
    this.#deadSlots++;
    this.#removals++;
    this.#totalLength -= this.#lengths[slot]!;
  }

  /**
   * The `count` best for a query's words; a word that stands twice counts twice. Words are weighed by all texts, so that a
   * score says the same whatever else is asked for.
   *
   * Words are taken by falling worth. When all that are left together cannot lift a text that has none before them to the
   * `count` best so far, their lists, the longest of all, are no longer read: what may still be among the best is looked
   * up in them. After the MaxScore of Turtle and Flood, "Query evaluation: strategies and optimizations", 1995.
   */
  search(
    words: readonly string[],
    count: number,
    { k1, b }: Bm25Options,
    { required = [], allowed }: Bm25Conditions = {},
  ): Ranking {
    const wanted = Math.min(count, this.size);
    const flat = k1 * (1 - b);
    const perLength = (k1 * b * this.size) / Math.max(1, this.#totalLength);
    const asked = this.#asked(words, { flat, perLength });
    const holders = required.length > 0 ? this.#holders(required) : undefined;
    const fits = (slot: number) => (!holders || holders.has(slot)) && (!allowed || allowed.has(this.#labels[slot]!));
    const [scores, lengths] = [this.#scores, this.#lengths];
    scores.reserve(this.#slots, this.#labels.length);
    const dead = this.#deadSlots > 0 ? this.#dead : undefined;
    let candidates: Uint32Array | undefined;
    let left = asked.reduce((sum, { most }) => sum + most, 0) * roundedUp;
    for (const term of asked) {
      const { list, outline, most } = term;
      if (!candidates && scores.count >= wanted && list.length >= longList && list.length > scores.count) {
        const least = this.#leastOfBest(scores.touched, wanted, fits);
        if (least > left) candidates = scores.atLeast(least - left, fits).toSorted();
      }
      left -= most;
      if (candidates) scores.addTo(candidates, new PostingSeeker(list, outline), term, lengths);
      else scores.addAll(list, term, lengths, dead);
    }
    const best = new TopK(wanted);
    const found = candidates ?? scores.touched;
    for (let at = 0; at < found.length; at++) {
      const slot = found[at]!;
      if (candidates || fits(slot)) best.offer(this.#labels[slot]!, scores.of(slot));
    }
    scores.clear();
    return best.ranking();
  }

  /** A query's words that anybody has, by falling worth. */
  #asked(words: readonly string[], { flat, perLength }: Saturation): AskedTerm[] {
    const weights = new Map<number, number>();
    for (const word of words) {
      const term = this.#vocabulary.numberOf(word);
      if (term !== undefined) weights.set(term, (weights.get(term) ?? 0) + 1);
    }
    const texts = { lengths: this.#lengths, dead: this.#dead, removals: this.#removals };
    const asked: AskedTerm[] = [];
    for (const [term, weight] of weights) {
      const list = this.#postings.list(term);
      const outline = this.#outlines.of(term, list, texts, { flat, perLength });
      const rarity = weight * Math.log(1 + (this.size - outline.living + 0.5) / (outline.living + 0.5));
      asked.push({ list, outline, rarity, flat, perLength, most: rarity * outline.share });
    }
    return asked.toSorted((one, other) => other.most - one.most);
  }

  /** The lowest score among the `wanted` best of these slots that fit; -Infinity when there are fewer. */
  #leastOfBest(slots: Uint32Array, wanted: number, fits: (slot: number) => boolean): number {
    const best = new TopK(wanted);
    // By index: an iterator makes an object for each of them.
    for (let at = 0; at < slots.length; at++) if (fits(slots[at]!)) best.offer(slots[at]!, this.#scores.of(slots[at]!));
    return best.least;
  }

  /**
   * What the index holds without its dead, in the order of their labels; words that nobody has any more are gone. Lets
   * other work run meanwhile, which must not add or remove, nor may anybody until the postings are read.
   */
  async content(): Promise<Bm25Snapshot> {
    const slice = new TimeSlice();
    const newSlots = new Uint32Array(this.#slots);
    let living = 0;
    for (let slot = 0; slot < this.#slots; slot++) {
      newSlots[slot] = living;
      if (!this.#dead[slot]) living++;
    }
    const alive = (_: number, slot: number) => !this.#dead[slot];
    const known = this.#postings.terms;
    const [terms, counts] = [new Uint32Array(known), new Uint32Array(known)];
    const [lengths, lastSlots] = [new Uint32Array(known), new Uint32Array(known)];
    let [kept, length] = [0, 0];
    for (let term = 0; term < known; term++) {
      const { count, lastSlot, numbers } = this.#livingList(term, newSlots);
      if (count > 0) {
        [terms[kept], counts[kept], lengths[kept], lastSlots[kept]] = [term, count, numbers.length, lastSlot];
        kept++;
        length += numbers.length;
      }
      if (slice.over) await slice.next();
    }
    return {
      vocabulary: await inSlices(this.#vocabulary.content(terms.subarray(0, kept))),
      labels: this.#labels.slice(0, this.#slots).filter(alive),
      lengths: this.#lengths.slice(0, this.#slots).filter(alive),
      postings: {
        counts: counts.slice(0, kept),
        lengths: lengths.slice(0, kept),
        lastSlots: lastSlots.slice(0, kept),
        length,
        numbers: () => this.#livingNumbers(terms.subarray(0, kept), newSlots),
      },
    };
  }

  /** An index of the same texts without dead entries; as with `content`, nobody may add or remove meanwhile. */
  async compacted(): Promise<Bm25Index> {
    const slice = new TimeSlice();
    const { postings, ...outline } = await this.content();
    const numbers = new Uint16Array(postings.length);
    let end = 0;
    for (const piece of postings.numbers()) {
      numbers.set(piece, end);
      end += piece.length;
      if (slice.over) await slice.next();
    }
    return Bm25Index.from({ ...outline, postings: { ...postings, numbers } });
  }

  /** A term's list without dead postings, by new slots; good until the next one. */
  #livingList(
    term: number,
    newSlots: Uint32Array,
  ): { readonly count: number; readonly lastSlot: number; readonly numbers: Uint16Array } {
    const list = this.#postings.list(term);
    if (this.#deadSlots === 0) {
      return { count: this.#postings.count(term), lastSlot: this.#postings.lastSlot(term), numbers: list };
    }
    // What is left takes no more room: two steps in one need no more numbers than the two.
    if (this.#scratch.length < list.length) this.#scratch = new Uint16Array(2 * list.length);
    const reader = new PostingReader(list);
    let [count, end, before] = [0, 0, beforeAll];
    while (reader.next()) {
      if (this.#dead[reader.slot]) continue;
      const slot = newSlots[reader.slot]!;
      end = putPosting(this.#scratch, end, slot - before, reader.frequency);
      before = slot;
      count++;
    }
    return { count, lastSlot: before, numbers: this.#scratch.subarray(0, end) };
  }

  *#livingNumbers(terms: Uint32Array, newSlots: Uint32Array): Generator<Uint16Array> {
    const piece = new Uint16Array(pieceLength);
    let end = 0;
    for (const term of terms) {
      const { numbers } = this.#livingList(term, newSlots);
      for (let at = 0; at < numbers.length;) {
        const part = numbers.subarray(at, at + pieceLength - end);
        piece.set(part, end);
        at += part.length;
        end += part.length;
        if (end === pieceLength) {
          yield piece;
          end = 0;
        }
      }
    }
    yield piece.subarray(0, end);
  }

  /** Slots of the texts, dead ones among them, that have all of these words. */
  #holders(words: readonly string[]): ReadonlySet<number> {
    const terms: number[] = [];
    for (const word of words) {
      const term = this.#vocabulary.numberOf(word);
      if (term === undefined) return new Set();
      terms.push(term);
    }
    terms.sort((one, other) => this.#postings.count(one) - this.#postings.count(other));
    let holders: Set<number> | undefined;
    for (const term of terms) {
      const next = new Set<number>();
      const reader = new PostingReader(this.#postings.list(term));
      while (reader.next()) if (!holders || holders.has(reader.slot)) next.add(reader.slot);
      holders = next;
    }
    return holders ?? new Set();
  }

  #slotOf(label: number): number | undefined {
    let low = 0;
    let high = this.#slots;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#labels[middle]! < label) low = middle + 1;
      else high = middle;
    }
    return low < this.#slots && this.#labels[low] === label ? low : undefined;
  }

  #grow(slots: number): void {
    const labels = new Uint32Array(slots);
    labels.set(this.#labels);
    const lengths = new Uint32Array(slots);
    lengths.set(this.#lengths);
    const dead = new Uint8Array(slots);
    dead.set(this.#dead);
    [this.#labels, this.#lengths, this.#dead] = [labels, lengths, dead];
  }
}
