import type { Filter } from "../filter.js";
import type { StoreCounts, StoredDocumentInfo } from "../ports.js";
import type { Anchor, Chunk, Document, Metadata, Revision } from "../types.js";
import type { Database, Statement } from "../sqlite/database.js";
import { documentMeets, expressionOf } from "./filter-sql.js";
import { decodeText, type StoredText } from "./stored-text.js";
import { decodeVector } from "./vectors.js";

interface InfoRow {
  readonly uri: string;
  readonly title: string | null;
  readonly source: string | null;
  readonly fingerprint: string;
  readonly chunk_count: number;
  readonly cut_by: string | null;
}

interface DocumentRow {
  readonly uri: string;
  readonly title: string | null;
  readonly media_type: string | null;
  readonly source: string | null;
  readonly metadata: string | null;
  readonly anchors: string | null;
  readonly text: StoredText;
  readonly revision: string | null;
}

interface ChunkRow {
  readonly id: string;
  readonly uri: string;
  readonly title: string | null;
  readonly start: number;
  readonly end: number;
  readonly tokens: number;
  readonly parent_start: number | null;
  readonly parent_end: number | null;
  readonly line: number | null;
  readonly page: number | null;
  readonly anchors: string | null;
  readonly context: StoredText;
  readonly text: StoredText;
}

/** A chunk with all of a `Hit` that does not depend on the search. */
export interface StoredChunk {
  readonly chunk: Chunk;
  readonly uri: string;
  readonly title?: string;
  readonly line?: number;
  readonly page?: number;
  readonly anchors?: readonly Anchor[];
}

const withRecords = "documents LEFT JOIN document_records ON document_records.document = documents.id";
const infos = `SELECT uri, title, source, fingerprint, chunk_count, cut_by FROM ${withRecords}`;

/** What a store holds, as of the last commit. */
export class StoreReader {
  readonly #database: Database;
  readonly #info: Statement<[string], InfoRow>;
  readonly #allInfo: Statement<[], InfoRow>;
  readonly #infoOfSource: Statement<[string], InfoRow>;
  readonly #document: Statement<[string], DocumentRow>;
  readonly #chunk: Statement<[string], ChunkRow>;
  readonly #chunkId: Statement<[number], string>;
  readonly #vector: Statement<[string], { data: Buffer }>;
  readonly #counts: Statement<[], StoreCounts>;
  /** Whether one document meets the filter of this SQL. */
  #admission: { readonly sql: string; readonly statement: Statement<unknown[], unknown> } | undefined;

  constructor(database: Database) {
    this.#database = database;
    this.#info = database.prepare(`${infos} WHERE uri = ?`);
    this.#allInfo = database.prepare(`${infos} ORDER BY uri`);
    this.#infoOfSource = database.prepare(`${infos} WHERE source = ? ORDER BY uri`);
    this.#document = database.prepare(
      `SELECT uri, title, media_type, source, metadata, anchors, text, revision FROM ${withRecords} WHERE uri = ?`,
    );
    this.#chunk = database.prepare(`
      SELECT chunks.id, uri, title, start, "end", tokens, parent_start, parent_end, line, page, chunks.anchors, context, chunks.text
      FROM chunks JOIN documents ON documents.id = chunks.document WHERE chunks.id = ?`);
    this.#chunkId = database.prepare<[number], string>("SELECT id FROM chunks WHERE label = ?").pluck();
    this.#vector = database.prepare("SELECT data FROM vectors WHERE key = ?");
    this.#counts = database.prepare(`
      SELECT (SELECT count(*) FROM documents) AS documents,
             (SELECT count(*) FROM chunks) AS chunks,
             (SELECT count(*) FROM vectors) AS vectors`);
  }

  documentInfo(uri: string): StoredDocumentInfo | undefined {
    const row = this.#info.get(uri);
    return row && infoOf(row);
  }

  documents(source?: string): StoredDocumentInfo[] {
    return (source === undefined ? this.#allInfo.all() : this.#infoOfSource.all(source)).map(infoOf);
  }

  document(uri: string): Document | undefined {
    const row = this.#document.get(uri);
    if (!row) return undefined;
    return {
      uri: row.uri,
      text: decodeText(row.text),
      ...(row.title !== null && { title: row.title }),
      ...(row.metadata !== null && { metadata: JSON.parse(row.metadata) as Metadata }),
      ...(row.media_type !== null && { mediaType: row.media_type }),
      ...(row.anchors !== null && { anchors: JSON.parse(row.anchors) as Anchor[] }),
      ...(row.source !== null && { source: row.source }),
      ...(row.revision !== null && { revision: JSON.parse(row.revision) as Revision }),
    };
  }

  chunk(id: string): StoredChunk | undefined {
    const row = this.#chunk.get(id);
    if (!row) return undefined;
    const { uri, start, end, tokens } = row;
    return {
      chunk: {
        id: row.id,
        documentId: uri,
        start,
        end,
        text: decodeText(row.text),
        context: decodeText(row.context),
        tokens,
        ...(row.parent_start !== null && { parent: { start: row.parent_start, end: row.parent_end! } }),
      },
      uri,
      ...(row.title !== null && { title: row.title }),
      ...(row.line !== null && { line: row.line }),
      ...(row.page !== null && { page: row.page }),
      ...(row.anchors !== null && { anchors: JSON.parse(row.anchors) as Anchor[] }),
    };
  }

  /** What `work` reads is all of one moment: a document does not leave a filter between its check and its reading. */
  atOneMoment<Result>(work: () => Result): Result {
    return this.#database.transaction(work).deferred();
  }

  /** Tells of documents by uri whether the filter lets them through, as of the last commit. */
  letsThrough(filter: Filter): (uri: string) => boolean {
    const { sql, parameters } = documentMeets(expressionOf(filter), "documents.id");
    // Kept, as the next question mostly has the same filter: of one for each, the memory waits for a full collection.
    if (this.#admission?.sql !== sql) {
      this.#admission = { sql, statement: this.#database.prepare(`SELECT 1 FROM documents WHERE uri = ? AND ${sql}`) };
    }
    const { statement } = this.#admission;
    return (uri) => statement.get(uri, ...parameters) !== undefined;
  }

  /** The ids of the chunks with these labels, undefined for those that are gone. */
  chunkIds(labels: Float64Array): (string | undefined)[] {
    // One transaction for all: beginning and ending one for each takes as long as the reading.
    return this.atOneMoment(() => Array.from(labels, (label) => this.#chunkId.get(label)));
  }

  vector(key: string): Float32Array | undefined {
    const row = this.#vector.get(key);
    return row && decodeVector(row.data);
  }

  counts(): StoreCounts {
    return this.#counts.get()!;
  }
}

function infoOf(row: InfoRow): StoredDocumentInfo {
  return {
    uri: row.uri,
    ...(row.title !== null && { title: row.title }),
    ...(row.source !== null && { source: row.source }),
    fingerprint: row.fingerprint,
    chunks: row.chunk_count,
    ...(row.cut_by !== null && { cutBy: row.cut_by }),
  };
}
