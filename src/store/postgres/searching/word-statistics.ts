import type { Session } from "../../../postgres/server.js";

/** How often words occur in a collection. */
export interface WordStatistics {
  /** State of the tables that the counts hold for. */
  readonly written: string;
  /** Number of chunks with each word. */
  readonly chunksWith: ReadonlyMap<string, number>;
}

/** Statistics by which a cluster is searched, with the numbers of all chunks and of all their words. */
export interface CollectionStatistics extends WordStatistics {
  readonly chunks: number;
  readonly words: number;
}

/**
 * The state of the tables: each write that changes the words of a collection leaves a row of totals with its transaction's
 * number, which only grows. To stand where `totals` is read.
 */
export const writtenSql = "count(*) || ' ' || coalesce(sum(xmin::text::bigint), 0)";

/** Maximum number of words whose counts are remembered. */
const maxWords = 10_000;

/** Remembers how many chunks have a word until somebody writes, so that frequent words are not counted with each search. */
export class WordCounts {
  #written = "";
  #totals: { readonly chunks: number; readonly words: number } | undefined;
  #chunksWith = new Map<string, number>();

  get latest(): WordStatistics {
    return { written: this.#written, chunksWith: this.#chunksWith };
  }

  remember({ written, chunksWith, chunks, words }: WordStatistics & Partial<CollectionStatistics>): void {
    if (written !== this.#written || this.#chunksWith.size > maxWords) this.#chunksWith = new Map();
    this.#written = written;
    this.#totals = chunks === undefined || words === undefined ? undefined : { chunks, words };
    for (const [word, count] of chunksWith) this.#chunksWith.set(word, count);
  }

  /** The statistics, as far as they are known for all of these words. */
  statistics(words: readonly string[]): CollectionStatistics | undefined {
    const isKnown = this.#totals && words.every((word) => this.#chunksWith.has(word));
    return isKnown ? { ...this.latest, ...this.#totals! } : undefined;
  }
}

/** Counts words on all nodes of a cluster. */
export async function wordStatistics(session: Session, words: readonly string[]): Promise<CollectionStatistics> {
  const rows = await session.query<{ word: string; with: number } & Omit<CollectionStatistics, "chunksWith">>(
    `SELECT word, t.*, coalesce(counted.chunks, 0) AS with
     FROM (SELECT ${writtenSql} AS written, coalesce(sum(chunks), 0)::bigint AS chunks, coalesce(sum(words), 0)::bigint AS words
           FROM totals) AS t,
       unnest($1::text[]) AS w (word)
     LEFT JOIN (SELECT word, count(*) AS chunks FROM postings WHERE word = ANY($1::text[]) GROUP BY word) AS counted USING (word)`,
    [[...new Set(words)]],
  );
  const { written, chunks, words: all } = rows[0]!;
  return { written, chunks, words: all, chunksWith: new Map(rows.map((row) => [row.word, row.with])) };
}

/** The state that the tables are in now. */
export async function writtenNow(session: Session): Promise<string> {
  const [found] = await session.query<{ written: string }>(`SELECT ${writtenSql} AS written FROM totals`);
  return found!.written;
}

export async function totalChunks(session: Session): Promise<number> {
  const [total] = await session.query<{ chunks: number }>(
    "SELECT coalesce(sum(chunks), 0)::bigint AS chunks FROM totals",
  );
  return total!.chunks;
}
