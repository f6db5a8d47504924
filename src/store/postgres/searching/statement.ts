import type { Filter } from "../../../core/filter.js";
import type { Session } from "../connection/server.js";
import { Parameters } from "../filters/filter-sql.js";
import { matchingDocuments, maxCompared } from "./matching-documents.js";
import { mostRelevantSql, type LexicalSearch } from "./most-relevant.js";
import { type DenseSearch, nearestSql } from "./nearest.js";
import type { WordCounts } from "./word-statistics.js";

/** A chunk that a search found, before it has a rank. */
export interface Scored {
  readonly id: string;
  readonly score: number;
}

/** By vector, by words, or by both in one statement. */
export interface SearchStatement {
  readonly dense?: DenseSearch;
  readonly lexical?: LexicalSearch;
  readonly filter?: Filter | undefined;
  /** No more chunks of matching documents than this are all compared. Default: 10,000. */
  readonly maxCompared?: number;
}

export type Side = "dense" | "lexical";

/** What each side found, best first. */
export type SearchResult = Readonly<Record<Side, readonly Scored[]>>;

/** The result of one server, and the state of its tables where it was searched by words. */
export type ServerResult = SearchResult & { readonly written: string | undefined };

/**
 * Searches one server, in one round trip.
 *
 * @param counts of the words of this server, which are used and brought up to date. Default: all are counted anew.
 */
export async function searchServer(
  session: Session,
  statement: SearchStatement,
  counts?: WordCounts,
): Promise<ServerResult> {
  const { lexical, filter } = statement;
  const remembering = { ...statement, ...(lexical && { lexical: { ...lexical, remembered: counts?.latest } }) };
  const rows = await session.query<Scored & { readonly side: Side | "counted" | "written" }>(
    ...searchSql(remembering),
    // The plan of a filter depends on how much it lets through.
    { prepared: !filter },
  );
  const found = (wanted: Side) => rows.filter(({ side }) => side === wanted);
  const written = rows.find(({ side }) => side === "written")?.id;
  if (counts && written !== undefined) {
    const counted = rows.flatMap(({ side, id, score }) => (side === "counted" ? [[id, score] as const] : []));
    counts.remember({ written, chunksWith: new Map(counted) });
  }
  return { dense: found("dense"), lexical: found("lexical"), written };
}

export function searchSql({
  dense,
  lexical,
  filter,
  maxCompared: most = maxCompared,
}: SearchStatement): [text: string, values: unknown[]] {
  const parameters = new Parameters();
  const count = Math.max(dense?.count ?? 0, lexical?.count ?? 0);
  const matching = filter && matchingDocuments(filter, { maxCompared: most, count }, parameters);
  const sides = [
    ...(dense ? [`SELECT 'dense' AS side, * FROM (${nearestSql(dense, matching, parameters)}) AS dense`] : []),
    ...(lexical ? [`SELECT * FROM (${mostRelevantSql(lexical, matching, parameters)}) AS lexical`] : []),
  ];
  return [
    `${matching ? `WITH ${matching.sql}` : ""}
     SELECT side, id, score FROM (${sides.join(" UNION ALL ")}) AS found ORDER BY side, score DESC, id COLLATE "C"`,
    parameters.values,
  ];
}
