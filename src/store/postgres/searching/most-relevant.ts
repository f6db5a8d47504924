import type { Parameters } from "../filters/filter-sql.js";
import type { MatchingDocuments } from "./matching-documents.js";
import { type RememberedCounts, type WordStatistics, writtenSql } from "./word-statistics.js";

export interface LexicalSearch {
  /** The words that are searched for, at least one; one that occurs twice counts twice. */
  readonly words: readonly string[];
  /** Only chunks with all of these. */
  readonly required: readonly string[];
  readonly count: number;
  /** Those of the whole collection. Default: of this server. */
  readonly statistics?: WordStatistics | undefined;
  /** Numbers of this server that may hold still, where there are no `statistics`. Default: none. */
  readonly remembered?: RememberedCounts | undefined;
}

const k1 = 1.2;
const b = 0.75;

/** Sums differ by the order of their terms, by far less than this. */
const rounded = (sum: string) => `round(${sum} * 1e9) / 1e9`;

/** An occurrence in a chunk of average length counts this share of its word's rarity. */
const likelyImpact = 1 / (1 + k1);

/**
 * A query for the best chunks by BM25, rows of `lexical` with id and score, as the embedded store computes it: `ln(1 + (N - n + 0.5) / (n +
 * 0.5)) * f / (f + k1 * (1 - b + b * length / average))`. N and n are those of all chunks, so that a score means the same
 * under any filter.
 *
 * Without a filter it begins with the rarest words (`rare`), where the `rest` of the words, which adds less than the sum of
 * their rarities, is unlikely to matter. When the last of the `count` best chunks by the rarest words stands above that sum,
 * no other chunk can be among the best, and the frequent words are looked up only for chunks that can (`least`). Otherwise
 * all is added up. With a filter that admits few chunks, the words are looked up for each of these.
 *
 * Rows of `counted`, with a word and the number of its chunks, and one of `written`, with the state that they hold in, are
 * there to be remembered.
 */
export function mostRelevantSql(
  { words, required, count, statistics, remembered }: LexicalSearch,
  matching: MatchingDocuments | undefined,
  parameters: Parameters,
): string {
  const weights = new Map<string, number>();
  for (const word of words) weights.set(word, (weights.get(word) ?? 0) + 1);
  const given = [...weights.keys()];
  const asked = `unnest(${parameters.add(given)}::text[], ${parameters.add([...weights.values()])}::float8[],
    ${parameters.add(given.map((word) => (statistics ?? remembered)?.chunksWith.get(word) ?? null))}::bigint[])`;
  const holds = `(${parameters.add(statistics !== undefined)}::boolean
    OR (SELECT written = ${parameters.add(remembered?.written ?? null)}::text FROM t))`;
  const impact = "r.rarity * p.frequency / (p.frequency + r.flat + r.per_length * p.length)";
  // With those that rank alike, of which the ids decide: which are found must not depend on where they are stored.
  const best = `ORDER BY s.score DESC FETCH FIRST ${count} ROWS WITH TIES`;
  const named = required.length > 0 && `${parameters.add(required)}::text[]`;
  const hasAll = (chunk: string) =>
    named
      ? `(SELECT count(*) FROM postings WHERE word = ANY(${named}) AND chunk = ${chunk}) = ${new Set(required).size}`
      : "true";
  const inChunk = (chunk: string, condition = "true") => `(SELECT sum(${impact}) FROM r
    JOIN postings p ON p.word = r.word COLLATE "C" AND p.chunk = ${chunk} WHERE ${condition})`;
  const sums = `SELECT p.chunk, sum(${impact}) AS score FROM r JOIN postings p ON p.word = r.word COLLATE "C"`;
  const all = `scores AS (
    SELECT chunk, ${rounded("score")} AS score FROM (${sums} GROUP BY p.chunk) AS s WHERE ${hasAll("chunk")})`;
  const found = matching
    ? admittedSql(matching, given.length, best, { inChunk, hasAll })
    : `SELECT * FROM scores s ${best}`;
  const scores =
    matching || required.length > 0
      ? all
      : `rare AS MATERIALIZED (
           SELECT postings, rest FROM r WHERE postings >= ${2 * count} AND rest < rarity * ${likelyImpact}
           ORDER BY postings LIMIT 1),
         begun AS MATERIALIZED (${sums} WHERE r.postings <= (SELECT postings FROM rare) GROUP BY p.chunk),
         least AS MATERIALIZED (
           SELECT score - rest - 1e-6 AS score FROM rare,
             LATERAL (SELECT score FROM begun ORDER BY score DESC OFFSET ${count - 1} LIMIT 1) AS last
           WHERE score > rest + 1e-6),
         scores AS (
           SELECT chunk, ${rounded("score")} AS score FROM (
             SELECT chunk, score + coalesce(${inChunk("begun.chunk", "r.postings > (SELECT postings FROM rare)")}, 0) AS score
             FROM begun WHERE score >= (SELECT score FROM least)
             UNION ALL
             ${sums} WHERE NOT EXISTS (SELECT FROM least) GROUP BY p.chunk) AS s)`;
  // Numbers are cast, since PostgreSQL takes those with a point for decimals, with which it computes slowly.
  return `
    WITH t AS MATERIALIZED (
      SELECT written, chunks, ${k1 * (1 - b)}::float8 AS flat, ${k1 * b}::float8 * chunks / greatest(1, words) AS per_length
      FROM (SELECT ${writtenSql} AS written, coalesce(${parameters.add(statistics?.chunks ?? null)}::float8, sum(chunks)::float8) AS chunks,
              coalesce(${parameters.add(statistics?.words ?? null)}::float8, sum(words)::float8) AS words FROM totals) AS sums),
    -- Apart, since otherwise PostgreSQL counts anew wherever an expression below says n, eight times in all.
    counted AS MATERIALIZED (
      SELECT word, weight, coalesce(CASE WHEN ${holds} THEN chunks END,
        (SELECT count(*) FROM postings p WHERE p.word = q.word COLLATE "C"))::float8 AS n
      FROM ${asked} AS q (word, weight, chunks)),
    r AS MATERIALIZED (
      SELECT *, sum(n) OVER rarest AS postings, sum(rarity) OVER () - sum(rarity) OVER rarest AS rest
      FROM (
        SELECT word, n, weight * ln(1 + (t.chunks - n + 0.5::float8) / (n + 0.5::float8)) AS rarity, flat, per_length
        FROM counted, t) AS each
      WINDOW rarest AS (ORDER BY rarity DESC, word)),
    ${scores}
    (SELECT 'lexical' AS side, c.id, found.score FROM (${found}) found JOIN chunks c ON c.label = found.chunk
     ORDER BY found.score DESC, c.id COLLATE "C" LIMIT ${count})
    UNION ALL SELECT 'counted', word, n FROM counted UNION ALL SELECT 'written', written, 0 FROM t`;
}

/**
 * The best that a filter admits: the words are looked up for each chunk that it admits where these are fewer than the
 * occurrences of the words; otherwise all chunks with the words are tested, best first.
 */
function admittedSql(
  matching: MatchingDocuments,
  words: number,
  best: string,
  { inChunk, hasAll }: Readonly<Record<"inChunk" | "hasAll", (chunk: string) => string>>,
): string {
  const isFew = `(SELECT few AND chunks * ${words} < (SELECT max(postings) FROM r) FROM size)`;
  return `
    (SELECT s.chunk, s.score FROM (
       SELECT c.label AS chunk, ${rounded(inChunk("c.label"))} AS score
       FROM allowed a JOIN chunks c ON c.document = a.id WHERE ${isFew} AND ${hasAll("c.label")}) AS s
     WHERE s.score IS NOT NULL ${best})
    UNION ALL
    (SELECT s.chunk, s.score FROM (SELECT * FROM scores WHERE NOT ${isFew} ORDER BY score DESC OFFSET 0) s
     WHERE (SELECT ${matching.isMatch("c.document")} FROM chunks c WHERE c.label = s.chunk) ${best})`;
}
