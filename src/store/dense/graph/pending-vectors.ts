import { cosine } from "../../database/vectors.js";
import type { Allowed } from "../../derived/allowed-labels.js";
import type { Changes, Position } from "../../derived/changes.js";
import type { TopK } from "../../derived/top-k.js";
import { FlatIndex } from "../flat/flat-index.js";

export interface PendingVectorsOptions {
  /** Limit of memory. Vectors beyond it are read again for every search. Default: 131,072 vectors of 1,024 dimensions. */
  readonly maxBytes?: number;
  /** Vectors whose memory is freed together. Default: 8,192, which is 32 MB of 1,024 dimensions. */
  readonly perSegment?: number;
}

export interface PendingSearch {
  readonly vector: Float32Array;
  readonly count: number;
  /** The changes that the graph holds. */
  readonly position: Position;
  readonly allowed: Allowed | undefined;
}

/**
 * Vectors that were committed but are not in the graph yet, compared one by one. They are read at the first search, and
 * freed as the graph catches up.
 */
export class PendingVectors {
  readonly #changes: Changes;
  readonly #maxBytes: number;
  readonly #perSegment: number;
  /** The oldest first; none is empty. */
  readonly #segments: FlatIndex[] = [];
  #readTo = 0;

  constructor(changes: Changes, { maxBytes = 536_870_912, perSegment = 8192 }: PendingVectorsOptions = {}) {
    this.#changes = changes;
    this.#maxBytes = maxBytes;
    this.#perSegment = perSegment;
  }

  /** Offers at least the `count` nearest. */
  search({ vector, count, position, allowed }: PendingSearch, best: TopK): void {
    this.#read(position, vector.length);
    const removed = new Set(this.#changes.removalsAfter(position.removal).map(({ label }) => label));
    for (const segment of this.#segments) {
      const { labels, scores } = segment.searchAtOnce(vector, count + removed.size, allowed);
      for (let index = 0; index < labels.length; index++) {
        if (!removed.has(labels[index]!)) best.offer(labels[index]!, scores[index]!);
      }
    }
    for (const row of this.#changes.vectorsAfter(this.#readFrom(position), -1)) {
      if (!allowed || allowed.has(row.label)) best.offer(row.label, cosine(vector, row.vector));
    }
  }

  /** Reads what the next search will need, if searches are going on. */
  readAhead(position: Position, dimension: number): void {
    if (this.#segments.length > 0) this.#read(position, dimension);
  }

  /** Frees a label that is in the graph by now, or deleted. */
  remove(label: number): void {
    const index = this.#segments.findIndex((segment) => segment.has(label));
    if (index < 0) return;
    this.#segments[index]!.remove(label);
    if (this.#segments[index]!.size === 0) this.#segments.splice(index, 1);
  }

  #readFrom({ label }: Position): number {
    return Math.max(label, this.#readTo);
  }

  #read(position: Position, dimension: number): void {
    const maxVectors = Math.floor(this.#maxBytes / (dimension * 4));
    const room = maxVectors - this.#segments.reduce((sum, { size }) => sum + size, 0);
    if (room <= 0) return;
    let last = this.#segments.at(-1);
    for (const { label, vector } of this.#changes.vectorsAfter(this.#readFrom(position), room)) {
      if (!last || last.size >= this.#perSegment) this.#segments.push((last = new FlatIndex(vector.length)));
      last.add(label, vector);
      this.#readTo = label;
    }
  }
}
