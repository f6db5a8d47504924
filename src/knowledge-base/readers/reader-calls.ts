import type { Filter } from "../../core/filter.js";
import type { Question, Retrieved } from "../../core/types.js";
import type { ModelRequest, WholeReply } from "../../local/in-process.js";
import type { SearchOptions } from "../../stages/retrieval/search.js";

/** The store that a reader opens, and how. */
export interface ReaderStart {
  readonly path: string;
  readonly space: string;
  readonly dimension: number | undefined;
  readonly latent: boolean | "auto" | undefined;
  readonly requireScope: boolean;
}

/** A search as it is sent to a reader. */
export interface SentSearch {
  readonly question: Omit<Question, "history" | "trace"> & { readonly vector?: Float32Array };
  readonly scope: Filter | undefined;
  readonly options: SearchOptions;
  /** Time that is left for it. */
  readonly deadlineMs: number | undefined;
}

/** The calls that a reader answers. */
export type ReaderCalls = {
  /** Opens the store and loads its indexes, so that the first search does not wait for them. */
  readonly open: { readonly argument: undefined; readonly result: void };
  readonly search: {
    readonly argument: SentSearch;
    readonly result: Pick<Retrieved, "hits" | "trace" | "searchedFor">;
  };
  /** A request to a model of the local service. */
  readonly model: { readonly argument: ModelRequest; readonly result: WholeReply };
  readonly close: { readonly argument: undefined; readonly result: void };
};
