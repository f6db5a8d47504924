import { MessageChannel, type MessagePort } from "node:worker_threads";
import type { Database } from "../../sqlite/database.js";
import { decodeText, decodeVector, type StoredText } from "../database/columns.js";
import { Texts } from "../database/texts.js";

/** How far a derived index has read the store's changes: 0 and 0 for an empty one. */
export interface Position {
  /** Highest label of a chunk that was read. */
  readonly label: number;
  /** Highest sequence of a removal that was read. */
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

/** A vector in the form of its column. */
export interface StoredVectorRow {
  readonly label: number;
  readonly data: Buffer;
}

/** A vector within a buffer of several, in the form of its column. */
export interface JoinedVectorRow extends StoredVectorRow {
  readonly start: number;
  readonly end: number;
}

export interface TextRow {
  readonly label: number;
  /** Uri of its document. */
  readonly documentId: string;
  readonly context: string;
  readonly text: string;
}

const statements = (database: Database) => ({
  head: database.prepare<[], Position>(`
    SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'chunks'), 0) AS label,
           coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'removals'), 0) AS removal`),
  removals: database.prepare<[number], Removal>(
    "SELECT sequence, label FROM removals WHERE sequence > ? ORDER BY sequence",
  ),
  vectorsAfter: database.prepare<[number, number], StoredVectorRow>(`
    SELECT label, data FROM chunks JOIN vectors ON vectors.id = chunks.vector WHERE label > ? ORDER BY label LIMIT ?`),
  // One row for many vectors: a buffer for each would be most of the work of reading them, and of the garbage.
  joinedVectorsAfter: database.prepare<[number, number], { labels: string | null; lengths: string; data: Buffer }>(`
    SELECT group_concat(label) AS labels, group_concat(length(data)) AS lengths, CAST(group_concat(data, '') AS BLOB) AS data
    FROM (SELECT label, data FROM chunks JOIN vectors ON vectors.id = chunks.vector WHERE label > ? ORDER BY label LIMIT ?)`),
  vectorsBetween: database.prepare<[number, number], StoredVectorRow>(`
    SELECT label, data FROM chunks JOIN vectors ON vectors.id = chunks.vector
    WHERE label BETWEEN ? AND ? ORDER BY label`),
  // The labels as a JSON array. One statement takes one snapshot, where one for each label would take and release as many.
  vectorsOf: database.prepare<[string], StoredVectorRow>(`
    SELECT label, data FROM json_each(?) AS wanted
    CROSS JOIN chunks ON label = wanted.value CROSS JOIN vectors ON vectors.id = chunks.vector`),
  chunks: database.prepare<
    [number, number],
    { label: number; document: number; uri: string; start: number; end: number; context: StoredText }
  >(`
    SELECT label, document, uri, start, "end", context FROM chunks CROSS JOIN documents ON documents.id = document
    WHERE label > ? ORDER BY label LIMIT ?`),
  count: database.prepare<[], { chunks: number }>("SELECT count(*) AS chunks FROM chunks"),
});

/** Reads the log of a store's changes, in order: chunks that were added, and removals. */
export class Changes {
  readonly #sql: ReturnType<typeof statements>;
  readonly #texts: Texts;
  readonly #database: Database;
  /** A buffer transferred to a closed port is freed at once. */
  readonly #closedPort = closedPort();

  constructor(database: Database) {
    this.#sql = statements(database);
    this.#texts = new Texts(database);
    this.#database = database;
  }

  /** The position of an index that holds everything. */
  head(): Position {
    return this.#sql.head.get()!;
  }

  chunkCount(): number {
    return this.#sql.count.get()!.chunks;
  }

  removalsAfter(sequence: number): Removal[] {
    return this.#sql.removals.all(sequence);
  }

  /** Vectors as written of the next `limit` (-1: all) chunks that still exist, by ascending label, read lazily. */
  *vectorsAfter(label: number, limit: number): Generator<VectorRow> {
    for (const row of this.#sql.vectorsAfter.iterate(label, limit))
      yield { label: row.label, vector: decodeVector(row.data) };
  }

  /** The same in the form of their column, and read at once. */
  *storedVectorsAfter(label: number, limit: number): Generator<JoinedVectorRow> {
    const { labels, lengths, data } = this.#sql.joinedVectorsAfter.get(label, limit)!;
    if (labels === null) return;
    const sizes = lengths.split(",");
    let end = 0;
    for (const [index, digits] of labels.split(",").entries()) {
      const start = end;
      end += Number(sizes[index]);
      yield { label: Number(digits), data, start, end };
    }
  }

  /** Vectors as written of the chunks that still exist, from label `first` to label `last`, inclusive. */
  vectorsBetween(first: number, last: number): VectorRow[] {
    return this.#sql.vectorsBetween.all(first, last).map(({ label, data }) => ({ label, vector: decodeVector(data) }));
  }

  /**
   * Calls `use` with the vectors, as written, of the labels whose chunks still exist. Each is emptied afterwards:
   * V8 would collect them only at tens of megabytes, which stay with the process.
   */
  eachVectorOf(labels: Iterable<number>, use: (label: number, vector: Float32Array) => void): void {
    const wanted = JSON.stringify(Array.from(labels));
    const rows = this.#sql.vectorsOf.all(wanted);
    for (const { label, data } of rows) use(label, decodeVector(data));
    const own = rows.filter(({ data }) => data.byteLength === data.buffer.byteLength);
    this.#closedPort.postMessage(
      undefined,
      own.map(({ data }) => data.buffer as ArrayBuffer),
    );
  }

  textsAfter(label: number, limit: number): TextRow[] {
    // One snapshot: a document could be written again between the reading of a chunk's span and of its text.
    const read = this.#database.transaction(() => {
      const slice = this.#texts.slicer();
      return this.#sql.chunks.all(label, limit).map(({ document, uri, start, end, context, ...chunk }) => ({
        label: chunk.label,
        documentId: uri,
        context: decodeText(context),
        text: slice(document, start, end),
      }));
    });
    return read.deferred();
  }
}

function closedPort(): MessagePort {
  const { port1 } = new MessageChannel();
  port1.close();
  return port1;
}
