import type { Session } from "../../../postgres/server.js";
import { Parameters } from "../filters/filter-sql.js";
import type { MatchingDocuments } from "./matching-documents.js";
import { mostRelevantSql, type LexicalSearch } from "./most-relevant.js";
import { type DenseSearch, nearestSql } from "./nearest.js";
import type { WordCounts } from "./word-statistics.js";

/** A chunk that a search found, before it has a rank. */
export interface Scored {
  readonly id: string;
  readonly score: number;
}

/** One statement that searches by vector, by words, or by both. */
export interface SearchStatement {
  readonly dense?: DenseSearch;
  readonly lexical?: LexicalSearch;
  readonly matching?: MatchingDocuments | undefined;
}

export type Side = "dense" | "lexical";

/** Results of each side, best first. */
export type SearchResult = Readonly<Record<Side, readonly Scored[]>>;

/**
 * Runs one statement. Where the graph did not reach as many chunks as were wanted, a second one compares all: then they are so
 * few that it is quick, or it is rare enough.
 *
 * @param counts of words, which are used and brought up to date. Default: all are counted anew.
 * @returns also the state of the tables that were searched by words.
 */
export async function searchOnce(
  session: Session,
  statement: SearchStatement,
  counts?: WordCounts,
): Promise<SearchResult & { readonly written: string | undefined }> {
  const { dense, lexical, matching } = statement;
  const remembering = { ...statement, ...(lexical && { lexical: { ...lexical, remembered: counts?.latest } }) };
  const rows = await session.query<Scored & { readonly side: Side | "counted" | "written" }>(
    ...searchSql(remembering),
    // The plan of a filter depends on how much it lets through.
    { prepared: !matching },
  );
  const written = rows.find(({ side }) => side === "written")?.id;
  if (counts && written !== undefined) {
    const counted = rows.flatMap(({ side, id, score }) => (side === "counted" ? [[id, score] as const] : []));
    counts.remember({ written, chunksWith: new Map(counted) });
  }
  const near = rows.flatMap(({ side, id, score }) => (side === "dense" ? [{ id, score: -score }] : []));
  const isShort = dense && !dense.exact && !matching?.areFew && near.length < dense.count;
  return {
    dense: isShort
      ? (await searchOnce(session, { dense: { ...dense, exact: true }, matching })).dense
      : near.toSorted(bestFirst),
    lexical: rows.filter(({ side }) => side === "lexical").toSorted(bestFirst),
    written,
  };
}

function bestFirst(one: Scored, other: Scored): number {
  return other.score - one.score || Buffer.compare(Buffer.from(one.id), Buffer.from(other.id));
}

export function searchSql({ dense, lexical, matching }: SearchStatement): [text: string, values: unknown[]] {
  const parameters = new Parameters();
  const sides = [
    ...(dense ? [nearestSql(dense, matching, parameters)] : []),
    ...(lexical ? [mostRelevantSql(lexical, matching, parameters)] : []),
  ];
  const text = sides.length === 1 ? sides[0]! : sides.map((side) => `(${side})`).join(" UNION ALL ");
  return [text, parameters.values];
}
