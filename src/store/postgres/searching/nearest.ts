import { oneVector } from "../../../postgres/binary-parameters.js";
import { filterSql, type Parameters } from "../filters/filter-sql.js";
import { firstColumn, type Precision } from "../schema.js";
import { type MatchingDocuments, matchingSql } from "./matching-documents.js";

export interface DenseSearch {
  /** Unit vector. */
  readonly vector: Float32Array;
  readonly count: number;
  readonly precision: Precision;
  /** Column of the vectors. Default: that of a store that was never migrated. */
  readonly column?: string;
  /** True: compares all vectors, even with a graph. */
  readonly exact?: boolean;
}

/**
 * A query for the ids and distances of the nearest chunks, by the graph where there is one. Vectors have length 1, so that the
 * inner product is the cosine. It has one table, one order and one limit, all of which a cluster hands to its nodes.
 */
export function nearestSql(
  { vector, count, precision, column = firstColumn, exact = false }: DenseSearch,
  matching: MatchingDocuments | undefined,
  parameters: Parameters,
): string {
  const query = `${parameters.add(oneVector(vector))}::vector${precision === "halfvec" ? "::halfvec" : ""}`;
  // No index has this order, so that ids may decide among equals.
  const compared = exact || matching?.areFew;
  const distance = `(e.${column} <#> ${query})${compared ? " + 0" : ""}`;
  const from = !matching
    ? "embeddings e"
    : matching.areFew
      ? `${matchingSql(matching, parameters)} a JOIN embeddings e ON e.document = a.id`
      : `embeddings e WHERE ${filterSql(matching.filter, "e.document", "check", parameters)}`;
  // The limit is part of the text, so that a plan made for all vectors knows that few rows are needed.
  return `SELECT 'dense' AS side, e.id, ${distance} AS score FROM ${from} ORDER BY ${distance}${compared ? ", id" : ""} LIMIT ${count}`;
}
