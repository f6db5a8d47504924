import type { Hit } from "../types.js";

/** Documents of hits, best first: each once, where its best chunk stands. */
export function documentsOf(hits: readonly Pick<Hit, "uri">[]): readonly string[] {
  return [...new Set(hits.map(({ uri }) => uri))];
}

/** Most hits that one search gives. */
const mostHits = 1000;

/**
 * The first `count` documents for a query, by a search of chunks that is asked for more until so many documents are
 * among them, it has no more, or 1,000 chunks were looked at.
 */
export async function rankDocuments(
  search: (limit: number) => Promise<readonly Pick<Hit, "uri">[]>,
  count: number,
): Promise<readonly string[]> {
  for (let limit = Math.min(mostHits, 2 * count); ; limit = Math.min(mostHits, 2 * limit)) {
    const hits = await search(limit);
    const documents = documentsOf(hits);
    if (documents.length >= count || hits.length < limit || limit === mostHits) return documents.slice(0, count);
  }
}
