import type { Metadata } from "citewell";
import type { MadeWrite } from "../search/search-index.js";
import type { Asked } from "../shared/made-corpus.js";

export interface Place {
  /** Addresses of three servers. */
  readonly urls: readonly string[];
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
  /** By vector and by words, as a hybrid search asks for both. */
  readonly both?: (query: Asked, count: number) => Promise<unknown>;
  readonly close: () => Promise<unknown>;
}

export type OpenScaled = (place: Place) => Promise<ScaledStore>;
