import type { AllowedLabels } from "../allowed-labels.js";
import type { Position } from "../changes.js";
import type { Ranking } from "../top-k.js";

export interface DenseConditions {
  /** Only these. */
  readonly allowed?: AllowedLabels | undefined;
  /** How far the index has to have followed the store. Default: all that is committed. */
  readonly upTo?: Position | undefined;
}

/** The vectors of a store's chunks. */
export interface DenseIndex {
  /** Why it answers no more, if it ended by itself. */
  readonly failure: () => Error | undefined;
  /** The `count` nearest to a vector of length 1, by cosine. */
  readonly search: (vector: Float32Array, count: number, conditions?: DenseConditions) => Promise<Ranking>;
  /** Begins to take over what was committed. Resolves when a search for it has nothing more to wait for. */
  readonly followAhead: () => Promise<void>;
  /** Resolves when all that was committed before the call was taken over. */
  readonly follow: () => Promise<void>;
  /** Saves what would be costly to make again. */
  readonly save: () => Promise<void>;
  readonly close: () => Promise<void>;
}
