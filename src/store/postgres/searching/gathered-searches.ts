import type { Filter } from "../../../core/filter.js";
import type { CallOptions } from "../../../core/ports.js";
import type { SearchResult, SearchStatement } from "./statement.js";

type Sides = Pick<SearchStatement, "dense" | "lexical">;

/** A search by vector, by words, or by both, within a filter. */
export type Search = Sides & { readonly filter?: Filter | undefined };

/** Limits of a call and its filter, as its caller gave it. */
interface Asked extends Pick<CallOptions, "signal" | "deadlineMs"> {
  readonly filter: Filter | undefined;
}

interface Waiting extends Asked {
  sides: Sides;
  readonly found: Promise<SearchResult>;
}

/**
 * Makes one statement of the search by vector and that by words which a hybrid search asks for at the same moment, with the
 * same filter and limits: one round trip, which looks for the matching documents once.
 */
export class GatheredSearches {
  readonly #run: (search: Search, limits: CallOptions) => Promise<SearchResult>;
  readonly #waiting = new Set<Waiting>();

  constructor(run: (search: Search, limits: CallOptions) => Promise<SearchResult>) {
    this.#run = run;
  }

  /** @param effective the filter of the call within the scope, which is the same for all calls with that filter. */
  search(side: Sides, effective: Filter | undefined, asked: Asked): Promise<SearchResult> {
    const { filter, ...limits } = asked;
    const partner = [...this.#waiting].find(
      (search) =>
        search.filter === filter &&
        search.signal === limits.signal &&
        search.deadlineMs === limits.deadlineMs &&
        Object.keys(side).every((name) => !(name in search.sides)),
    );
    if (partner) {
      partner.sides = { ...partner.sides, ...side };
      return partner.found;
    }
    const found = Promise.resolve().then(() => {
      this.#waiting.delete(waiting);
      return this.#run({ ...waiting.sides, filter: effective }, limits);
    });
    const waiting: Waiting = { ...asked, sides: side, found };
    this.#waiting.add(waiting);
    return found;
  }
}
