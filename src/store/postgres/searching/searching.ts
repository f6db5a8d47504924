import type { Filter } from "../../../core/filter.js";
import { oneVector } from "../columns/binary-parameters.js";
import { filterSql, Parameters } from "../filters/filter-sql.js";
import type { Session } from "../connection/server.js";

/** A chunk that a search found, before it has a rank. */
export interface Scored {
  readonly id: string;
  readonly score: number;
}

/**
 * Up to this many chunks of matching documents are all compared; beyond, the graph or the ranking is walked and each chunk
 * on the way is tested.
 */
const maxCompared = 10_000;

/**
 * Begins a statement with the matching documents, as far as they are few. PostgreSQL runs only one of two branches that
 * begin with `few` and `many`: conditions without a column are tested once, before any row is read.
 */
function matchingFirst(filter: Filter | undefined, parameters: Parameters) {
  if (!filter) return undefined;
  const limit = parameters.add(maxCompared);
  return {
    sql: `allowed AS MATERIALIZED (
        SELECT d.id, d.chunk_count FROM documents d
        WHERE ${filterSql(filter, "d.id", "find", parameters)} LIMIT ${limit}::integer + 1),
      size AS MATERIALIZED (
        SELECT count(*) <= ${limit} AND coalesce(sum(chunk_count), 0) <= ${limit} AS few FROM allowed)`,
    few: "(SELECT few FROM size)",
    many: "NOT (SELECT few FROM size)",
    isMatch: (column: string) => filterSql(filter, column, "check", parameters),
  };
}

export interface DenseSearch {
  readonly vector: Float32Array;
  readonly count: number;
  readonly filter: Filter | undefined;
  readonly precision: "vector" | "halfvec";
}

/** The nearest chunks by the graph, where there is one. Vectors have length 1, so that the inner product is the cosine. */
export async function nearest(session: Session, search: DenseSearch): Promise<Scored[]> {
  const found = await session.query<Scored>(...nearestSql(search, ""));
  // The graph may not reach all that match. If these are so few, comparing all is quick, or rare enough.
  return found.length >= search.count ? found : session.query<Scored>(...nearestSql(search, " + 0"));
}

/** @param noIndex makes the order one that no index has. */
export function nearestSql(
  { vector, count, filter, precision }: DenseSearch,
  noIndex: "" | " + 0",
): [text: string, values: unknown[]] {
  const parameters = new Parameters();
  const query = `${parameters.add(oneVector(vector))}::vector${precision === "halfvec" ? "::halfvec" : ""}`;
  const limit = `LIMIT ${parameters.add(count)}`;
  const distance = `(e.embedding <#> ${query})${noIndex}`;
  const matching = matchingFirst(filter, parameters);
  const near = (from: string) => `(SELECT e.label, ${distance} AS distance FROM ${from} ORDER BY ${distance} ${limit})`;
  const found = matching
    ? `${near(`allowed a JOIN embeddings e ON e.document = a.id WHERE ${matching.few}`)} UNION ALL
       ${near(`embeddings e WHERE ${matching.many} AND ${matching.isMatch("e.document")}`)}`
    : near("embeddings e");
  return [
    `${matching ? `WITH ${matching.sql}` : ""}
     SELECT c.id, -near.distance AS score FROM (${found}) near JOIN chunks c ON c.label = near.label
     ORDER BY near.distance, c.id COLLATE "C"`,
    parameters.values,
  ];
}

/** How often words occur, in one part of a collection or in all of it. */
export interface WordStatistics {
  readonly chunks: number;
  readonly words: number;
  /** Number of chunks with each word. */
  readonly chunksWith: ReadonlyMap<string, number>;
}

export async function wordStatistics(session: Session, words: readonly string[]): Promise<WordStatistics> {
  const rows = await session.query<{ word: string; chunks: number; words: number; with: number }>(
    `SELECT word, t.chunks, t.words, (SELECT count(*) FROM postings p WHERE p.word = w.word) AS with
     FROM (SELECT coalesce(sum(chunks), 0)::bigint AS chunks, coalesce(sum(words), 0)::bigint AS words FROM totals) t,
       unnest($1::text[]) AS w (word)`,
    [[...new Set(words)]],
  );
  const [first = { chunks: 0, words: 0 }] = rows;
  return {
    chunks: first.chunks,
    words: first.words,
    chunksWith: new Map(rows.map((row) => [row.word, row.with])),
  };
}

/** The statistics of a collection from those of its parts. */
export function addedUp(parts: readonly WordStatistics[]): WordStatistics {
  const chunksWith = new Map<string, number>();
  for (const part of parts) {
    for (const [word, chunks] of part.chunksWith) chunksWith.set(word, (chunksWith.get(word) ?? 0) + chunks);
  }
  const sum = (name: "chunks" | "words") => parts.reduce((total, part) => total + part[name], 0);
  return { chunks: sum("chunks"), words: sum("words"), chunksWith };
}

export async function totalChunks(session: Session): Promise<number> {
  const [total] = await session.query<{ chunks: number }>(
    "SELECT coalesce(sum(chunks), 0)::bigint AS chunks FROM totals",
  );
  return total!.chunks;
}

export interface LexicalSearch {
  /** The words that are searched for; one that occurs twice counts twice. */
  readonly words: readonly string[];
  /** Only chunks with all of these. */
  readonly required: readonly string[];
  readonly count: number;
  readonly filter: Filter | undefined;
  /** Those of the whole collection. Default: of this server. */
  readonly statistics?: WordStatistics | undefined;
}

/**
 * The best chunks by BM25, as the embedded store computes it: `ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + k1 * (1 - b + b
 * * length / average))`. N and n are those of all chunks, so that a score means the same under any filter.
 */
export async function mostRelevant(session: Session, search: LexicalSearch): Promise<Scored[]> {
  return search.words.length === 0 ? [] : session.query<Scored>(...mostRelevantSql(search));
}

const k1 = 1.2;
const b = 0.75;

export function mostRelevantSql({
  words,
  required,
  count,
  filter,
  statistics,
}: LexicalSearch): [text: string, values: unknown[]] {
  const parameters = new Parameters();
  const weights = new Map<string, number>();
  for (const word of words) weights.set(word, (weights.get(word) ?? 0) + 1);
  const given = [...weights.keys()];
  const asked = `unnest(${parameters.add(given)}::text[], ${parameters.add([...weights.values()])}::float8[],
    ${parameters.add(given.map((word) => statistics?.chunksWith.get(word) ?? null))}::bigint[])`;
  const limit = parameters.add(count);
  const matching = matchingFirst(filter, parameters);
  // Sums differ by the order of their terms, by far less than this.
  const score = `round(sum(r.rarity * p.frequency / (p.frequency + t.flat + t.per_length * p.length)) * 1e9) / 1e9`;
  // With those that rank alike, of which the ids decide: which are found must not depend on where they are stored.
  const best = `ORDER BY s.score DESC FETCH FIRST ${limit} ROWS WITH TIES`;
  const found = matching
    ? `(SELECT s.chunk, s.score FROM scores s JOIN chunks c ON c.label = s.chunk JOIN allowed a ON a.id = c.document
        WHERE ${matching.few} ${best})
       UNION ALL
       (SELECT s.chunk, s.score FROM (SELECT * FROM scores WHERE ${matching.many} ORDER BY score DESC OFFSET 0) s
        WHERE (SELECT ${matching.isMatch("c.document")} FROM chunks c WHERE c.label = s.chunk) ${best})`
    : `SELECT * FROM scores s ${best}`;
  const withAll =
    required.length === 0
      ? ""
      : `HAVING p.chunk IN (SELECT chunk FROM postings WHERE word = ANY(${parameters.add(required)}::text[])
           GROUP BY chunk HAVING count(*) = ${parameters.add(new Set(required).size)})`;
  return [
    `WITH ${matching ? `${matching.sql},` : ""}
     p AS MATERIALIZED (
       SELECT q.word, q.weight, q.chunks, p.chunk, p.frequency, p.length
       FROM ${asked} AS q (word, weight, chunks) JOIN postings p ON p.word = q.word COLLATE "C"),
     t AS MATERIALIZED (
       SELECT chunks, ${k1 * (1 - b)} AS flat, ${k1 * b}::float8 * chunks / greatest(1, words) AS per_length
       FROM (SELECT coalesce(${parameters.add(statistics?.chunks ?? null)}::float8, sum(chunks)::float8) AS chunks,
               coalesce(${parameters.add(statistics?.words ?? null)}::float8, sum(words)::float8) AS words FROM totals) AS sums),
     r AS MATERIALIZED (
       SELECT word, weight * ln(1 + (t.chunks - n + 0.5) / (n + 0.5)) AS rarity
       FROM (SELECT word, weight, coalesce(chunks, count(*))::float8 AS n FROM p GROUP BY word, weight, chunks) AS c, t),
     scores AS MATERIALIZED (
       SELECT p.chunk, ${score} AS score FROM p JOIN r ON r.word = p.word, t GROUP BY p.chunk ${withAll})
     SELECT c.id, found.score FROM (${found}) found JOIN chunks c ON c.label = found.chunk
     ORDER BY found.score DESC, c.id COLLATE "C" LIMIT ${limit}`,
    parameters.values,
  ];
}
