import { OptionsError, StoreError } from "../../core/errors.js";
import type { StoreSettings, WrittenDocument } from "../../core/ports.js";
import type { Chunk, Document } from "../../core/types.js";
import type { Database } from "../../sqlite/database.js";
import { chunkPlaces, type ChunkPlace } from "../../text/blocks/places.js";
import { documentFingerprint, vectorKey } from "../../text/chunking/chunk-identity.js";
import { Checksums, checksumOf } from "../database/checksums.js";
import { decodeText, encodeText, encodeVector, type StoredText } from "../database/columns.js";
import { checkSpace, readMeta, readSettings, writeMeta } from "../database/schema.js";
import { Texts } from "../database/texts.js";
import { checkVector } from "../database/vectors.js";
import type { DocumentMessage, WriteMessage } from "./write-message.js";

/** A document to write, with the key of each chunk's vector. */
interface CheckedWrite {
  readonly document: Document;
  readonly chunks: readonly Chunk[];
  readonly vectorKeys: readonly string[];
}

interface ChunkRow {
  readonly label: number;
  readonly id: string;
  readonly vector: number;
  readonly context: StoredText;
}

export interface StoreWriterOptions {
  readonly path: string;
  readonly space: string;
  /** Length of the vectors, if the embedder knows it. */
  readonly dimension: number | undefined;
}

const statements = (database: Database) => ({
  vectorId: database.prepare<[string], { id: number }>("SELECT id FROM vectors WHERE key = ?"),
  // The first vector of a text stays: derived indexes rely on a label never changing its vector.
  insertVector: database.prepare("INSERT INTO vectors (key, data) VALUES (?, ?) ON CONFLICT DO NOTHING"),
  documentId: database.prepare<[string], { id: number; fingerprint: string }>(
    "SELECT id, fingerprint FROM documents WHERE uri = ?",
  ),
  upsertDocument: database.prepare<unknown[], { id: number }>(`
    INSERT INTO documents (uri, title, media_type, source, fingerprint, chunk_count, metadata, anchors)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (uri) DO UPDATE SET
      title = excluded.title, media_type = excluded.media_type, source = excluded.source,
      fingerprint = excluded.fingerprint, chunk_count = excluded.chunk_count,
      metadata = excluded.metadata, anchors = excluded.anchors
    RETURNING id`),
  deleteDocument: database.prepare<[number]>("DELETE FROM documents WHERE id = ?"),
  chunksOf: database.prepare<[number], ChunkRow>("SELECT label, id, vector, context FROM chunks WHERE document = ?"),
  moveChunk: database.prepare(`
    UPDATE chunks SET start = ?, "end" = ?, tokens = ?, parent_start = ?, parent_end = ?, line = ?, page = ?, anchors = ?
    WHERE label = ?`),
  insertChunk: database.prepare(`
    INSERT INTO chunks (
      start, "end", tokens, parent_start, parent_end, line, page, anchors, id, document, vector, context)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
  deleteChunk: database.prepare<[number]>("DELETE FROM chunks WHERE label = ?"),
  logRemoval: database.prepare<[number]>("INSERT INTO removals (label) VALUES (?)"),
  writeRecord: database.prepare("INSERT OR REPLACE INTO document_records (document, revision) VALUES (?, ?)"),
  writeNote: database.prepare("INSERT OR REPLACE INTO notes (uri, note, checksum) VALUES (?, ?, ?)"),
});

/** Writes to a store, on a connection of its own: readers on other connections see the state before until it commits. */
export class StoreWriter {
  readonly #database: Database;
  readonly #options: StoreWriterOptions;
  readonly #sql: ReturnType<typeof statements>;
  readonly #checksums: Checksums;
  readonly #texts: Texts;

  constructor(database: Database, options: StoreWriterOptions) {
    this.#database = database;
    this.#checksums = new Checksums(database);
    this.#texts = new Texts(database);
    this.#options = options;
    this.#sql = statements(database);
  }

  /** Writes everything or nothing. Everything is checked before anything is written. */
  write({
    vectorKeys,
    vectors,
    documents,
    tokenMargin = 1,
    settings,
    notes = new Map(),
    ...message
  }: WriteMessage): WrittenDocument[] {
    const { space, path } = this.#options;
    checkSpace(readMeta(this.#database, "space"), space, path);
    const vectorAt = (index: number, length: number) => vectors.subarray(index * length, (index + 1) * length);
    const stored = readMeta(this.#database, "dimension");
    const dimension = stored === undefined ? (this.#options.dimension ?? message.dimension) : Number(stored);
    // The sender has checked the vectors, but perhaps before another process wrote the first ones.
    if (vectorKeys.length > 0) checkVector(vectorAt(0, message.dimension!), dimension!, `text ${vectorKeys[0]}`);
    const sent = new Set(vectorKeys);
    const checked = documents.map((document) => this.#decode(document, sent));
    return this.#transaction(() => {
      writeMeta(this.#database, "space", space);
      if (dimension !== undefined) writeMeta(this.#database, "dimension", String(dimension));
      if (tokenMargin > Number(readMeta(this.#database, "token-margin") ?? 1)) {
        writeMeta(this.#database, "token-margin", String(tokenMargin));
      }
      if (settings) this.#saveSettings(settings);
      for (const [index, key] of vectorKeys.entries()) {
        const data = encodeVector(vectorAt(index, dimension!));
        const { changes, lastInsertRowid } = this.#sql.insertVector.run(key, data);
        if (changes > 0) this.#checksums.saveVector(lastInsertRowid, key, data);
      }
      const written = checked.map((write) => this.#replace(write));
      for (const [uri, note] of notes) this.#sql.writeNote.run(uri, note, checksumOf([uri, note]));
      return written;
    });
  }

  deleteDocuments(uris: readonly string[]): { documents: number; chunks: number } {
    return this.#transaction(() => {
      let [documents, chunks] = [0, 0];
      for (const uri of uris) {
        const document = this.#sql.documentId.get(uri);
        if (!document) continue;
        chunks += this.#removeChunks(this.#sql.chunksOf.all(document.id));
        this.#sql.deleteDocument.run(document.id);
        documents++;
      }
      return { documents, chunks };
    });
  }

  /** Restores a document and its chunks, and finds the key of each chunk's vector. */
  #decode({ details, text, chunks: sentChunks }: DocumentMessage, sent: ReadonlySet<string>): CheckedWrite {
    const document = { ...(JSON.parse(details) as Omit<Document, "text">), text };
    const chunks = sentChunks.map((chunk) => ({ ...chunk, text: text.slice(chunk.start, chunk.end) }));
    const ids = new Set<string>();
    const vectorKeys = chunks.map((chunk) => {
      if (ids.has(chunk.id)) {
        throw new OptionsError(
          "options",
          `${document.uri}: two chunks have the id ${chunk.id}. Give every chunk an id of its own`,
        );
      }
      ids.add(chunk.id);
      const key = vectorKey(chunk);
      if (!sent.has(key) && !this.#sql.vectorId.get(key)) {
        throw new StoreError(
          "vector",
          `${document.uri}: the chunk at ${chunk.start} has no vector, neither in the store nor in this write. Embed it first`,
          { path: this.#options.path },
        );
      }
      return key;
    });
    return { document, chunks, vectorKeys };
  }

  #saveSettings(settings: StoreSettings): void {
    const all = Object.entries({ ...readSettings(this.#database), ...settings });
    writeMeta(
      this.#database,
      "settings",
      JSON.stringify(Object.fromEntries(all.filter(([, value]) => value !== null))),
    );
  }

  #replace({ document, chunks, vectorKeys }: CheckedWrite): WrittenDocument {
    const existing = this.#sql.documentId.get(document.uri);
    const fingerprint = documentFingerprint(document, chunks);
    const { id } = this.#sql.upsertDocument.get(
      document.uri,
      document.title ?? null,
      document.mediaType ?? null,
      document.source ?? null,
      fingerprint,
      chunks.length,
      document.metadata === undefined ? null : JSON.stringify(document.metadata),
      document.anchors === undefined ? null : JSON.stringify(document.anchors),
    )!;
    this.#texts.write(id, document.text);
    const { revision } = document;
    this.#sql.writeRecord.run(id, revision === undefined ? null : JSON.stringify(revision));
    const vectorIds = vectorKeys.map((key) => this.#sql.vectorId.get(key)!.id);
    const old = new Map((existing ? this.#sql.chunksOf.all(id) : []).map((chunk) => [chunk.id, chunk]));
    // A chunk with the same texts and vector keeps its row and label, so that derived indexes have nothing to do.
    const kept = chunks.map((chunk, index) => {
      const before = old.get(chunk.id);
      if (!before || before.vector !== vectorIds[index] || decodeText(before.context) !== chunk.context)
        return undefined;
      old.delete(chunk.id);
      return before.label;
    });
    const deletedChunks = this.#removeChunks(old.values());
    const places = chunkPlaces(document, chunks);
    for (const [index, chunk] of chunks.entries()) {
      const { start, end, tokens, parent } = chunk;
      const position = [
        start,
        end,
        tokens,
        parent?.start ?? null,
        parent?.end ?? null,
        ...placeColumns(places[index]!),
      ];
      const label = kept[index];
      if (label !== undefined) this.#sql.moveChunk.run(...position, label);
      else this.#insert(chunk, position, id, vectorIds[index]!);
    }
    this.#checksums.saveDocument(id);
    const isSame = existing?.fingerprint === fingerprint && deletedChunks === 0 && !kept.includes(undefined);
    const outcome = !existing ? "added" : isSame ? "unchanged" : "updated";
    return { uri: document.uri, outcome, chunks: chunks.length, deletedChunks };
  }

  #insert(chunk: Chunk, position: readonly unknown[], document: number, vector: number): void {
    try {
      this.#sql.insertChunk.run(...position, chunk.id, document, vector, encodeText(chunk.context));
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "SQLITE_CONSTRAINT_UNIQUE")) throw error;
      throw new OptionsError(
        "options",
        `${chunk.documentId}: another document has a chunk with the id ${chunk.id}. Give every chunk an id of its own`,
        { cause: error },
      );
    }
  }

  #removeChunks(chunks: Iterable<ChunkRow>): number {
    let count = 0;
    for (const { label } of chunks) {
      this.#sql.deleteChunk.run(label);
      this.#sql.logRemoval.run(label);
      count++;
    }
    return count;
  }

  #transaction<Result>(work: () => Result): Result {
    return this.#database.transaction(work).immediate();
  }
}

function placeColumns({ line, page, anchors }: ChunkPlace): unknown[] {
  return [line ?? null, page ?? null, anchors === undefined ? null : JSON.stringify(anchors)];
}
