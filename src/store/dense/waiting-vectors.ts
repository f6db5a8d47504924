import type { Allowed } from "../allowed-labels.js";
import type { Changes, Position } from "../changes.js";
import type { TopK } from "../top-k.js";
import { cosine } from "../vectors.js";
import { FlatIndex } from "./flat-index.js";

export interface WaitingRoom {
  /** Most that is kept. Of what is beyond, each is read anew for every question. Default: 131,072 of 1,024 dimensions. */
  readonly keptBytes?: number;
  /** Vectors whose memory is given back together. Default: 8,192, which is 32 MB of 1,024 dimensions. */
  readonly perSegment?: number;
}

export interface WaitingSearch {
  readonly vector: Float32Array;
  readonly count: number;
  /** What the graph has taken over. */
  readonly position: Position;
  readonly allowed: Allowed | undefined;
}

/**
 * What was committed and a graph has not taken over yet, compared one by one. Read when somebody asks, and given back as the
 * graph grows: the same vectors are in the graph then.
 */
export class WaitingVectors {
  readonly #changes: Changes;
  readonly #keptBytes: number;
  readonly #perSegment: number;
  /** The oldest first; none is empty. */
  readonly #segments: FlatIndex[] = [];
  #readTo = 0;

  constructor(changes: Changes, { keptBytes = 536_870_912, perSegment = 8192 }: WaitingRoom = {}) {
    this.#changes = changes;
    this.#keptBytes = keptBytes;
    this.#perSegment = perSegment;
  }

  /** Offers the `count` nearest, or all there are. */
  search({ vector, count, position, allowed }: WaitingSearch, best: TopK): void {
    this.#read(position, Math.floor(this.#keptBytes / vector.byteLength));
    const removed = new Set(this.#changes.removalsAfter(position.removal).map(({ label }) => label));
    for (const segment of this.#segments) {
      const { labels, scores } = segment.searchAtOnce(vector, count + removed.size, allowed);
      for (let at = 0; at < labels.length; at++) {
        if (!removed.has(labels[at]!)) best.offer(labels[at]!, scores[at]!);
      }
    }
    for (const row of this.#changes.vectorsAfter(this.#readFrom(position), -1)) {
      if (!allowed || allowed.has(row.label)) best.offer(row.label, cosine(vector, row.vector));
    }
  }

  /** Where questions are being asked, reads before the next one what it will need. */
  readAhead(position: Position, dimension: number): void {
    if (this.#segments.length > 0) this.#read(position, Math.floor(this.#keptBytes / (dimension * 4)));
  }

  /** Lets go of a label that is in the graph now, or gone. */
  remove(label: number): void {
    const at = this.#segments.findIndex((segment) => segment.has(label));
    if (at < 0) return;
    this.#segments[at]!.remove(label);
    if (this.#segments[at]!.size === 0) this.#segments.splice(at, 1);
  }

  #readFrom({ label }: Position): number {
    return Math.max(label, this.#readTo);
  }

  #read(position: Position, most: number): void {
    const room = most - this.#segments.reduce((sum, { size }) => sum + size, 0);
    if (room <= 0) return;
    let last = this.#segments.at(-1);
    for (const { label, vector } of this.#changes.vectorsAfter(this.#readFrom(position), room)) {
      if (!last || last.size >= this.#perSegment) this.#segments.push((last = new FlatIndex(vector.length)));
      last.add(label, vector);
      this.#readTo = label;
    }
  }
}
