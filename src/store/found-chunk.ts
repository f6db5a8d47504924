import type { Found } from "../ports.js";
import type { Placement } from "../types.js";

// Made by constructors and `Array.of`, not by literals. V8 counts how much of what a literal makes outlives a collection; if
// one comes in the midst of the first question, which is pending then, that is all of it. From then on the literal makes what
// it makes in the old generation: 60 kB of garbage a question, for a full collection, and a heap twice as large.

class PlaceInRanking implements Placement {
  readonly by: string;
  readonly rank: number;
  readonly score: number;

  constructor(by: string, rank: number, score: number) {
    this.by = by;
    this.rank = rank;
    this.score = score;
  }
}

/** What one retriever found. */
export class FoundChunk implements Found {
  readonly chunkId: string;
  readonly score: number;
  readonly placements: readonly Placement[];

  constructor(chunkId: string, by: string, rank: number, score: number) {
    this.chunkId = chunkId;
    this.score = score;
    this.placements = Array.of(new PlaceInRanking(by, rank, score));
  }
}
