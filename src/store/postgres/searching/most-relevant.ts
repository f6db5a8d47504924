import type { WeighedTerms } from "../../../text/words/terms.js";
import { filterSql, type Parameters } from "../filters/filter-sql.js";
import { type MatchingDocuments, matchingSql } from "./matching-documents.js";
import { type CollectionStatistics, type WordStatistics, writtenSql } from "./word-statistics.js";

export interface LexicalSearch {
  /** The words that are searched for, at least one, each with the number of times that it counts. */
  readonly words: WeighedTerms;
  /** Only chunks with all of these. */
  readonly required: readonly string[];
  readonly count: number;
  /** Statistics of the collection, by which a cluster is searched. Default: the search counts. */
  readonly statistics?: CollectionStatistics | undefined;
  /** Remembered counts, which may be outdated; used without `statistics`. Default: none. */
  readonly remembered?: WordStatistics | undefined;
}

const k1 = 1.2;
const b = 0.75;

/** Sums differ by the order of their terms, by far less than this. */
const rounded = (sum: string) => `round(${sum} * 1e9) / 1e9`;

/** An occurrence in a chunk of average length counts this share of its word's rarity. */
const likelyImpact = 1 / (1 + k1);

const impact = "r.rarity * p.frequency / (p.frequency + r.flat + r.per_length * p.length)";

/** The scores of chunks by their words, which are rows of `r`. */
const sumsOf = (also: string, score = `sum(${impact})`, r = "r") =>
  `SELECT p.document, p.chunk, ${score} AS score FROM ${r} JOIN postings p ON p.word = r.word COLLATE "C" ${also}`;

/** The scores of all chunks that have a word that is searched for, and all that are required. */
function scoresSql(
  words: string,
  required: readonly string[],
  also: string,
  parameters: Parameters,
  r?: string,
): string {
  const hasAll =
    required.length === 0
      ? ""
      : `HAVING count(*) FILTER (WHERE p.word = ANY(${parameters.add(required)}::text[])) = ${new Set(required).size}`;
  const where = `${also} AND p.word = ANY(${words}::text[])`;
  return `${sumsOf(where, rounded(`sum(${impact})`), r)} GROUP BY p.document, p.chunk ${hasAll}`;
}

/** Limits `postings` to a filter: begins with the matching documents where they are few. */
const within = (matching: MatchingDocuments | undefined, parameters: Parameters) =>
  !matching
    ? "WHERE true"
    : matching.areFew
      ? `JOIN ${matchingSql(matching, parameters)} a ON a.id = p.document WHERE true`
      : `WHERE ${filterSql(matching.filter, "p.document", "find", parameters)}`;

/** Which of those that rank alike are found must not depend on where they are stored. Citus drops WITH TIES on its nodes. */
const bestOf = (count: number) => `ORDER BY s.score DESC, s.document, s.chunk LIMIT ${count}`;

/**
 * The same query for a cluster, which gets the statistics, so that each node adds up its own chunks, and sends its best, for which
 * alone it looks up ids.
 */
function mostRelevantOnNodesSql(
  { words: asked, required, count }: LexicalSearch,
  { chunks, words: allWords, chunksWith }: CollectionStatistics,
  matching: MatchingDocuments | undefined,
  parameters: Parameters,
): string {
  const words = new Map([...required.map((word) => [word, 0] as const), ...asked]);
  const rarities = [...words].map(([word, weight]) => {
    const having = chunksWith.get(word) ?? 0;
    return weight * Math.log(1 + (chunks - having + 0.5) / (having + 0.5));
  });
  const given = parameters.add([...words.keys()]);
  const r = `(SELECT word, rarity, ${parameters.add(k1 * (1 - b))}::float8 AS flat,
      ${parameters.add((k1 * b * chunks) / Math.max(1, allWords))}::float8 AS per_length
    FROM unnest(${given}::text[], ${parameters.add(rarities)}::float8[]) AS q (word, rarity)) AS r`;
  const scores = scoresSql(given, required, within(matching, parameters), parameters, r);
  return `
    SELECT 'lexical' AS side, (SELECT c.id FROM chunks c WHERE c.document = s.document AND c.label = s.chunk) AS id, s.score
    FROM (${scores}) AS s ${bestOf(count)}`;
}

/**
 * A query for the best chunks by BM25, rows of `lexical` with id and score, as the embedded store computes it: `ln(1 + (N - n + 0.5) / (n +
 * 0.5)) * f / (f + k1 * (1 - b + b * length / average))`. N and n are those of all chunks, so that a score means the same
 * under any filter.
 *
 * On one server and without a filter it begins with the rarest words (`rare`), where the `rest` of the words, which adds less
 * than the sum of their rarities, is unlikely to matter. When the last of the `count` best chunks by the rarest words stands
 * above that sum, no other chunk can be among the best, and the frequent words are looked up only for chunks that can
 * (`least`). Otherwise all is added up.
 *
 * Rows of `counted`, with a word and the number of its chunks, and one of `written`, with the state that they hold in, are
 * there to be remembered.
 */
export function mostRelevantSql(
  search: LexicalSearch,
  matching: MatchingDocuments | undefined,
  parameters: Parameters,
): string {
  const { words: asked, required, count, statistics, remembered } = search;
  if (statistics) return mostRelevantOnNodesSql(search, statistics, matching, parameters);
  // A required word that is not searched for counts nothing.
  const words = new Map([...required.map((word) => [word, 0] as const), ...asked]);
  const given = parameters.add([...words.keys()]);
  const chunksWith = remembered?.chunksWith;
  const weighed = `unnest(${given}::text[], ${parameters.add([...words.values()])}::float8[],
    ${parameters.add([...words.keys()].map((word) => chunksWith?.get(word) ?? null))}::bigint[]) AS q (word, weight, chunks)`;
  const holds = () => `(SELECT written = ${parameters.add(remembered?.written ?? null)}::text FROM t)`;
  const counted = `SELECT word, weight, coalesce(CASE WHEN ${holds()} THEN chunks END,
    (SELECT count(*) FROM postings p WHERE p.word = q.word COLLATE "C"))::float8 AS n FROM ${weighed}`;
  const isWalked = matching !== undefined && !matching.areFew;
  const isRareFirst = !matching && required.length === 0;
  const inChunk = `(SELECT sum(${impact}) FROM r JOIN postings p ON p.word = r.word COLLATE "C"
    AND p.document = begun.document AND p.chunk = begun.chunk WHERE r.postings > (SELECT postings FROM rare))`;
  const scores = isRareFirst
    ? `rare AS MATERIALIZED (
         SELECT postings, rest FROM r WHERE postings >= ${2 * count} AND rest < rarity * ${likelyImpact}
         ORDER BY postings LIMIT 1),
       begun AS MATERIALIZED (${sumsOf("WHERE r.postings <= (SELECT postings FROM rare)")} GROUP BY p.document, p.chunk),
       least AS MATERIALIZED (
         SELECT score - rest - 1e-6 AS score FROM rare,
           LATERAL (SELECT score FROM begun ORDER BY score DESC OFFSET ${count - 1} LIMIT 1) AS last
         WHERE score > rest + 1e-6),
       scores AS (
         SELECT document, chunk, ${rounded("score")} AS score FROM (
           SELECT document, chunk, score + coalesce(${inChunk}, 0) AS score
           FROM begun WHERE score >= (SELECT score FROM least)
           UNION ALL
           ${sumsOf("WHERE NOT EXISTS (SELECT FROM least)")} GROUP BY p.document, p.chunk) AS s)`
    : `scores AS (${scoresSql(given, required, isWalked ? "WHERE true" : within(matching, parameters), parameters)})`;
  const found = isWalked
    ? `SELECT * FROM (SELECT * FROM scores ORDER BY score DESC OFFSET 0) s
       WHERE ${filterSql(matching.filter, "s.document", "check", parameters)} ${bestOf(count)}`
    : `SELECT * FROM scores s ${bestOf(count)}`;
  // Numbers are cast, since PostgreSQL takes those with a point for decimals, with which it computes slowly.
  return `
    WITH t AS MATERIALIZED (
      SELECT written, chunks, ${k1 * (1 - b)}::float8 AS flat, ${k1 * b}::float8 * chunks / greatest(1, words) AS per_length
      FROM (SELECT ${writtenSql} AS written, sum(chunks)::float8 AS chunks, sum(words)::float8 AS words FROM totals) AS sums),
    -- Apart, since otherwise PostgreSQL counts anew wherever an expression below says n, eight times in all.
    counted AS MATERIALIZED (${counted}),
    r AS MATERIALIZED (
      SELECT *, sum(n) OVER rarest AS postings, sum(rarity) OVER () - sum(rarity) OVER rarest AS rest
      FROM (
        SELECT word, n, weight * ln(1 + (t.chunks - n + 0.5::float8) / (n + 0.5::float8)) AS rarity, flat, per_length
        FROM counted, t) AS each
      WINDOW rarest AS (ORDER BY rarity DESC, word)),
    ${scores}
    (SELECT 'lexical' AS side, c.id, found.score FROM (${found}) found
       JOIN chunks c ON c.document = found.document AND c.label = found.chunk
     ORDER BY found.score DESC, c.id COLLATE "C" LIMIT ${count})
    UNION ALL SELECT 'counted', word, n FROM counted UNION ALL SELECT 'written', written, 0 FROM t`;
}
