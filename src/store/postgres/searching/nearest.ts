import { oneVector } from "../columns/binary-parameters.js";
import type { Parameters } from "../filters/filter-sql.js";
import type { Precision } from "../schema.js";
import type { MatchingDocuments } from "./matching-documents.js";

export interface DenseSearch {
  /** Of length 1. */
  readonly vector: Float32Array;
  readonly count: number;
  readonly precision: Precision;
  /** True: all are compared, whatever graph there is. */
  readonly exact?: boolean;
}

/**
 * A query for the ids and scores of the nearest chunks by the graph, where there is one. Vectors have length 1, so that the
 * inner product is the cosine. Where the graph does not reach as many as are wanted, all are compared in the same statement:
 * then they are so few that it is quick, or it is rare enough.
 */
export function nearestSql(
  { vector, count, precision, exact = false }: DenseSearch,
  matching: MatchingDocuments | undefined,
  parameters: Parameters,
): string {
  const query = `${parameters.add(oneVector(vector))}::vector${precision === "halfvec" ? "::halfvec" : ""}`;
  const near = (from: string, noIndex: "" | " + 0" = "") => {
    const distance = `(e.embedding <#> ${query})${noIndex}`;
    // The limit is part of the text, so that a plan made for all vectors knows that few rows are wanted.
    return `SELECT e.label, ${distance} AS distance FROM ${from} ORDER BY ${distance} LIMIT ${count}`;
  };
  const [few, many, isMatch] = matching
    ? [matching.few, matching.many, () => `AND ${matching.isMatch("e.document")}`]
    : ["false", "true", () => ""];
  const reached = `(SELECT count(*) FROM graph) >= ${count}`;
  return `
    WITH graph AS MATERIALIZED (${near(`embeddings e WHERE ${many} ${isMatch()}`, exact ? " + 0" : "")}),
    near AS (
      SELECT * FROM graph WHERE ${reached}
      UNION ALL (${near(`embeddings e WHERE ${many} AND NOT ${reached} ${isMatch()}`, " + 0")})
      ${matching ? `UNION ALL (${near(`allowed a JOIN embeddings e ON e.document = a.id WHERE ${few}`, " + 0")})` : ""})
    SELECT c.id, -near.distance AS score FROM near JOIN chunks c ON c.label = near.label`;
}
