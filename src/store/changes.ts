import type { Database, Statement } from "../sqlite/database.js";
import { decodeText, type StoredText } from "./stored-text.js";
import { decodeVector } from "./vectors.js";

/** How far a derived index has followed the store: 0 and 0 for an empty one. */
export interface Position {
  /** Highest label of a chunk that was taken over. */
  readonly label: number;
  /** Highest sequence of a removal that was taken over. */
  readonly removal: number;
}

export interface Removal {
  readonly sequence: number;
  readonly label: number;
}

export interface VectorRow {
  readonly label: number;
  readonly vector: Float32Array;
}

export interface TextRow {
  readonly label: number;
  readonly context: string;
  readonly text: string;
}

/** What happened to a store's chunks, in order, for indexes that are derived from it. */
export class Changes {
  readonly #head: Statement<[], Position>;
  readonly #removals: Statement<[number], Removal>;
  readonly #vectors: Statement<[number, number], { label: number; data: Buffer }>;
  readonly #vectorsBetween: Statement<[number, number], { label: number; data: Buffer }>;
  readonly #texts: Statement<[number, number], { label: number; context: StoredText; text: StoredText }>;
  readonly #count: Statement<[], { chunks: number }>;

  constructor(database: Database) {
    this.#head = database.prepare(`
      SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'chunks'), 0) AS label,
             coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'removals'), 0) AS removal`);
    this.#removals = database.prepare("SELECT sequence, label FROM removals WHERE sequence > ? ORDER BY sequence");
    this.#vectors = database.prepare(`
      SELECT label, data FROM chunks JOIN vectors ON vectors.id = chunks.vector
      WHERE label > ? ORDER BY label LIMIT ?`);
    this.#vectorsBetween = database.prepare(`
      SELECT label, data FROM chunks JOIN vectors ON vectors.id = chunks.vector
      WHERE label BETWEEN ? AND ? ORDER BY label`);
    this.#texts = database.prepare("SELECT label, context, text FROM chunks WHERE label > ? ORDER BY label LIMIT ?");
    this.#count = database.prepare("SELECT count(*) AS chunks FROM chunks");
  }

  /** Where an index stands that holds everything. */
  head(): Position {
    return this.#head.get()!;
  }

  chunkCount(): number {
    return this.#count.get()!.chunks;
  }

  removalsAfter(sequence: number): Removal[] {
    return this.#removals.all(sequence);
  }

  /** The next `limit` (-1: all) living chunks' vectors as they were written, by rising label, read as they are taken. */
  *vectorsAfter(label: number, limit: number): Generator<VectorRow> {
    for (const row of this.#vectors.iterate(label, limit)) yield { label: row.label, vector: decodeVector(row.data) };
  }

  /** The vectors of the living chunks from one label to another, both included, as they were written. */
  vectorsBetween(first: number, last: number): VectorRow[] {
    return this.#vectorsBetween.all(first, last).map(({ label, data }) => ({ label, vector: decodeVector(data) }));
  }

  textsAfter(label: number, limit: number): TextRow[] {
    return this.#texts.all(label, limit).map((row) => ({
      label: row.label,
      context: decodeText(row.context),
      text: decodeText(row.text),
    }));
  }
}
