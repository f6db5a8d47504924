import { OptionsError, StoreError } from "../errors.js";
import type { DocumentWrite, StoreSettings, StoreWrite, WrittenDocument } from "../ports.js";
import { documentFingerprint, vectorKey } from "../text/chunk-identity.js";
import type { Chunk } from "../types.js";
import { chunkPlaces, type ChunkPlace } from "./chunk-places.js";
import type { Database, Statement } from "../sqlite/database.js";
import { checkSpace, readMeta, readSettings, writeMeta } from "./schema.js";
import { decodeText, encodeText, type StoredText } from "./stored-text.js";
import { checkVector, encodeVector } from "./vectors.js";

interface OldChunk {
  readonly label: number;
  readonly id: string;
  readonly vector: number;
  readonly context: StoredText;
}

/** A document to write with the key of each chunk's vector. */
interface Checked extends DocumentWrite {
  readonly vectorKeys: readonly string[];
}

export interface StoreWriterOptions {
  readonly path: string;
  readonly space: string;
  /** Length of the vectors, where it is known before the first. */
  readonly dimension: number | undefined;
}

/**
 * Changes a store, on a connection of its own: whoever reads meanwhile, on another connection, sees what was before.
 */
export class StoreWriter {
  readonly #database: Database;
  readonly #options: StoreWriterOptions;
  readonly #vectorId: Statement<[string], { id: number }>;
  readonly #insertVector: Statement<[string, Buffer], unknown>;
  readonly #documentId: Statement<[string], { id: number }>;
  readonly #upsertDocument: Statement<unknown[], { id: number }>;
  readonly #deleteDocument: Statement<[number], unknown>;
  readonly #oldChunks: Statement<[number], OldChunk>;
  readonly #moveChunk: Statement<unknown[], unknown>;
  readonly #insertChunk: Statement<unknown[], unknown>;
  readonly #deleteChunk: Statement<[number], unknown>;
  readonly #logRemoval: Statement<[number], unknown>;
  readonly #insertRecord: Statement<unknown[], unknown>;
  readonly #deleteRecord: Statement<[number], unknown>;

  constructor(database: Database, options: StoreWriterOptions) {
    this.#database = database;
    this.#options = options;
    this.#vectorId = database.prepare("SELECT id FROM vectors WHERE key = ?");
    // The first vector of a text stays: what derived indexes took over must not change under its label.
    this.#insertVector = database.prepare("INSERT INTO vectors (key, data) VALUES (?, ?) ON CONFLICT DO NOTHING");
    this.#documentId = database.prepare("SELECT id FROM documents WHERE uri = ?");
    this.#upsertDocument = database.prepare(`
      INSERT INTO documents (uri, title, media_type, source, fingerprint, chunk_count, metadata, anchors, text)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (uri) DO UPDATE SET
        title = excluded.title, media_type = excluded.media_type, source = excluded.source,
        fingerprint = excluded.fingerprint, chunk_count = excluded.chunk_count,
        metadata = excluded.metadata, anchors = excluded.anchors, text = excluded.text
      RETURNING id`);
    this.#deleteDocument = database.prepare("DELETE FROM documents WHERE id = ?");
    this.#oldChunks = database.prepare("SELECT label, id, vector, context FROM chunks WHERE document = ?");
    this.#moveChunk = database.prepare(
      'UPDATE chunks SET start = ?, "end" = ?, tokens = ?, parent_start = ?, parent_end = ?, line = ?, page = ?, anchors = ? WHERE label = ?',
    );
    this.#insertChunk = database.prepare(`
      INSERT INTO chunks (
        start, "end", tokens, parent_start, parent_end, line, page, anchors, id, document, vector, context, text)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#deleteChunk = database.prepare("DELETE FROM chunks WHERE label = ?");
    this.#logRemoval = database.prepare("INSERT INTO removals (label) VALUES (?)");
    this.#insertRecord = database.prepare("INSERT INTO document_records (document, revision, cut_by) VALUES (?, ?, ?)");
    this.#deleteRecord = database.prepare("DELETE FROM document_records WHERE document = ?");
  }

  /** All of it, or nothing. Everything is checked before anything is written. */
  write({ vectors = new Map(), documents = [], tokenMargin = 1, settings }: StoreWrite): WrittenDocument[] {
    checkSpace(readMeta(this.#database, "space"), this.#options.space, this.#options.path);
    const dimension = this.#checkVectors(vectors);
    const checked = documents.map((write) => this.#checkDocument(write, vectors));
    return this.#transaction(() => {
      writeMeta(this.#database, "space", this.#options.space);
      if (dimension !== undefined) writeMeta(this.#database, "dimension", String(dimension));
      if (tokenMargin > Number(readMeta(this.#database, "token-margin") ?? 1)) {
        writeMeta(this.#database, "token-margin", String(tokenMargin));
      }
      if (settings) this.#keep(settings);
      for (const [key, vector] of vectors) this.#insertVector.run(key, encodeVector(vector));
      return checked.map((write) => this.#replace(write));
    });
  }

  deleteDocuments(uris: readonly string[]): { documents: number; chunks: number } {
    return this.#transaction(() => {
      let [documents, chunks] = [0, 0];
      for (const uri of uris) {
        const document = this.#documentId.get(uri);
        if (!document) continue;
        chunks += this.#removeChunks(this.#oldChunks.all(document.id));
        this.#deleteDocument.run(document.id);
        documents++;
      }
      return { documents, chunks };
    });
  }

  /** The length that all vectors have. */
  #checkVectors(vectors: ReadonlyMap<string, Float32Array>): number | undefined {
    const stored = readMeta(this.#database, "dimension");
    let dimension = stored === undefined ? this.#options.dimension : Number(stored);
    for (const [key, vector] of vectors) {
      dimension ??= vector.length;
      checkVector(vector, dimension, `text ${key}`);
    }
    return dimension;
  }

  #checkDocument({ document, chunks, cutBy }: DocumentWrite, vectors: ReadonlyMap<string, Float32Array>): Checked {
    const ids = new Set<string>();
    const vectorKeys: string[] = [];
    for (const chunk of chunks) {
      if (ids.has(chunk.id)) {
        throw new OptionsError(
          "options",
          `${document.uri}: two chunks have the id ${chunk.id}. Make ids with chunkId()`,
        );
      }
      ids.add(chunk.id);
      const key = vectorKey(chunk);
      if (!vectors.has(key) && !this.#vectorId.get(key)) {
        throw new StoreError(
          "vector",
          `${document.uri}: the chunk at ${chunk.start} has no vector, neither in the store nor in this call. Embed it first`,
          { path: this.#options.path },
        );
      }
      vectorKeys.push(key);
    }
    return { document, chunks, vectorKeys, ...(cutBy !== undefined && { cutBy }) };
  }

  #keep(settings: StoreSettings): void {
    const all = Object.entries({ ...readSettings(this.#database), ...settings });
    writeMeta(
      this.#database,
      "settings",
      JSON.stringify(Object.fromEntries(all.filter(([, value]) => value !== null))),
    );
  }

  #replace({ document, chunks, vectorKeys, cutBy }: Checked): WrittenDocument {
    const existing = this.#documentId.get(document.uri);
    const { id } = this.#upsertDocument.get(
      document.uri,
      document.title ?? null,
      document.mediaType ?? null,
      document.source ?? null,
      documentFingerprint(document, chunks),
      chunks.length,
      document.metadata === undefined ? null : JSON.stringify(document.metadata),
      document.anchors === undefined ? null : JSON.stringify(document.anchors),
      encodeText(document.text),
    )!;
    if (existing) this.#deleteRecord.run(id);
    const { revision } = document;
    if (revision !== undefined || cutBy !== undefined) {
      this.#insertRecord.run(id, revision === undefined ? null : JSON.stringify(revision), cutBy ?? null);
    }
    const vectorIds = vectorKeys.map((key) => this.#vectorId.get(key)!.id);
    const old = new Map((existing ? this.#oldChunks.all(id) : []).map((chunk) => [chunk.id, chunk]));
    // A chunk that reads as before keeps its row and label, so that derived indexes have nothing to do.
    const kept = chunks.map((chunk, at) => {
      const before = old.get(chunk.id);
      if (!before || before.vector !== vectorIds[at] || decodeText(before.context) !== chunk.context) return undefined;
      old.delete(chunk.id);
      return before.label;
    });
    const deletedChunks = this.#removeChunks(old.values());
    const places = chunkPlaces(document, chunks);
    for (const [at, chunk] of chunks.entries()) {
      const { start, end, tokens, parent } = chunk;
      const position = [start, end, tokens, parent?.start ?? null, parent?.end ?? null, ...placeColumns(places[at]!)];
      const label = kept[at];
      if (label !== undefined) this.#moveChunk.run(...position, label);
      else this.#insert(chunk, position, id, vectorIds[at]!);
    }
    return { uri: document.uri, outcome: existing ? "updated" : "added", chunks: chunks.length, deletedChunks };
  }

  #insert(chunk: Chunk, position: readonly unknown[], document: number, vector: number): void {
    try {
      this.#insertChunk.run(...position, chunk.id, document, vector, encodeText(chunk.context), encodeText(chunk.text));
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "SQLITE_CONSTRAINT_UNIQUE")) throw error;
      throw new OptionsError(
        "options",
        `${chunk.documentId}: another document has a chunk with the id ${chunk.id}. Make ids with chunkId()`,
        { cause: error },
      );
    }
  }

  #removeChunks(chunks: Iterable<OldChunk>): number {
    let count = 0;
    for (const { label } of chunks) {
      this.#deleteChunk.run(label);
      this.#logRemoval.run(label);
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
