import type { StoreSizes } from "../../core/ports.js";
import type { Session } from "../../postgres/server.js";

/** Tables that are made of the documents, chunks and vectors: for searches, as the files of a folder's indexes are. */
const derived = ["embeddings", "postings", "fields", "totals"];
const conversations = ["conversations", "exchanges", "approvals"];

/**
 * The sizes of a store's tables with their indexes. The server knows how long each of its files is, so that no row is read.
 *
 * @param schema without quotes.
 */
export async function readSizes(session: Session, schema: string, isDistributed: boolean): Promise<StoreSizes> {
  // The coordinator itself has no rows of a distributed table. Citus refuses to measure others.
  const isSpread = "EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = c.oid)";
  const size = (kind: "table" | "total_relation") =>
    isDistributed
      ? `CASE WHEN ${isSpread} THEN citus_${kind}_size(c.oid) ELSE pg_${kind}_size(c.oid) END`
      : `pg_${kind}_size(c.oid)`;
  const [found] = await session.query<StoreSizes>(
    `SELECT
       coalesce(sum(rows) FILTER (WHERE kind = 'database'), 0)::bigint AS "databaseBytes",
       coalesce(sum(CASE kind WHEN 'database' THEN total - rows WHEN 'derived' THEN total END), 0)::bigint AS "indexBytes",
       coalesce(sum(total) FILTER (WHERE kind = 'conversations'), 0)::bigint AS "conversationBytes",
       coalesce(sum(total) FILTER (WHERE kind = 'other'), 0)::bigint AS "otherGenerationBytes"
     FROM (SELECT ${size("table")} AS rows, ${size("total_relation")} AS total,
         CASE WHEN nspname <> $1 THEN 'other'
           WHEN relname = ANY ($2) THEN 'derived'
           WHEN relname = ANY ($3) THEN 'conversations'
           ELSE 'database' END AS kind
       FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace
       WHERE relkind IN ('r', 'p') AND nspname IN ($1, $1 || '_previous', $1 || '_next')) AS tables`,
    [schema, derived, conversations],
  );
  return found!;
}
