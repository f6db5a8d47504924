import type { Metadata } from "citewell";
import type { MadeWrite } from "../search/search-index.js";
import type { Asked } from "../shared/made-corpus.js";

export interface Place {
  /** Address of a single server. */
  readonly url: string;
  /** Address of the coordinator of a Citus cluster with three workers. */
  readonly cluster: string;
  readonly dimension: number;
  /** A name for what is made, which no other run has. */
  readonly name: string;
}

/** A store, however it keeps what is written. */
export interface ScaledStore {
  readonly write: (write: MadeWrite) => Promise<unknown>;
  /** Does what a load has put off to its end. */
  readonly finishLoad?: () => Promise<unknown>;
  /** Number of results of the nearest vectors. */
  readonly dense: (query: Asked, count: number, filter?: Metadata) => Promise<number>;
  readonly words?: (query: Asked, count: number) => Promise<unknown>;
  /** Asks for vector and words together, as a hybrid search does. */
  readonly both?: (query: Asked, count: number) => Promise<unknown>;
  readonly close: () => Promise<unknown>;
}

export type OpenScaled = (place: Place) => Promise<ScaledStore>;
