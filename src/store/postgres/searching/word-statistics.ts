import type { Session } from "../connection/server.js";

/** How often words occur, in one part of a collection or in all of it. */
export interface WordStatistics {
  readonly chunks: number;
  readonly words: number;
  /** Number of chunks with each word. */
  readonly chunksWith: ReadonlyMap<string, number>;
  /** The state of the tables that this holds for; of several servers one after another. */
  readonly written: string;
}

/** Numbers of chunks with words, and the state of the tables in which they were counted. */
export interface RememberedCounts {
  readonly written: string;
  readonly chunksWith: ReadonlyMap<string, number>;
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
  #chunksWith = new Map<string, number>();
  /** Totals over all servers, without the numbers of chunks with a word. */
  #totals: Pick<WordStatistics, "chunks" | "words"> | undefined;

  get latest(): RememberedCounts {
    return { written: this.#written, chunksWith: this.#chunksWith };
  }

  remember({ written, chunksWith }: RememberedCounts): void {
    if (written !== this.#written || this.#chunksWith.size > maxWords) this.#chunksWith = new Map();
    this.#written = written;
    for (const [word, chunks] of chunksWith) this.#chunksWith.set(word, chunks);
  }

  /** The statistics of several servers, as far as they are known for all of these words. */
  statistics(words: readonly string[]): WordStatistics | undefined {
    if (!this.#totals || !words.every((word) => this.#chunksWith.has(word))) return undefined;
    return { ...this.#totals, ...this.latest };
  }

  rememberStatistics(statistics: WordStatistics): void {
    this.remember(statistics);
    this.#totals = { chunks: statistics.chunks, words: statistics.words };
  }
}

export async function wordStatistics(session: Session, words: readonly string[]): Promise<WordStatistics> {
  const rows = await session.query<{ word: string; chunks: number; words: number; written: string; with: number }>(
    `SELECT word, t.chunks, t.words, t.written, (SELECT count(*) FROM postings p WHERE p.word = w.word) AS with
     FROM (SELECT coalesce(sum(chunks), 0)::bigint AS chunks, coalesce(sum(words), 0)::bigint AS words,
         ${writtenSql} AS written FROM totals) t,
       unnest($1::text[]) AS w (word)`,
    [[...new Set(words)]],
  );
  const { chunks, words: total, written } = rows[0] ?? { chunks: 0, words: 0, written: "" };
  return {
    chunks,
    words: total,
    written,
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
  return { chunks: sum("chunks"), words: sum("words"), chunksWith, written: statesOf(parts) };
}

/** The state of several servers. */
export function statesOf(parts: readonly { readonly written?: string | undefined }[]): string {
  return parts.map(({ written }) => written).join();
}

export async function totalChunks(session: Session): Promise<number> {
  const [total] = await session.query<{ chunks: number }>(
    "SELECT coalesce(sum(chunks), 0)::bigint AS chunks FROM totals",
  );
  return total!.chunks;
}
