import type { Filter } from "../core/filter.js";
import { sortedJson } from "../core/json.js";
import type { Metadata } from "../core/types.js";

/** What one request may see and do. */
export interface Access {
  /** The documents that it may search, read, ask about and delete. Default: all. */
  readonly filter?: Filter;
  /** Whose conversations it lists, reads and goes on with. Conversations belong to `filter` as well. Default: nobody's in particular. */
  readonly owner?: string;
  /**
   * Put on every file that it uploads, such as `{ tenant: "a" }`: values that `filter` lets through. With a `filter` and
   * without this, it uploads nothing.
   */
  readonly metadata?: Metadata;
  /** Whether it may upload and delete documents. Default: false. */
  readonly mayWrite?: boolean;
}

/** Says what a request may see and do; `undefined` refuses it with 401. Throwing refuses it with 500 and tells nobody why. */
export type AccessOf = (request: Request) => Access | undefined | Promise<Access | undefined>;

/** A name for what a request may see, which requests share only if they may see the same. */
export function accessName({ filter, owner, metadata }: Access): string {
  return sortedJson([filter, owner, metadata].map((part) => part ?? null));
}
