import type { Filter } from "../../../core/filter.js";
import { filterSql, type Parameters } from "../filters/filter-sql.js";

/**
 * Up to this many chunks of matching documents are all compared; beyond, the graph or the ranking is walked and each chunk
 * on the way is tested.
 */
export const maxCompared = 10_000;

/** The documents that match a filter, for statements that begin with them. */
export interface MatchingDocuments {
  /** Table expressions `allowed` and `size`, to stand behind `WITH`. */
  readonly sql: string;
  /** True where the matching documents are few; `many` is the opposite. */
  readonly few: string;
  readonly many: string;
  /** Tests the document whose id is in a column. */
  readonly isMatch: (column: string) => string;
}

/**
 * The matching documents, as far as they are few. PostgreSQL runs only one of two branches that begin with `few` and `many`:
 * conditions without a column are tested once, before any row is read.
 *
 * @param limit number of chunks that are few.
 */
export function matchingDocuments(filter: Filter, limit: number, parameters: Parameters): MatchingDocuments {
  const found = filterSql(filter, "d.id", "find", parameters);
  return {
    sql: `allowed AS MATERIALIZED (
        SELECT d.id, d.chunk_count FROM documents d WHERE ${found} LIMIT ${limit + 1}),
      size AS MATERIALIZED (
        SELECT count(*) <= ${limit} AND coalesce(sum(chunk_count), 0) <= ${limit} AS few FROM allowed)`,
    few: "(SELECT few FROM size)",
    many: "NOT (SELECT few FROM size)",
    isMatch: (column: string) => filterSql(filter, column, "check", parameters),
  };
}
