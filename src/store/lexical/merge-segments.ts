import { TimeSlice } from "../derived/scheduling.js";
import type { SearchedTexts } from "./max-score.js";
import { type PostingList, type Saturation } from "./posting-list.js";
import type { RecentTexts } from "./recent-texts.js";
import type { Segment } from "./segment.js";
import type { SegmentSink } from "./segment-bytes.js";
import { type SegmentFacts, SegmentWriter } from "./segment-writer.js";

interface Living {
  readonly labels: Uint32Array;
  readonly lengths: Uint32Array;
  /** New slots of each of the parts, by old slot; -1 for a removed text. */
  readonly newSlots: readonly Int32Array[];
}

/** The texts of all parts, one part after another, without the removed ones. */
function livingOf(parts: readonly Pick<SearchedTexts, "labels" | "lengths" | "dead">[]): Living {
  const all = parts.reduce((sum, { labels }) => sum + labels.length, 0);
  const [labels, lengths] = [new Uint32Array(all), new Uint32Array(all)];
  let living = 0;
  const newSlots = parts.map((part) => {
    const slots = new Int32Array(part.labels.length).fill(-1);
    for (let slot = 0; slot < slots.length; slot++) {
      if (part.dead && part.dead[slot] !== 0) continue;
      labels[living] = part.labels[slot]!;
      lengths[living] = part.lengths[slot]!;
      slots[slot] = living++;
    }
    return slots;
  });
  return { labels: labels.subarray(0, living), lengths: lengths.subarray(0, living), newSlots };
}

/** Moves postings to new slots, from index `from` on. Returns the end of those that are left. */
function renumber(slots: Int32Array, frequencies: Int32Array, from: number, to: number, newSlots: Int32Array): number {
  let end = from;
  for (let index = from; index < to; index++) {
    const slot = newSlots[slots[index]!]!;
    if (slot < 0) continue;
    slots[end] = slot;
    frequencies[end++] = frequencies[index]!;
  }
  return end;
}

/** Writes the texts that were added last as a segment. Nothing may be added or removed meanwhile. */
export async function writeRecentTexts(
  texts: RecentTexts,
  sink: SegmentSink,
  boundsOf: Saturation,
): Promise<SegmentFacts> {
  const slice = new TimeSlice();
  const { labels, lengths, newSlots } = livingOf([texts]);
  const writer = new SegmentWriter(sink, lengths, texts.terms, boundsOf);
  const [slots, frequencies] = [new Int32Array(texts.texts), new Int32Array(texts.texts)];
  for (const { term, hash, bytes } of texts.sortedTerms()) {
    texts.unpack(term, slots, frequencies);
    const count = renumber(slots, frequencies, 0, texts.count(term), newSlots[0]!);
    if (count > 0) writer.add(hash, bytes, slots, frequencies, count);
    if (slice.over) await slice.next();
  }
  return writer.finish(labels);
}

interface Occurrence {
  readonly part: number;
  readonly bytes: Uint8Array;
  readonly list: PostingList;
}

/** Writes several segments, whose labels ascend, as one, without the texts that are removed when it begins. */
export async function mergeSegments(
  segments: readonly Segment[],
  sink: SegmentSink,
  boundsOf: Saturation,
): Promise<SegmentFacts> {
  const slice = new TimeSlice();
  const { labels, lengths, newSlots } = livingOf(segments);
  const terms = segments.map(({ facts }) => facts.terms);
  // Segments share many of their terms.
  const expectedTerms = Math.max(...terms, terms.reduce((sum, count) => sum + count, 0) / 2);
  const writer = new SegmentWriter(sink, lengths, expectedTerms, boundsOf);
  const slotCount = newSlots.reduce((sum, { length }) => sum + length, 0);
  const [slots, frequencies] = [new Int32Array(slotCount), new Int32Array(slotCount)];
  const write = (hash: number, occurrences: readonly Occurrence[]) => {
    let count = 0;
    for (const { part, list } of occurrences) {
      list.unpackAll(slots, frequencies, count);
      count = renumber(slots, frequencies, count, count + list.count, newSlots[part]!);
    }
    if (count > 0) writer.add(hash, occurrences[0]!.bytes, slots, frequencies, count);
  };
  const readers = segments.map((segment) => segment.terms());
  const heads = readers.map((reader) => reader.next());
  for (;;) {
    let hash = Infinity;
    for (const { done, value } of heads) if (!done && value.hash < hash) ({ hash } = value);
    if (hash === Infinity) return writer.finish(labels);
    let occurrences: Occurrence[] = [];
    for (let part = 0; part < heads.length; part++) {
      for (
        let head = heads[part]!;
        !head.done && head.value.hash === hash;
        head = heads[part] = readers[part]!.next()
      ) {
        occurrences.push({ part, bytes: head.value.bytes, list: head.value.list() });
      }
    }
    // Different terms may have the same hash.
    while (occurrences.length > 0) {
      const [{ bytes }] = occurrences as [Occurrence];
      const isSame = (other: Occurrence) => Buffer.compare(other.bytes, bytes) === 0;
      write(hash, occurrences.filter(isSame));
      occurrences = occurrences.filter((other) => !isSame(other));
    }
    if (slice.over) await slice.next();
  }
}
