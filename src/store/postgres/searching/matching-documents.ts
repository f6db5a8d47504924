import type { Filter } from "../../../core/filter.js";
import { filterSql, Parameters } from "../filters/filter-sql.js";
import type { Session } from "../../../postgres/server.js";

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

/** A filter, and how a search best applies it. */
export interface MatchingDocuments {
  readonly filter: Filter;
  /** True: the search begins with the matching documents. False: it tests the chunks that it finds, best first. */
  readonly areFew: boolean;
}

/** The matching documents as a table expression with the column `id`. */
export function matchingSql({ filter }: MatchingDocuments, parameters: Parameters): string {
  return `(SELECT d.id FROM documents d WHERE ${filterSql(filter, "d.id", "find", parameters)})`;
}

export interface FilterUse {
  readonly filter: Filter;
  /** Number of requested hits. */
  readonly count: number;
  readonly isDistributed: boolean;
  /** Maximum number of chunks that count as few. */
  readonly maxCompared: number;
}

/** Maximum number of filters that are remembered, and for how long, in milliseconds. */
const maxRemembered = 1000;
const rememberedMs = 60_000;

/** Remembers which filters admit few documents: outdated, it costs a search some time, and no hit. */
export class FilterSizes {
  readonly #known = new Map<string, { readonly areFew: boolean; readonly until: number }>();

  async areFew(session: Session, use: FilterUse): Promise<boolean> {
    const key = JSON.stringify([use.filter, use.count, use.maxCompared]);
    const known = this.#known.get(key);
    if (known && known.until > performance.now()) return known.areFew;
    const areFew = await countFew(session, use);
    if (this.#known.size >= maxRemembered) this.#known.clear();
    this.#known.set(key, { areFew, until: performance.now() + rememberedMs });
    return areFew;
  }
}

async function countFew(session: Session, use: FilterUse): Promise<boolean> {
  const parameters = new Parameters();
  const share = `coalesce(sum(chunks) * ${maxComparedShare}, 0)::bigint`;
  // One server stops at the limit. On a cluster, each node adds up its own, since a limit would bring the rows together.
  const limit = use.isDistributed ? "" : "LIMIT (SELECT chunks + 1 FROM most)";
  const counted = use.isDistributed ? "documents d WHERE" : "(SELECT chunk_count FROM documents d WHERE";
  const [row] = await session.query<{ few: boolean }>(
    `WITH most AS MATERIALIZED (
       SELECT CASE WHEN to_regclass('embeddings_graph') IS NULL THEN ${use.maxCompared}
         ELSE least(${use.maxCompared}, greatest(${maxComparedPerHit * use.count}, ${share})) END AS chunks FROM totals),
     matching AS MATERIALIZED (
       SELECT greatest(count(*), coalesce(sum(chunk_count), 0)) AS chunks
       FROM ${counted} ${filterSql(use.filter, "d.id", "find", parameters)} ${use.isDistributed ? "" : `${limit}) AS d`})
     SELECT matching.chunks <= most.chunks AS few FROM matching, most`,
    parameters.values,
  );
  return row!.few;
}
