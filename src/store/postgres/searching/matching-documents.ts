import type { Filter } from "../../../core/filter.js";
import { filterSql, type Parameters } from "../filters/filter-sql.js";

/**
 * Up to this many chunks of matching documents are all compared; beyond, the graph or the ranking is walked and each chunk
 * on the way is tested.
 */
export const maxCompared = 10_000;

/**
 * Where there is a graph, it is sooner walked than so large a share of all chunks compared, unless so many are wanted that
 * few of those on the way can be left out.
 */
const maxComparedShare = 1 / 20;
const maxComparedPerHit = 100;

/** The documents that match a filter, for statements that begin with them. */
export interface MatchingDocuments {
  /** Table expressions, to stand behind `WITH`: `allowed` with ids, and `size` with `few` and a number of `chunks`. */
  readonly sql: string;
  /** True where the matching documents are few; `many` is the opposite. */
  readonly few: string;
  readonly many: string;
  /** Tests the document whose id is in a column. */
  readonly isMatch: (column: string) => string;
}

export interface MatchingLimits {
  /** Maximum number of chunks that are few. */
  readonly maxCompared: number;
  /** Number of hits that are wanted. */
  readonly count: number;
}

/**
 * The matching documents, as far as they are few. PostgreSQL runs only one of two branches that begin with `few` and `many`:
 * conditions without a column are tested once, before any row is read.
 */
export function matchingDocuments(
  filter: Filter,
  { maxCompared: limit, count }: MatchingLimits,
  parameters: Parameters,
): MatchingDocuments {
  const found = filterSql(filter, "d.id", "find", parameters);
  const share = `coalesce(sum(chunks) * ${maxComparedShare}, 0)::bigint`;
  return {
    sql: `most AS MATERIALIZED (
        SELECT CASE WHEN to_regclass('embeddings_graph') IS NULL THEN ${limit}
          ELSE least(${limit}, greatest(${maxComparedPerHit * count}, ${share})) END AS chunks FROM totals),
      allowed AS MATERIALIZED (
        SELECT d.id, d.chunk_count FROM documents d WHERE ${found} LIMIT (SELECT chunks + 1 FROM most)),
      size AS MATERIALIZED (
        SELECT chunks, chunks <= (SELECT chunks FROM most) AS few
        FROM (SELECT greatest(count(*), sum(chunk_count), 0) AS chunks FROM allowed) AS counted)`,
    few: "(SELECT few FROM size)",
    many: "NOT (SELECT few FROM size)",
    isMatch: (column: string) => filterSql(filter, column, "check", parameters),
  };
}
