import { crc32 } from "node:zlib";
import { blockLength, packPostings, PostingList, type Saturation } from "./posting-list.js";
import { damaged, type SegmentBytes } from "./segment-bytes.js";

/** The segment that a bucket's terms belong to. */
export interface BucketOwner {
  readonly bytes: SegmentBytes;
  readonly lengths: Uint32Array;
  readonly boundsOf: Saturation;
}

// A list is packed in one go, so that one scratch space is enough for all.
const [slots, frequencies] = [new Int32Array(blockLength), new Int32Array(blockLength)];

/** The terms of a bucket, one after the other. Skipped terms allocate nothing: a search looks for one of dozens. */
export class Bucket {
  readonly #owner: BucketOwner;
  readonly #content: Uint8Array<ArrayBuffer>;
  #at = 0;
  #termAt = 0;
  #termEnd = 0;
  #count = 0;
  /** Where the postings of the term are: in the content when they are few, else their words and their checksum. */
  #postingsAt = 0;
  /** Words of a long list; 0 for a short one. */
  #words = 0;
  /** Where the next long list begins among the bytes of the segment. */
  #listsAt: number;

  /** @param content as it was written. @param listsAt where its long lists begin. */
  constructor(owner: BucketOwner, content: Uint8Array<ArrayBuffer>, listsAt: number) {
    this.#owner = owner;
    this.#content = content;
    this.#listsAt = listsAt;
  }

  /** Goes on to the next term; false behind the last one. */
  next(): boolean {
    const content = this.#content;
    if (this.#at >= content.length) return false;
    this.#listsAt += 4 * this.#words;
    const termLength = this.#number();
    this.#termAt = this.#at;
    this.#termEnd = this.#at += termLength;
    this.#count = this.#number();
    if (this.#count < blockLength) {
      this.#words = 0;
      this.#postingsAt = this.#at;
      for (let posting = 0; posting < this.#count; posting++) {
        const hasFrequency = content[this.#at]! & 1;
        while (content[this.#at++]! >= 0x80);
        this.#at += hasFrequency;
      }
    } else {
      this.#words = this.#number();
      this.#postingsAt = this.#at;
      this.#at += 4;
    }
    return true;
  }

  isAt(term: Uint8Array): boolean {
    const [content, start] = [this.#content, this.#termAt];
    if (this.#termEnd - start !== term.length) return false;
    for (let index = 0; index < term.length; index++) if (content[start + index] !== term[index]) return false;
    return true;
  }

  /** The bytes of the term. */
  bytes(): Uint8Array {
    return this.#content.subarray(this.#termAt, this.#termEnd);
  }

  /** Reads the postings of the term. */
  list(): PostingList {
    const { bytes, lengths, boundsOf } = this.#owner;
    const [content, count] = [this.#content, this.#count];
    if (count < blockLength) {
      const next = this.#at;
      this.#at = this.#postingsAt;
      for (let posting = 0, slot = -1; posting < count; posting++) {
        const step = this.#number();
        slot += (step >>> 1) + 1;
        slots[posting] = slot;
        frequencies[posting] = step & 1 ? content[this.#at++]! : 1;
      }
      this.#at = next;
      return new PostingList(packPostings(slots, frequencies, count, lengths, boundsOf), count);
    }
    const expected = new DataView(content.buffer, content.byteOffset + this.#postingsAt, 4).getUint32(0, true);
    const packed = bytes.read(this.#listsAt, 4 * this.#words);
    if (crc32(packed) !== expected) throw wasChanged(bytes, this.#listsAt);
    return new PostingList(new Int32Array(packed.buffer), count);
  }

  #number(): number {
    const content = this.#content;
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = content[this.#at++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }
}

export function wasChanged({ path }: SegmentBytes, start: number): Error {
  return damaged(path, `was changed: the checksum of what begins at byte ${start} differs`);
}
