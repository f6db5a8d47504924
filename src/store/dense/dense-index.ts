import type { Filter } from "../../filter.js";
import type { Ranking } from "../top-k.js";

/** The vectors of a store's chunks, level with the store at every search. */
export interface DenseIndex {
  /** Why it answers no more, if it ended by itself. */
  readonly failure: () => Error | undefined;
  /** The `count` nearest to a vector of length 1, by cosine, of those that the filter lets through. */
  readonly search: (vector: Float32Array, count: number, filter?: Filter) => Promise<Ranking>;
  /** Takes over what was committed, without anybody waiting for it. */
  readonly followAhead: () => void;
  /** Resolves when all that was committed before the call was taken over. */
  readonly follow: () => Promise<void>;
  /** Saves what would be costly to make again. */
  readonly save: () => Promise<void>;
  readonly close: () => Promise<void>;
}
