import type { Filter } from "../../core/filter.js";
import type { DocumentWrite, Searchable, StoreCounts, StoredDocumentInfo } from "../../core/ports.js";
import type { Anchor, Chunk, Document, Metadata, Revision } from "../../core/types.js";
import type { Database, Statement } from "../../sqlite/database.js";
import { storedPlace, type ChunkPlace } from "../../text/blocks/places.js";
import { checksumOf } from "./checksums.js";
import { decodeText, decodeVector, type StoredText } from "./columns.js";
import { documentMatches, expressionOf } from "./filters.js";
import { Texts } from "./texts.js";

interface InfoRow {
  readonly uri: string;
  readonly title: string | null;
  readonly source: string | null;
  readonly fingerprint: string;
  readonly chunk_count: number;
}

interface DocumentRow {
  readonly id: number;
  readonly uri: string;
  readonly title: string | null;
  readonly media_type: string | null;
  readonly source: string | null;
  readonly metadata: string | null;
  readonly anchors: string | null;
  readonly revision: string | null;
}

interface ChunkRow {
  readonly id: string;
  readonly document: number;
  readonly uri: string;
  readonly start: number;
  readonly end: number;
  readonly tokens: number;
  readonly parent_start: number | null;
  readonly parent_end: number | null;
  readonly context: StoredText;
}

interface PlacedChunkRow extends ChunkRow {
  readonly title: string | null;
  readonly metadata: string | null;
  readonly line: number | null;
  readonly page: number | null;
  readonly anchors: string | null;
}

/** A chunk with the fields of a `Hit` that do not depend on the search. */
export interface StoredChunk extends ChunkPlace {
  readonly chunk: Chunk;
  readonly uri: string;
  readonly title?: string;
}

const withRecords = "documents LEFT JOIN document_records ON document_records.document = documents.id";
const infos = "SELECT uri, title, source, fingerprint, chunk_count FROM documents";

const statements = (database: Database) => ({
  info: database.prepare<[string], InfoRow>(`${infos} WHERE uri = ?`),
  infoFrom: database.prepare<[string], InfoRow>(`${infos} WHERE uri >= ? ORDER BY uri`),
  infoOfSourceFrom: database.prepare<[string, string], InfoRow>(`${infos} WHERE source = ? AND uri >= ? ORDER BY uri`),
  document: database.prepare<[string], DocumentRow>(
    `SELECT documents.id, uri, title, media_type, source, metadata, anchors, revision FROM ${withRecords} WHERE uri = ?`,
  ),
  chunk: database.prepare<[string], PlacedChunkRow>(`
    SELECT chunks.id, document, uri, title, metadata, start, "end", tokens, parent_start, parent_end, line, page, chunks.anchors, context
    FROM chunks JOIN documents ON documents.id = chunks.document WHERE chunks.id = ?`),
  chunksOf: database.prepare<[string], ChunkRow>(`
    SELECT chunks.id, document, uri, start, "end", tokens, parent_start, parent_end, context
    FROM chunks JOIN documents ON documents.id = chunks.document WHERE uri = ? ORDER BY start, "end", chunks.id`),
  chunkId: database.prepare<[number], string>("SELECT id FROM chunks WHERE label = ?").pluck(),
  note: database.prepare<[string], { note: string; checksum: number }>(
    "SELECT note, checksum FROM notes WHERE uri = ?",
  ),
  vector: database.prepare<[string], { data: Buffer }>("SELECT data FROM vectors WHERE key = ?"),
  counts: database.prepare<[], StoreCounts>(`
    SELECT (SELECT count(*) FROM documents) AS documents,
           (SELECT count(*) FROM chunks) AS chunks,
           (SELECT count(*) FROM vectors) AS vectors`),
});

/** Reads documents, chunks and vectors, as of the last commit. */
export class StoreReader {
  readonly #database: Database;
  readonly #sql: ReturnType<typeof statements>;
  readonly #texts: Texts;
  /** Tests one document against the filter with this SQL. */
  #test: { readonly sql: string; readonly statement: Statement<unknown[], unknown> } | undefined;

  constructor(database: Database) {
    this.#database = database;
    this.#sql = statements(database);
    this.#texts = new Texts(database);
  }

  documentInfo(uri: string): StoredDocumentInfo | undefined {
    const row = this.#sql.info.get(uri);
    return row && infoOf(row);
  }

  documents(
    { source, after, limit }: Parameters<Searchable["documents"]>[0] & object = {},
    matches: (uri: string) => boolean = () => true,
  ): StoredDocumentInfo[] {
    // No text stands between the two in the order of bytes.
    const first = after === undefined ? "" : `${after}\0`;
    const { infoFrom, infoOfSourceFrom } = this.#sql;
    const rows = source === undefined ? infoFrom.iterate(first) : infoOfSourceFrom.iterate(source, first);
    const found: StoredDocumentInfo[] = [];
    for (const row of rows) {
      if (matches(row.uri)) found.push(infoOf(row));
      if (found.length === limit) break;
    }
    return found;
  }

  document(uri: string): Document | undefined {
    const row = this.#sql.document.get(uri);
    if (!row) return undefined;
    return {
      uri: row.uri,
      text: this.#texts.read(row.id),
      ...(row.title !== null && { title: row.title }),
      ...(row.metadata !== null && { metadata: JSON.parse(row.metadata) as Metadata }),
      ...(row.media_type !== null && { mediaType: row.media_type }),
      ...(row.anchors !== null && { anchors: JSON.parse(row.anchors) as Anchor[] }),
      ...(row.source !== null && { source: row.source }),
      ...(row.revision !== null && { revision: JSON.parse(row.revision) as Revision }),
    };
  }

  documentWithChunks(uri: string): DocumentWrite | undefined {
    const document = this.document(uri);
    if (!document) return undefined;
    const rows = this.#sql.chunksOf.all(uri);
    return { document, chunks: rows.map((row) => chunkOf(row, document.text.slice(row.start, row.end))) };
  }

  chunk(id: string): StoredChunk | undefined {
    const row = this.#sql.chunk.get(id);
    if (!row) return undefined;
    return {
      chunk: chunkOf(row, this.#texts.slice(row.document, row.start, row.end)),
      uri: row.uri,
      ...(row.title !== null && { title: row.title }),
      ...(row.metadata !== null && { metadata: JSON.parse(row.metadata) as Metadata }),
      ...storedPlace(row),
    };
  }

  /** Runs `work` on one snapshot: a document cannot leave a filter between its check and its reading. */
  inSnapshot<Result>(work: () => Result): Result {
    return this.#database.transaction(work).deferred();
  }

  /** A function that tells whether the document with a URI matches the filter, as of the last commit. */
  matcher(filter: Filter): (uri: string) => boolean {
    const { sql, parameters } = documentMatches(expressionOf(filter), "documents.id");
    // Cached, because the next question mostly has the same filter, and statements are freed only by a full collection.
    if (this.#test?.sql !== sql) {
      this.#test = { sql, statement: this.#database.prepare(`SELECT 1 FROM documents WHERE uri = ? AND ${sql}`) };
    }
    const { statement } = this.#test;
    return (uri) => statement.get(uri, ...parameters) !== undefined;
  }

  /** The ids of the chunks with these labels; undefined for deleted ones. */
  chunkIds(labels: Float64Array): (string | undefined)[] {
    // One transaction for all: a transaction for each takes as long as the reading.
    return this.inSnapshot(() => Array.from(labels, (label) => this.#sql.chunkId.get(label)));
  }

  notes(uris: readonly string[]): Map<string, string> {
    return this.inSnapshot(() => {
      const found = new Map<string, string>();
      for (const uri of uris) {
        const row = this.#sql.note.get(uri);
        // An altered note could keep a changed document from being read. Without it, all is read.
        if (row && checksumOf([uri, row.note]) === row.checksum) found.set(uri, row.note);
      }
      return found;
    });
  }

  vector(key: string): Float32Array | undefined {
    const row = this.#sql.vector.get(key);
    return row && decodeVector(row.data);
  }

  counts(): StoreCounts {
    return this.#sql.counts.get()!;
  }
}

function infoOf(row: InfoRow): StoredDocumentInfo {
  return {
    uri: row.uri,
    ...(row.title !== null && { title: row.title }),
    ...(row.source !== null && { source: row.source }),
    fingerprint: row.fingerprint,
    chunks: row.chunk_count,
  };
}

function chunkOf(row: ChunkRow, text: string): Chunk {
  const { id, uri, start, end, tokens } = row;
  return {
    id,
    documentId: uri,
    start,
    end,
    text,
    context: decodeText(row.context),
    tokens,
    ...(row.parent_start !== null && { parent: { start: row.parent_start, end: row.parent_end! } }),
  };
}
