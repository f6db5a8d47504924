import type { Filter } from "../../../core/filter.js";
import { isStem, type NearStems, nearestStems } from "../../../text/words/similar-words.js";
import type { Session } from "../../../postgres/server.js";
import { filterSql, Parameters } from "../filters/filter-sql.js";

export interface SimilarStemsSearch {
  readonly count: number;
  readonly filter: Filter | undefined;
  readonly isDistributed: boolean;
}

/** The stems nearest to a typed word that chunks have, in the order of the embedded store. */
export async function similarStems(
  session: Session,
  { beginnings, minLength, maxLength, slipsTo }: NearStems,
  { count, filter, isDistributed }: SimilarStemsSearch,
): Promise<readonly string[]> {
  if (beginnings.length === 0) return [];
  const words = await session.query<{ word: string }>(
    `${isDistributed ? wordsOfNodes : wordsOfServer} HAVING char_length(word) BETWEEN $3 AND $4`,
    [beginnings, beginnings.map(endOf), minLength, maxLength],
  );
  const slips = new Map(
    words.flatMap(({ word }) => {
      const found = isStem(word) ? slipsTo(word) : undefined;
      return found === undefined ? [] : [[word, found] as const];
    }),
  );
  if (slips.size === 0) return [];
  const rows = await session.query<{ word: string; chunks: number }>(
    "SELECT word, count(*) AS chunks FROM postings WHERE word = ANY($1::text[]) GROUP BY word",
    [[...slips.keys()]],
  );
  const near = nearestStems(
    rows.map(({ word, chunks }) => ({ stem: word, slips: slips.get(word)!, chunks })),
    filter ? Infinity : count,
  );
  if (!filter) return near;
  const parameters = new Parameters();
  const admitted = await session.query<{ word: string }>(
    `SELECT p.word FROM postings p WHERE p.word = ANY(${parameters.add(near)}::text[])
       AND ${filterSql(filter, "p.document", "find", parameters)} GROUP BY p.word`,
    parameters.values,
  );
  const visible = new Set(admitted.map(({ word }) => word));
  return near.filter((word) => visible.has(word)).slice(0, count);
}

/** From word to word in the index of postings: reading all postings of words that begin so would take far longer. */
const wordsOfServer = `
  WITH RECURSIVE walked AS (
    SELECT b.last COLLATE "C" AS last,
      (SELECT min(p.word) FROM postings p WHERE p.word >= b.first COLLATE "C" AND p.word < b.last COLLATE "C") AS word
    FROM unnest($1::text[], $2::text[]) AS b (first, last)
    UNION ALL
    SELECT last, (SELECT min(p.word) FROM postings p WHERE p.word > w.word AND p.word < w.last) FROM walked w WHERE word IS NOT NULL)
  SELECT word FROM walked GROUP BY word`;

/** A cluster takes no recursion: each node reads its postings. */
const wordsOfNodes = `
  SELECT word FROM postings JOIN unnest($1::text[], $2::text[]) AS b (first, last)
    ON word >= b.first COLLATE "C" AND word < b.last COLLATE "C"
  GROUP BY word`;

/** The first text that is behind all that begin so. */
function endOf(beginning: string): string {
  return beginning.slice(0, -1) + String.fromCharCode(beginning.charCodeAt(beginning.length - 1) + 1);
}
