import type { Allowed } from "../allowed-chunks.js";
import { TimeSlice } from "../time-slice.js";
import { type Ranking, TopK } from "../top-k.js";
import { frequencyOf, indexOfSlot, mostSlots, postingOf, slotOf } from "./posting.js";
import { Postings } from "./postings.js";
import { type Saturation, StrongestShares } from "./strongest-shares.js";

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
  readonly vocabulary: readonly string[];
  /** By slot. */
  readonly labels: Uint32Array;
  readonly lengths: Uint32Array;
  /** How many postings, by term number. */
  readonly postingCounts: Uint32Array;
}

/** All that an index without dead entries is made of: what is saved. Slots are in order of label. */
export interface Bm25Content extends Bm25Outline {
  /** Of all terms, one behind the other. */
  readonly postings: Uint32Array;
}

/** The same with postings in pieces, made while they are read: together they are most of an index. */
export interface Bm25Snapshot extends Bm25Outline {
  readonly postingCount: number;
  /** Pieces, each good until the next one. */
  readonly postings: () => Generator<Uint32Array>;
}

/** Postings in a piece of a snapshot, a quarter of a megabyte: less than a millisecond of copying. */
const pieceLength = 2 ** 16;

/** From so many postings on, it is worth finding out whether a list can be left unread. */
const longList = 4096;

/** Sums of floating-point numbers differ by their order: by far less than this share of them. */
const roundedUp = 1 + 1e-9;

interface AskedTerm {
  readonly list: Uint32Array;
  readonly rarity: number;
  /** What it can add to any text's score. */
  readonly most: number;
}

/**
 * Finds texts by words, ranked by BM25 as Lucene computes it since version 8 (no factor k1 + 1):
 * `ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + k1 * (1 - b + b * length / average))`, N and n being exact at all
 * times: what was removed is not counted.
 */
export class Bm25Index {
  readonly #terms = new Map<string, number>();
  readonly #postings: Postings;
  #labels: Uint32Array;
  #lengths: Uint32Array;
  #dead: Uint8Array;
  #slots: number;
  #deadSlots = 0;
  /** Of the living. */
  #totalLength = 0;
  readonly #strongest = new StrongestShares();
  #scores = new Float64Array(0);
  #touched = new Uint32Array(0);

  private constructor(content: Partial<Omit<Bm25Content, "vocabulary">> = {}) {
    this.#labels = content.labels ?? new Uint32Array(0);
    this.#lengths = content.lengths ?? new Uint32Array(0);
    this.#slots = this.#labels.length;
    this.#dead = new Uint8Array(this.#slots);
    this.#postings = new Postings(content.postingCounts, content.postings);
    for (const length of this.#lengths) this.#totalLength += length;
  }

  static empty(): Bm25Index {
    return new Bm25Index();
  }

  /** The index with that content. Takes over its arrays. */
  static async from(content: Bm25Content): Promise<Bm25Index> {
    const index = new Bm25Index(content);
    const slice = new TimeSlice();
    let term = 0;
    for (const word of content.vocabulary) {
      index.#terms.set(word, term++);
      if (slice.over) await slice.next();
    }
    return index;
  }

  /** Texts that can be found. */
  get size(): number {
    return this.#slots - this.#deadSlots;
  }

  /** Removed texts that still take room. */
  get dead(): number {
    return this.#deadSlots;
  }

  /** Labels come in rising order. `frequencies` are whole numbers. */
  add(label: number, frequencies: ReadonlyMap<string, number>): void {
    const slot = this.#slots;
    if (slot > 0 && label <= this.#labels[slot - 1]!) throw new RangeError(`Label ${label} is not above the last one`);
    if (slot === mostSlots) throw new RangeError(`A lexical index holds at most ${mostSlots} chunks`);
    if (slot === this.#labels.length) this.#grow(Math.max(1024, slot * 2));
    let length = 0;
    for (const [word, frequency] of frequencies) {
      let term = this.#terms.get(word);
      if (term === undefined) {
        term = this.#postings.addTerm();
        this.#terms.set(word, term);
      }
      this.#postings.append(term, postingOf(slot, frequency));
      length += frequency;
    }
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
    // In variables of their own: looked up anew for each posting, the fields make a search a quarter slower.
    const scores = this.#scoreRoom();
    const [touchedSlots, lengths, dead] = [this.#touched, this.#lengths, this.#dead];
    const someDead = this.#deadSlots > 0;
    let touched = 0;
    let candidates: Uint32Array | undefined;
    let left = asked.reduce((sum, { most }) => sum + most, 0) * roundedUp;
    for (const { list, rarity, most } of asked) {
      if (!candidates && touched >= wanted && list.length >= longList && list.length > touched) {
        const least = this.#leastOfBest(touchedSlots.subarray(0, touched), wanted, fits);
        if (least > left) {
          candidates = touchedSlots
            .slice(0, touched)
            .filter((slot) => scores[slot]! + left >= least && fits(slot))
            .toSorted();
        }
      }
      left -= most;
      if (candidates) {
        let at = 0;
        for (const slot of candidates) {
          at = indexOfSlot(list, slot, at);
          if (at === list.length) break;
          const posting = list[at]!;
          if (slotOf(posting) !== slot) continue;
          const frequency = frequencyOf(posting);
          scores[slot]! += (rarity * frequency) / (frequency + flat + perLength * lengths[slot]!);
        }
        continue;
      }
      for (let at = 0; at < list.length; at++) {
        const posting = list[at]!;
        const slot = slotOf(posting);
        if (someDead && dead[slot]) continue;
        const frequency = frequencyOf(posting);
        const before = scores[slot]!;
        if (before === 0) touchedSlots[touched++] = slot;
        scores[slot] = before + (rarity * frequency) / (frequency + flat + perLength * lengths[slot]!);
      }
    }
    const best = new TopK(wanted);
    for (const slot of candidates ?? touchedSlots.subarray(0, touched)) {
      if (candidates || fits(slot)) best.offer(this.#labels[slot]!, scores[slot]!);
    }
    for (let at = 0; at < touched; at++) scores[touchedSlots[at]!] = 0;
    return best.ranking();
  }

  /** A query's words that anybody has, by falling worth. */
  #asked(words: readonly string[], saturation: Saturation): AskedTerm[] {
    const weights = new Map<number, number>();
    for (const word of words) {
      const term = this.#terms.get(word);
      if (term !== undefined) weights.set(term, (weights.get(term) ?? 0) + 1);
    }
    const asked: AskedTerm[] = [];
    for (const [term, weight] of weights) {
      const list = this.#postings.list(term);
      const living = this.#living(list);
      const rarity = weight * Math.log(1 + (this.size - living + 0.5) / (living + 0.5));
      asked.push({ list, rarity, most: rarity * this.#strongest.of(term, list, this.#lengths, saturation) });
    }
    return asked.toSorted((one, other) => other.most - one.most);
  }

  /** The lowest score among the `wanted` best of these slots that fit; -Infinity when there are fewer. */
  #leastOfBest(slots: Uint32Array, wanted: number, fits: (slot: number) => boolean): number {
    const best = new TopK(wanted);
    for (const slot of slots) if (fits(slot)) best.offer(slot, this.#scores[slot]!);
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
    const vocabulary: string[] = [];
    const terms: number[] = [];
    const counts: number[] = [];
    let postingCount = 0;
    for (const [word, term] of this.#terms) {
      const count = this.#living(this.#postings.list(term));
      if (count > 0) {
        vocabulary.push(word);
        terms.push(term);
        counts.push(count);
        postingCount += count;
      }
      if (slice.over) await slice.next();
    }
    return {
      vocabulary,
      labels: this.#labels.slice(0, this.#slots).filter(alive),
      lengths: this.#lengths.slice(0, this.#slots).filter(alive),
      postingCounts: Uint32Array.from(counts),
      postingCount,
      postings: () => this.#livingPostings(terms, newSlots),
    };
  }

  /** An index of the same texts without dead entries; as with `content`, nobody may add or remove meanwhile. */
  async compacted(): Promise<Bm25Index> {
    const slice = new TimeSlice();
    const content = await this.content();
    const postings = new Uint32Array(content.postingCount);
    let end = 0;
    for (const piece of content.postings()) {
      postings.set(piece, end);
      end += piece.length;
      if (slice.over) await slice.next();
    }
    return Bm25Index.from({ ...content, postings });
  }

  *#livingPostings(terms: readonly number[], newSlots: Uint32Array): Generator<Uint32Array> {
    const piece = new Uint32Array(pieceLength);
    let end = 0;
    for (const term of terms) {
      const list = this.#postings.list(term);
      for (let at = 0; at < list.length; at++) {
        const slot = slotOf(list[at]!);
        if (this.#dead[slot]) continue;
        piece[end++] = postingOf(newSlots[slot]!, frequencyOf(list[at]!));
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
    const lists: Uint32Array[] = [];
    for (const word of words) {
      const term = this.#terms.get(word);
      if (term === undefined) return new Set();
      lists.push(this.#postings.list(term));
    }
    lists.sort((one, other) => one.length - other.length);
    let holders: Set<number> | undefined;
    for (const list of lists) {
      const next = new Set<number>();
      for (let at = 0; at < list.length; at++) {
        const slot = slotOf(list[at]!);
        if (!holders || holders.has(slot)) next.add(slot);
      }
      holders = next;
    }
    return holders ?? new Set();
  }

  #living(list: Uint32Array): number {
    if (this.#deadSlots === 0) return list.length;
    let living = 0;
    for (let at = 0; at < list.length; at++) if (!this.#dead[slotOf(list[at]!)]) living++;
    return living;
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

  /** Sums by slot, all 0. */
  #scoreRoom(): Float64Array {
    if (this.#scores.length < this.#slots) {
      this.#scores = new Float64Array(this.#labels.length);
      this.#touched = new Uint32Array(this.#labels.length);
    }
    return this.#scores;
  }
}
