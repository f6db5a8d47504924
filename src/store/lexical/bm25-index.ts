import type { PackedStrings } from "../../text/tables/byte-strings.js";
import { NumberedStrings } from "../../text/tables/numbered-strings.js";
import type { Allowed } from "../derived/allowed-labels.js";
import { inSlices, TimeSlice } from "../derived/scheduling.js";
import { type Ranking, TopK } from "../derived/top-k.js";
import { beforeFirst, maxSlots, PostingReader, putPosting } from "./posting.js";
import { type PostingLists, Postings } from "./postings.js";
import { Scores, type Weighed } from "./scores.js";
import { TermFrequencies } from "./term-frequencies.js";
import { PostingSeeker, type Saturation, type TermOutline, TermOutlines } from "./term-outlines.js";

export interface Bm25Options {
  /** How soon repetitions of a word stop counting. */
  readonly k1: number;
  /** How much the length of a text lowers its score: 0 not at all, 1 in full proportion. */
  readonly b: number;
}

/** Restrictions on the texts that a search may find. */
export interface Bm25Conditions {
  /** Only texts that contain all of these words. Default: all texts. */
  readonly required?: readonly string[];
  /** Only these texts. Default: all texts. */
  readonly allowed?: Allowed;
}

interface Bm25Outline {
  /** By term number. */
  readonly vocabulary: PackedStrings;
  /** By slot. */
  readonly labels: Uint32Array;
  readonly lengths: Uint32Array;
}

/** An index without dead entries, in the form that is saved. Slots are in order of label. */
export interface Bm25Content extends Bm25Outline {
  readonly postings: PostingLists;
}

/** The same, with the numbers of the postings generated in pieces while they are read: they are most of an index. */
export interface Bm25Snapshot extends Bm25Outline {
  readonly postings: Omit<PostingLists, "numbers"> & {
    readonly length: number;
    /** Pieces, each valid until the next one. */
    readonly numbers: () => Generator<Uint16Array>;
  };
}

/** Numbers in a piece of a snapshot: an eighth of a megabyte, copied in less than a millisecond. */
const pieceLength = 2 ** 16;

/** Length of a list from which it is worth finding out whether it can be left unread. */
const minSkippableLength = 4096;

/** Floating-point sums differ by the order of their terms, by far less than this factor. */
const roundingMargin = 1 + 1e-9;

interface QueryTerm extends Weighed {
  readonly list: Uint16Array;
  readonly outline: TermOutline;
  /** The most that it can add to the score of a text. */
  readonly maxScore: number;
}

/**
 * Finds texts by words, ranked by BM25 as Lucene computes it since version 8 (without the factor k1 + 1):
 * `ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + k1 * (1 - b + b * length / average))`. N and n never count removed texts.
 */
export class Bm25Index {
  readonly #vocabulary: NumberedStrings;
  readonly #postings: Postings;
  #labels: Uint32Array;
  #lengths: Uint32Array;
  #dead: Uint8Array;
  #slots: number;
  #deadSlots = 0;
  /** Length of all living texts. */
  #totalLength = 0;
  /** Number of texts that were ever removed. */
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

  /** Creates an index whose arrays are those of `content`, without a copy. */
  static async from(content: Bm25Content): Promise<Bm25Index> {
    return new Bm25Index(await inSlices(NumberedStrings.from(content.vocabulary)), content);
  }

  /** Number of texts that can be found. */
  get size(): number {
    return this.#slots - this.#deadSlots;
  }

  /** Number of removed texts that still take memory. */
  get dead(): number {
    return this.#deadSlots;
  }

  /** Returns a word's number, for `add`. */
  numberOf(word: string): number {
    const term = this.#vocabulary.add(word);
    if (term === this.#postings.terms) this.#postings.addTerm();
    return term;
  }

  /** Labels must ascend. `count` passes on each occurrence of a word, with the whole number that it counts for. */
  add(label: number, count: (add: (word: number, weight: number) => void) => void): void {
    const slot = this.#slots;
    if (slot > 0 && label <= this.#labels[slot - 1]!) throw new RangeError(`Label ${label} is not above the last one`);
    if (slot === maxSlots) throw new RangeError(`A lexical index holds at most ${maxSlots} chunks`);
    if (slot === this.#labels.length) this.#grow(Math.max(1024, Math.ceil(slot * 1.5)));
    // An earlier `count` may have thrown halfway.
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

  /** Ignores unknown labels. */
  remove(label: number): void {
    const slot = this.#slotOf(label);
    if (slot === undefined || this.#dead[slot]) return;
    this.#dead[slot] = 1;
    this.#deadSlots++;
    this.#removals++;
    this.#totalLength -= this.#lengths[slot]!;
  }

  /**
   * The `count` best texts for a query's words; a word that occurs twice counts twice. A word's weight depends on all texts,
   * so that a score means the same under any conditions.
   *
   * Words are processed by descending maximum score. Once all remaining words together cannot lift a text without any of the
   * earlier ones into the `count` best so far, their lists, the longest of all, are no longer read: only the texts that may
   * still be among the best are looked up in them. After the MaxScore of Turtle and Flood, "Query evaluation: strategies and
   * optimizations", 1995.
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
    const queryTerms = this.#queryTerms(words, { flat, perLength });
    const withRequired = required.length > 0 ? this.#slotsWithAll(required) : undefined;
    const fits = (slot: number) =>
      (!withRequired || withRequired.has(slot)) && (!allowed || allowed.has(this.#labels[slot]!));
    const [scores, lengths] = [this.#scores, this.#lengths];
    scores.reserve(this.#slots, this.#labels.length);
    const dead = this.#deadSlots > 0 ? this.#dead : undefined;
    let candidates: Uint32Array | undefined;
    let maxRemaining = queryTerms.reduce((sum, { maxScore }) => sum + maxScore, 0) * roundingMargin;
    for (const term of queryTerms) {
      const { list, outline, maxScore } = term;
      if (!candidates && scores.count >= wanted && list.length >= minSkippableLength && list.length > scores.count) {
        const minBest = this.#minScoreOfBest(scores.touched, wanted, fits);
        if (minBest > maxRemaining) candidates = scores.atLeast(minBest - maxRemaining, fits).toSorted();
      }
      maxRemaining -= maxScore;
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

  /** The words of a query that any text contains, by descending maximum score. */
  #queryTerms(words: readonly string[], { flat, perLength }: Saturation): QueryTerm[] {
    const weights = new Map<number, number>();
    for (const word of words) {
      const term = this.#vocabulary.numberOf(word);
      if (term !== undefined) weights.set(term, (weights.get(term) ?? 0) + 1);
    }
    const texts = { lengths: this.#lengths, dead: this.#dead, removals: this.#removals };
    const found: QueryTerm[] = [];
    for (const [term, weight] of weights) {
      const list = this.#postings.list(term);
      const outline = this.#outlines.of(term, list, texts, { flat, perLength });
      const rarity = weight * Math.log(1 + (this.size - outline.living + 0.5) / (outline.living + 0.5));
      found.push({ list, outline, rarity, flat, perLength, maxScore: rarity * outline.maxShare });
    }
    return found.toSorted((one, other) => other.maxScore - one.maxScore);
  }

  /** The lowest score among the `wanted` best of these slots that fit; -Infinity when there are fewer. */
  #minScoreOfBest(slots: Uint32Array, wanted: number, fits: (slot: number) => boolean): number {
    const best = new TopK(wanted);
    // By index: an iterator creates an object for each slot.
    for (let at = 0; at < slots.length; at++) if (fits(slots[at]!)) best.offer(slots[at]!, this.#scores.of(slots[at]!));
    return best.minScore;
  }

  /**
   * A snapshot without removed texts, in order of label, and without words that occur nowhere any more. Lets other work run
   * meanwhile. Nothing may be added or removed until the postings are read.
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
      vocabulary: await inSlices(this.#vocabulary.packed(terms.subarray(0, kept))),
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

  /** An index of the same texts without dead entries. As with `content`, nothing may be added or removed meanwhile. */
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

  /** A term's list without dead postings, with new slots; valid until the next call. */
  #livingList(
    term: number,
    newSlots: Uint32Array,
  ): { readonly count: number; readonly lastSlot: number; readonly numbers: Uint16Array } {
    const list = this.#postings.list(term);
    if (this.#deadSlots === 0) {
      return { count: this.#postings.count(term), lastSlot: this.#postings.lastSlot(term), numbers: list };
    }
    // The rest takes no more room: the sum of two steps needs no more numbers than the two.
    if (this.#scratch.length < list.length) this.#scratch = new Uint16Array(2 * list.length);
    const reader = new PostingReader(list);
    let [count, end, before] = [0, 0, beforeFirst];
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

  /** Slots of the texts, including dead ones, that contain all of these words. */
  #slotsWithAll(words: readonly string[]): ReadonlySet<number> {
    const terms: number[] = [];
    for (const word of words) {
      const term = this.#vocabulary.numberOf(word);
      if (term === undefined) return new Set();
      terms.push(term);
    }
    terms.sort((one, other) => this.#postings.count(one) - this.#postings.count(other));
    let slots: Set<number> | undefined;
    for (const term of terms) {
      const next = new Set<number>();
      const reader = new PostingReader(this.#postings.list(term));
      while (reader.next()) if (!slots || slots.has(reader.slot)) next.add(reader.slot);
      slots = next;
    }
    return slots ?? new Set();
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
