import type { Filter, StoreWrite } from "citewell";
import type { Asked } from "../shared/made-corpus.js";
import type { Weighed } from "./searching-process.js";

export type MadeWrite = Required<Pick<StoreWrite, "documents" | "vectors">>;

/** An index under test. Operations that it does not support are left out. */
export interface SearchIndex {
  readonly write: (write: MadeWrite) => Promise<void>;
  /** Makes all that was written ready to be searched; where files are kept, closes them. */
  readonly finish?: () => Promise<void>;
  /** Whether the first search opens files. */
  readonly reopens?: boolean;
  readonly dense?: (query: Asked, count: number) => Promise<readonly string[]>;
  readonly words?: (query: Asked, count: number) => Promise<readonly string[]>;
  readonly hybrid?: (query: Asked, filter?: Filter) => Promise<unknown>;
  readonly setEf?: (ef: number) => void;
  /** Weighs a process that answers these queries. */
  readonly weigh?: (queries: readonly Asked[]) => Promise<Weighed>;
  readonly diskBytes?: () => number;
  /** Checks every byte of its files. */
  readonly verify?: () => Promise<void>;
  readonly close?: () => Promise<void>;
}

/** Makes an index, or gives the minimum milliseconds of an exact search. */
export type SearchSubject =
  | { readonly make: (dimension: number) => Promise<SearchIndex> }
  | { readonly denseMs: (chunks: number, dimension: number, times: number) => readonly number[] };
