import { unitBytes } from "../../text/tables/numbered-strings.js";
import { type Allowed, slotOfLabel } from "../derived/allowed-labels.js";
import { type Ranking, TopK } from "../derived/top-k.js";
import { offerBest, roundingMargin, type SearchCosts, type SearchedTexts } from "./max-score.js";
import { mergeSegments, writeRecentTexts } from "./merge-segments.js";
import { PostingCursor } from "./posting-cursor.js";
import { blockLength, growthOfShares, type PostingList, type Saturation } from "./posting-list.js";
import { RecentTexts } from "./recent-texts.js";
import { Segment } from "./segment.js";
import { MemoryBytes, type SegmentSink } from "./segment-bytes.js";
import type { SegmentFacts } from "./segment-writer.js";

export interface Bm25Options {
  /** Term-frequency saturation (k1). */
  readonly k1: number;
  /** Length normalisation (b): 0 ignores the length of a text, 1 scales its score in full proportion. */
  readonly b: number;
}

/** Restrictions on the texts that a search may find. */
export interface Bm25Conditions {
  /** Only texts that contain all of these words. Default: all texts. */
  readonly required?: readonly string[];
  /** Only these texts. Default: all texts. */
  readonly allowed?: Allowed;
}

/** A filter that allows fewer than one text in so many is asked for its texts, others whether they allow a text. */
const selectiveFilter = 32;

/** A term in fewer than one text in so many is looked at twice. */
const rareShare = 16;

/** The postings of a query's terms in some of the texts, by the index of the term; undefined where it does not occur. */
interface SearchedPart {
  readonly texts: SearchedTexts;
  readonly found: readonly ({ readonly list: PostingList; readonly living: number } | undefined)[];
}

/**
 * Finds texts by words, ranked by BM25 as Lucene computes it since version 8 (without the factor k1 + 1):
 * `ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + k1 * (1 - b + b * length / average))`. N and n never count removed texts.
 *
 * The texts are in segments, which only lose texts, and among the recent ones, which become a segment from time to time. Their
 * labels ascend from segment to segment.
 */
export class Bm25Index {
  #segments: readonly Segment[];
  #recent = new RecentTexts();
  #texts = 0;
  /** Length of all texts that were not removed. */
  #totalLength = 0;

  /** @param segments whose labels ascend; their removed texts do not count. */
  constructor(segments: readonly Segment[] = []) {
    this.#segments = segments;
    for (const { lengths, deadSlots } of segments) {
      this.#texts += lengths.length - deadSlots.length;
      for (let slot = 0; slot < lengths.length; slot++) this.#totalLength += lengths[slot]!;
      for (const slot of deadSlots) this.#totalLength -= lengths[slot]!;
    }
  }

  /** Number of texts that can be found. */
  get size(): number {
    return this.#texts;
  }

  get segments(): readonly Segment[] {
    return this.#segments;
  }

  get recent(): Pick<RecentTexts, "texts" | "postings" | "words"> {
    return this.#recent;
  }

  /** Number of texts that have a word. */
  textsWith(word: string, options: Bm25Options): number {
    const parts = this.#find([word], this.#saturation(options));
    return parts.reduce((sum, { found }) => sum + (found[0]?.living ?? 0), 0);
  }

  /** Returns a word's number, for `add`. It holds until `makeSegment` is called. */
  numberOf(word: string): number {
    return this.#recent.numberOf(word);
  }

  /** Labels must ascend. `count` passes on each occurrence of a word, with the whole number that it counts for. */
  add(label: number, count: (add: (word: number, weight: number) => void) => void): void {
    const last = this.#segments.at(-1)?.labels.at(-1) ?? 0;
    if (label <= last) throw new RangeError(`Label ${label} is not above ${last}`);
    this.#totalLength += this.#recent.add(label, count);
    this.#texts++;
  }

  /** Ignores unknown labels. */
  remove(label: number): void {
    const holder = this.#segments.find(({ labels }) => label <= labels.at(-1)!) ?? this.#recent;
    const length = holder.remove(label);
    if (length === undefined) return;
    this.#texts--;
    this.#totalLength -= length;
  }

  /** Makes the recent texts a segment in memory. Nothing may be added or removed meanwhile. */
  async makeSegment(options: Bm25Options): Promise<void> {
    const bytes = new MemoryBytes();
    const facts = await writeRecentTexts(this.#recent, bytes, this.#saturation(options));
    if (facts.texts > 0) this.#segments = [...this.#segments, new Segment(bytes, facts)];
    this.#recent = new RecentTexts();
  }

  /** Writes several segments as one. The index goes on with the old ones until `replace`. */
  merged(segments: readonly Segment[], sink: SegmentSink, options: Bm25Options): Promise<SegmentFacts> {
    return mergeSegments(segments, sink, this.#saturation(options));
  }

  /** Puts a segment of the same texts in the place of neighbours, which are closed. */
  replace(old: readonly Segment[], merged: Segment): void {
    for (const { deadSlots, labels } of old) for (const slot of deadSlots) merged.remove(labels[slot]!);
    const index = this.#segments.indexOf(old[0]!);
    this.#segments = this.#segments.toSpliced(index, old.length, ...(merged.labels.length > 0 ? [merged] : []));
    if (merged.labels.length === 0) merged.bytes.close();
    for (const { bytes } of old) bytes.close();
  }

  close(): void {
    for (const { bytes } of this.#segments) bytes.close();
  }

  /**
   * The `count` best texts for a query's words, each of which counts as often as is given with it. A word's rarity depends on
   * all texts, so that a score means the same under any conditions.
   *
   * @param costs counts the work.
   */
  search(
    words: ReadonlyMap<string, number>,
    count: number,
    options: Bm25Options,
    { required = [], allowed }: Bm25Conditions = {},
    costs: SearchCosts = { scored: 0 },
  ): Ranking {
    const terms = [...words.keys()];
    const saturation = this.#saturation(options);
    const parts = this.#find(terms, saturation);
    const rarities = terms.map((term, index) => {
      const living = parts.reduce((sum, { found }) => sum + (found[index]?.living ?? 0), 0);
      return words.get(term)! * Math.log(1 + (this.size - living + 0.5) / (living + 0.5));
    });
    // The rarest first: they add most, and the others are then often left unread. Every text is summed in this order.
    const order = rarities.map((_, position) => position).toSorted((one, other) => rarities[other]! - rarities[one]!);
    const requiredParts = required.length > 0 ? this.#find([...new Set(required)], saturation) : undefined;
    const isSelective = allowed && allowed.size * selectiveFilter < this.size;
    const allowedLabels = isSelective && !requiredParts ? Uint32Array.from(allowed.labels()) : undefined;
    const best = new TopK(Math.min(count, this.size));
    const selected = requiredParts !== undefined || allowedLabels !== undefined;
    const minScore = selected
      ? -Infinity
      : this.#reachedScore(parts, order, rarities, saturation, best.count, allowed, costs);
    for (const [part, { texts, found }] of parts.entries()) {
      const { labels, dead } = texts;
      const slots = requiredParts
        ? slotsWithAll(requiredParts[part]!.found)
        : allowedLabels && slotsOf(allowedLabels, labels);
      const candidates = slots?.filter(
        (slot) => (!dead || dead[slot] === 0) && (!allowed || allowed.has(labels[slot]!)),
      );
      const lists = order.flatMap((offset) =>
        found[offset] ? [{ rarity: rarities[offset]!, list: found[offset].list }] : [],
      );
      offerBest(texts, lists, saturation, { candidates, allowed, minScore }, best, costs);
    }
    return best.ranking();
  }

  /**
   * A score that at least `count` allowed texts reach by one of their terms alone: the rarest that so many have. It lets a
   * search leave common words unread from the first text on. A term that is common itself would take too long, and blocks whose
   * bound is below the score that is already reached are not read.
   */
  #reachedScore(
    parts: readonly SearchedPart[],
    order: readonly number[],
    rarities: readonly number[],
    saturation: Saturation,
    count: number,
    allowed: Allowed | undefined,
    costs: SearchCosts,
  ): number {
    const livingOf = (index: number) => parts.reduce((sum, { found }) => sum + (found[index]?.living ?? 0), 0);
    const term = order.find((position) => livingOf(position) >= count);
    if (term === undefined || livingOf(term) * rareShare > this.size) return -Infinity;
    const rarity = rarities[term]!;
    const { flat, perLength } = saturation;
    const best = new TopK(count);
    const [slots, frequencies] = [new Int32Array(blockLength), new Int32Array(blockLength)];
    for (const { texts, found } of parts) {
      const { labels, lengths, dead, boundsOf } = texts;
      const list = found[term]?.list;
      if (!list) continue;
      const growth = growthOfShares(boundsOf, saturation) * roundingMargin;
      for (let block = 0; block < list.blocks; block++) {
        if (rarity * Math.min(1, list.bound(block) * growth) <= best.minScore) continue;
        const end = list.unpackSlots(block, slots);
        list.unpackFrequencies(block, frequencies);
        costs.scored += end;
        for (let offset = 0; offset < end; offset++) {
          const slot = slots[offset]!;
          if (dead?.[slot] || (allowed && !allowed.has(labels[slot]!))) continue;
          const frequency = frequencies[offset]!;
          best.offer(slot, (rarity * frequency) / (frequency + flat + perLength * lengths[slot]!));
        }
      }
    }
    return best.minScore;
  }

  #saturation({ k1, b }: Bm25Options): Saturation {
    return { flat: k1 * (1 - b), perLength: (k1 * b * this.size) / Math.max(1, this.#totalLength) };
  }

  #find(terms: readonly string[], boundsOf: Saturation): SearchedPart[] {
    const bytes = terms.map(unitBytes);
    const parts = this.#segments.map((texts): SearchedPart => ({
      texts,
      found: terms.map((term, index) => texts.find(term, bytes[index]!)),
    }));
    const { labels, lengths, dead } = this.#recent;
    if (labels.length > 0) {
      const found = terms.map((term) => this.#recent.find(term, boundsOf));
      parts.push({ texts: { labels, lengths, dead, boundsOf }, found });
    }
    return parts;
  }
}

/** Slots that all of these lists have. */
function slotsWithAll(found: SearchedPart["found"]): Int32Array {
  const lists = found.map((one) => one?.list);
  if (!lists.every((list) => list !== undefined)) return new Int32Array(0);
  const [shortest, ...others] = lists.toSorted((one, other) => one.count - other.count);
  let slots = new Int32Array(shortest!.count);
  shortest!.unpackAll(slots, new Int32Array(shortest!.count));
  for (const list of others) {
    const cursor = new PostingCursor(list);
    slots = slots.filter((slot) => cursor.frequencyIn(slot) > 0);
  }
  return slots;
}

/** Slots of the given ascending labels, as far as these texts have them. */
function slotsOf(wanted: Uint32Array, labels: Uint32Array): Int32Array {
  const slots = new Int32Array(wanted.length);
  const last = labels.at(-1)!;
  let count = 0;
  let slot = 0;
  for (const label of wanted) {
    if (label < labels[0]! || label > last) continue;
    // Labels are dense: most slots are exactly as far on as the label's distance says, and none is further.
    const near = Math.min(labels.length - 1, slot + label - labels[slot]!);
    const found = labels[near] === label ? near : slotOfLabel(labels, label);
    if (found === undefined) continue;
    slot = found;
    slots[count++] = slot;
  }
  return slots.subarray(0, count);
}
