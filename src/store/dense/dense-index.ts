import type { AllowedLabels } from "../derived/allowed-labels.js";
import type { Position } from "../derived/changes.js";
import type { Ranking } from "../derived/top-k.js";

export interface DenseConditions {
  /** Only these chunks. Default: all. */
  readonly allowed?: AllowedLabels | undefined;
  /** The changes that a search must see. Default: everything committed. */
  readonly upTo?: Position | undefined;
}

/** An index of a store's vectors. */
export interface DenseIndex {
  /** The reason why it no longer answers, if it ended by itself. */
  readonly failure: () => Error | undefined;
  /** The `count` nearest to a vector of length 1, by cosine. */
  readonly search: (vector: Float32Array, count: number, conditions?: DenseConditions) => Promise<Ranking>;
  /** Begins to catch up with the store, if searches are likely. Resolves when they need not wait for it any longer. */
  readonly prepare: () => Promise<void>;
  /** Resolves when a `save` would save everything that was committed before the call. */
  readonly catchUp: () => Promise<void>;
  /** Whether `save` may have something to save although this process wrote nothing. */
  readonly isUnsaved: () => boolean;
  /** Saves what would be costly to build again. */
  readonly save: () => Promise<void>;
  readonly close: () => Promise<void>;
}
