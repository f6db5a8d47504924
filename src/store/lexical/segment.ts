import { crc32 } from "node:zlib";
import { slotOfLabel } from "../derived/allowed-labels.js";
import { Bucket, wasChanged } from "./bucket.js";
import { PostingCursor } from "./posting-cursor.js";
import { blockLength, type PostingList, type Saturation } from "./posting-list.js";
import { damaged, type SegmentBytes, type SegmentSink } from "./segment-bytes.js";
import { bucketOf, type SegmentFacts, termHash } from "./segment-writer.js";

/** Most bytes of lists that a segment keeps in memory. */
const maxCachedBytes = 32 << 20;
/** Memory of a cached list beyond its words. For most terms, the words take far fewer bytes. */
const bytesPerList = 512;

const copiedAtOnce = 1 << 20;

/** A term of a bucket. */
export interface SegmentTerm {
  readonly hash: number;
  readonly bytes: Uint8Array;
  /** Reads its postings. Must be called before the next term is asked for. */
  readonly list: () => PostingList;
}

interface CachedList {
  readonly list: PostingList;
  /** Postings of texts that were not removed, when so many were. */
  living: number;
  deadTexts: number;
}

/** The saved form of some texts, of which only removals change. Terms are read when they are asked for, and checked then. */
export class Segment {
  readonly facts: SegmentFacts;
  readonly bytes: SegmentBytes;
  /** Label and length of the text in each slot. Labels ascend. */
  readonly labels: Uint32Array;
  readonly lengths: Uint32Array;
  readonly #directory: Uint32Array;
  /** Where each bucket begins. */
  readonly #starts: Float64Array;
  #dead: Uint8Array | undefined;
  /** Slots of removed texts, in the order of their removal. */
  readonly #deadSlots: number[] = [];
  /** Cached list of each term, the least recently used first. */
  readonly #cache = new Map<string, CachedList>();
  #cachedBytes = 0;

  /** @throws StoreError `damaged` when the tail is not as it was written. */
  constructor(bytes: SegmentBytes, facts: SegmentFacts) {
    this.bytes = bytes;
    this.facts = facts;
    const { texts, bucketBits, tailStart, tailChecksum } = facts;
    const buckets = 2 ** bucketBits;
    const tail = bytes.read(tailStart, tailLength(facts));
    if (crc32(tail) !== tailChecksum) throw damaged(bytes.path, "was changed: the checksum of its tail differs");
    this.labels = new Uint32Array(tail.buffer, 0, texts);
    this.lengths = new Uint32Array(tail.buffer, 4 * texts, texts);
    this.#directory = new Uint32Array(tail.buffer, 8 * texts, 3 * buckets);
    this.#starts = new Float64Array(buckets);
    for (let bucket = 1; bucket < buckets; bucket++) {
      const before = 3 * (bucket - 1);
      this.#starts[bucket] = this.#starts[bucket - 1]! + this.#directory[before]! + this.#directory[before + 1]!;
    }
  }

  get boundsOf(): Saturation {
    return this.facts.boundsOf;
  }

  /** 1 for a removed text, by slot; undefined while none is. */
  get dead(): Uint8Array | undefined {
    return this.#dead;
  }

  get deadSlots(): readonly number[] {
    return this.#deadSlots;
  }

  /** Returns the length of the removed text; undefined where there is none. */
  remove(label: number): number | undefined {
    const slot = slotOfLabel(this.labels, label);
    return slot === undefined ? undefined : this.removeSlot(slot);
  }

  removeSlot(slot: number): number | undefined {
    this.#dead ??= new Uint8Array(this.labels.length);
    if (this.#dead[slot] !== 0) return undefined;
    this.#dead[slot] = 1;
    this.#deadSlots.push(slot);
    return this.lengths[slot]!;
  }

  /** The postings of a term, removed texts included, and the number of those that are not removed. */
  find(term: string, bytes: Uint8Array): { readonly list: PostingList; readonly living: number } | undefined {
    let cached = this.#cache.get(term);
    if (cached) this.#cache.delete(term);
    else {
      const list = this.#read(bytes);
      if (!list) return undefined;
      cached = { list, living: list.count, deadTexts: 0 };
      this.#cachedBytes += bytesPerList + list.words.byteLength;
    }
    this.#cache.set(term, cached);
    for (const [other, { list }] of this.#cache) {
      if (this.#cachedBytes <= maxCachedBytes) break;
      this.#cache.delete(other);
      this.#cachedBytes -= bytesPerList + list.words.byteLength;
    }
    if (cached.deadTexts < this.#deadSlots.length) {
      // A list that was just read is counted as a whole, because all that were removed may be many more than its postings.
      cached.living -=
        cached.deadTexts === 0
          ? countDead(cached.list, this.#dead!)
          : countIn(cached.list, this.#deadSlots.slice(cached.deadTexts));
      cached.deadTexts = this.#deadSlots.length;
    }
    return cached;
  }

  /** All terms, in order of their hashes. */
  *terms(): Generator<SegmentTerm> {
    for (let bucket = 0; bucket < this.#starts.length; bucket++) yield* this.#termsOf(bucket);
  }

  /** Copies its bytes; returns its facts. */
  copyTo(sink: SegmentSink): SegmentFacts {
    const { facts, bytes } = this;
    const end = facts.tailStart + tailLength(facts);
    for (let index = 0; index < end; index += copiedAtOnce)
      sink.write(bytes.read(index, Math.min(copiedAtOnce, end - index)));
    return facts;
  }

  /** The list of one term. Its bucket holds few other terms, for which no list is made. */
  #read(term: Uint8Array): PostingList | undefined {
    const bucket = this.#open(bucketOf(termHash(term), this.facts.bucketBits));
    while (bucket?.next()) if (bucket.isAt(term)) return bucket.list();
    return undefined;
  }

  *#termsOf(number: number): Generator<SegmentTerm> {
    const bucket = this.#open(number);
    while (bucket?.next()) {
      const bytes = bucket.bytes();
      yield { hash: termHash(bytes), bytes, list: () => bucket.list() };
    }
  }

  /** Reads a bucket; undefined for an empty one. */
  #open(bucket: number): Bucket | undefined {
    const length = this.#directory[3 * bucket]!;
    if (length === 0) return undefined;
    const start = this.#starts[bucket]!;
    const content = this.bytes.read(start, length);
    if (crc32(content) !== this.#directory[3 * bucket + 2]) throw wasChanged(this.bytes, start);
    return new Bucket(this, content, start + length);
  }
}

function tailLength({ texts, bucketBits }: SegmentFacts): number {
  return 8 * texts + 12 * 2 ** bucketBits;
}

/** Number of postings of removed texts. */
function countDead(list: PostingList, dead: Uint8Array): number {
  const slots = new Int32Array(blockLength);
  let count = 0;
  for (let block = 0; block < list.blocks; block++) {
    const length = list.unpackSlots(block, slots);
    for (let index = 0; index < length; index++) count += dead[slots[index]!]!;
  }
  return count;
}

/** Number of these slots that have a posting. */
function countIn(list: PostingList, slots: readonly number[]): number {
  const cursor = new PostingCursor(list);
  let count = 0;
  for (const slot of slots.toSorted((one, other) => one - other)) if (cursor.frequencyIn(slot) > 0) count++;
  return count;
}
