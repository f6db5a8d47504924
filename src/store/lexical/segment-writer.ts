import { crc32 } from "node:zlib";
import { blockLength, packPostings, type Saturation } from "./posting-list.js";
import type { SegmentSink } from "./segment-bytes.js";

// A segment is an index of some texts that is never changed. Its terms are in the order of a hash, in buckets of some sixty
// terms each, which a directory finds without a search. The bucket of a term says all about a term in less than 128 texts, and
// where the list of another term is. So the postings of a term are found with one or two reads. The file:
//
//     for each bucket: its terms, then the lists of those in 128 texts or more (see posting-list.ts)
//     the tail: labels, lengths, then for each bucket the bytes of its terms, the bytes of its lists, the checksum of the former
//
// A term is a length and its bytes, the number of its postings, and either each posting (its distance to the one before, less
// one, and a bit that says whether the frequency follows, which is 1 otherwise), or the number of words of its list and their
// checksum. All these numbers but checksums take seven bits a byte.
const termsPerBucket = 64;

/** The facts about a segment that stand outside of it. */
export interface SegmentFacts {
  readonly texts: number;
  readonly terms: number;
  /** The directory has 2 to this power buckets. */
  readonly bucketBits: number;
  readonly tailStart: number;
  readonly tailChecksum: number;
  /** The saturation that the bounds of lists were computed with. */
  readonly boundsOf: Saturation;
}

/** Hash of a term's bytes, evenly spread over 32 bits: FNV-1a, then the last steps of MurmurHash3. */
export function termHash(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < bytes.length; index++) hash = Math.imul(hash ^ bytes[index]!, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The bucket of a hash among 2 to the power of `bits`. */
export function bucketOf(hash: number, bits: number): number {
  return bits === 0 ? 0 : hash >>> (32 - bits);
}

/** Writes a segment, term by term in the order of their hashes. */
export class SegmentWriter {
  readonly #sink: SegmentSink;
  readonly #lengths: Uint32Array;
  readonly #boundsOf: Saturation;
  readonly #bits: number;
  readonly #directory: Uint32Array;
  #bucket = 0;
  #bytes = new Uint8Array(1 << 14);
  #end = 0;
  #lists: Int32Array[] = [];
  #terms = 0;
  #written = 0;

  /** @param terms about how many there will be. */
  constructor(sink: SegmentSink, lengths: Uint32Array, terms: number, boundsOf: Saturation) {
    this.#sink = sink;
    this.#lengths = lengths;
    this.#boundsOf = boundsOf;
    this.#bits = Math.max(0, Math.ceil(Math.log2(terms / termsPerBucket)));
    this.#directory = new Uint32Array(3 * 2 ** this.#bits);
  }

  /** Adds a term with its first `count` slots and frequencies. */
  add(hash: number, term: Uint8Array, slots: Int32Array, frequencies: Int32Array, count: number): void {
    const bucket = bucketOf(hash, this.#bits);
    while (this.#bucket < bucket) this.#endBucket();
    this.#terms++;
    this.#reserve(term.length + 20 + 6 * Math.min(count, blockLength));
    this.#number(term.length);
    this.#bytes.set(term, this.#end);
    this.#end += term.length;
    this.#number(count);
    if (count < blockLength) {
      for (let index = 0, before = -1; index < count; before = slots[index++]!) {
        const frequency = frequencies[index]!;
        this.#number(2 * (slots[index]! - before - 1) + (frequency > 1 ? 1 : 0));
        if (frequency > 1) this.#bytes[this.#end++] = frequency;
      }
      return;
    }
    const list = packPostings(slots, frequencies, count, this.#lengths, this.#boundsOf);
    this.#number(list.length);
    this.#bytes.set(bytesOf(Uint32Array.of(crc32(bytesOf(list)))), this.#end);
    this.#end += 4;
    this.#lists.push(list);
  }

  /** @param labels of the texts, by slot. */
  finish(labels: Uint32Array): SegmentFacts {
    while (this.#bucket < 2 ** this.#bits) this.#endBucket();
    let tailChecksum = 0;
    for (const part of [labels, this.#lengths.subarray(0, labels.length), this.#directory]) {
      tailChecksum = crc32(bytesOf(part), tailChecksum);
      this.#sink.write(bytesOf(part));
    }
    return {
      texts: labels.length,
      terms: this.#terms,
      bucketBits: this.#bits,
      tailStart: this.#written,
      tailChecksum,
      boundsOf: this.#boundsOf,
    };
  }

  #endBucket(): void {
    const bytes = this.#bytes.subarray(0, this.#end);
    this.#sink.write(bytes);
    let listBytes = 0;
    for (const list of this.#lists) {
      this.#sink.write(bytesOf(list));
      listBytes += list.byteLength;
    }
    this.#directory.set([bytes.length, listBytes, crc32(bytes)], 3 * this.#bucket);
    this.#written += bytes.length + listBytes;
    this.#bucket++;
    this.#end = 0;
    this.#lists = [];
  }

  /** Writes a whole number below 2^32, seven bits a byte, of which all but the last have the high bit. */
  #number(value: number): void {
    let left = value;
    for (; left > 0x7f; left >>>= 7) this.#bytes[this.#end++] = (left & 0x7f) | 0x80;
    this.#bytes[this.#end++] = left;
  }

  #reserve(bytes: number): void {
    if (this.#end + bytes <= this.#bytes.length) return;
    const larger = new Uint8Array(2 * (this.#end + bytes));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Int32Array | Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
