import { asError, StoreError } from "../../../core/errors.js";
import { checkDetails } from "../../../core/metadata.js";
import { resolve } from "../../../core/options.js";
import type { StoreWrite, WrittenDocument } from "../../../core/ports.js";
import { storeWrite } from "../../call-options.js";
import { checkVector } from "../../database/vectors.js";
import { TaskQueue } from "../../derived/scheduling.js";
import { encodeWrite } from "../../writer/write-message.js";
import { type PreparedDocument, prepareDocument } from "../stored-document.js";
import type { Session, Work } from "../../../postgres/server.js";
import { isOutdated } from "../../../postgres/failures.js";
import type { StoreConnection } from "../../../postgres/store-connection.js";
import type { ResolvedPostgresOptions } from "../options.js";
import { createGraph, maxIndexedDimension } from "../schema.js";
import { totalChunks } from "../searching/word-statistics.js";
import type { StoreFacts } from "../store-facts.js";
import { deleteDocuments, insertVectors, writeDocuments, writeNotes } from "./writing.js";

export interface DocumentWriterParts {
  readonly connection: StoreConnection;
  readonly facts: StoreFacts;
  /** Length of the vectors, if the embedder knows it. */
  readonly dimension: number | undefined;
  readonly options: ResolvedPostgresOptions;
}

/** Writes and deletes documents, each write in one transaction. */
export class DocumentWriter {
  readonly #parts: DocumentWriterParts;
  /** Writes follow one another: a document may rely on vectors that the write before it brings. */
  readonly #writes = new TaskQueue();
  #hasGraph = false;
  /** Chunks to write before all are counted again: as many as are missing for a graph, or fewer since others write too. */
  #chunksBeforeCount = 0;
  /** Whether there are enough chunks for a graph that waits for the end of a load. */
  #isDue = false;
  #pause: NodeJS.Timeout | undefined;

  constructor(parts: DocumentWriterParts) {
    this.#parts = parts;
  }

  /** Writes, and does `also` in the same transaction, which is repeated with it. */
  write(
    given: StoreWrite,
    also: (session: Session, written: readonly WrittenDocument[]) => Promise<void>,
  ): Promise<readonly WrittenDocument[]> {
    return this.#writes.run(() => this.#write(given, also));
  }

  async #write(
    given: StoreWrite,
    also: (session: Session, written: readonly WrittenDocument[]) => Promise<void>,
  ): Promise<readonly WrittenDocument[]> {
    const write = resolve("write", storeWrite, given) as StoreWrite;
    const { connection, facts, dimension: known, options } = this.#parts;
    for (const { document } of write.documents ?? []) checkDetails(options.metadata, document);
    connection.refuseClosed();
    // Checks everything; the copy that it makes for another thread is not needed here.
    const { dimension } = await encodeWrite(write, facts.dimension ?? known);
    if (dimension !== undefined && facts.dimension === undefined) await facts.setDimension(dimension);
    const vectors = new Map(write.vectors);
    for (const vector of vectors.values()) checkVector(vector, facts.dimension!, "a text");
    const documents = (write.documents ?? []).map((each) => prepareDocument(each, facts.secured));
    const writing = connection.transaction(async (session) => {
      const meta = await facts.write(session, write);
      const embedding = await this.#embeddings(session, documents, vectors);
      const outcomes = new Map<PreparedDocument, WrittenDocument>();
      // A uri that comes twice is written twice, so that the last one stays.
      for (const different of withoutRepeats(documents, ({ document }) => document.uri)) {
        const done = await writeDocuments(session, different, embedding, facts.column);
        for (const [at, outcome] of done.entries()) outcomes.set(different[at]!, outcome);
      }
      const all = documents.map((currentDocument) => outcomes.get(currentDocument)!);
      await writeNotes(session, write.notes ?? new Map());
      await also(session, all);
      return { outcomes: all, meta };
    });
    const written = await writing.catch(async (error: unknown) => {
      // Where the store was migrated to another model, that is the error.
      if (isOutdated(error)) await facts.refresh();
      throw error;
    });
    if (written.meta) facts.adopt(written.meta);
    if (documents.length > 0) {
      const chunks = written.outcomes.reduce((sum, outcome) => sum + outcome.chunks, 0);
      await this.#warnOfFailure(() => this.#prepareGraph(chunks));
    }
    return written.outcomes;
  }

  delete(uris: readonly string[]): Promise<{ readonly documents: number; readonly chunks: number }> {
    const { connection } = this.#parts;
    return this.#writes.run(() => connection.transaction((session) => deleteDocuments(session, uris)));
  }

  /** Keeps the vectors that were sent. Returns those of the documents' chunks, as they are stored. */
  async #embeddings(
    session: Session,
    documents: readonly PreparedDocument[],
    sent: ReadonlyMap<string, Float32Array>,
  ): Promise<(key: string) => Float32Array> {
    const keys = [...new Set(documents.flatMap(({ chunks }) => chunks.map(({ vector }) => vector)))];
    if (keys.length === 0 && sent.size === 0) return () => new Float32Array();
    const { stored } = await insertVectors(session, sent, keys);
    const embedding = (key: string) => stored.get(key) ?? sent.get(key)!;
    for (const { document, chunks } of documents) {
      const missing = chunks.find(({ vector }) => !embedding(vector));
      if (missing) throw withoutVector(document.uri, missing.start, this.#parts.connection.server.location);
    }
    return embedding;
  }

  /** Makes the graph that waits for the end of a load, until the signal aborts. */
  async finish(signal?: AbortSignal): Promise<void> {
    clearTimeout(this.#pause);
    const make = async () => {
      if (this.#isDue && !signal?.aborted) await this.#makeGraph(signal);
    };
    if (this.#isDue) await this.#writes.run(() => this.#warnOfFailure(make, signal));
  }

  /** The failure of a graph costs searches their speed and no chunk: it is a warning, and the next write tries again. */
  async #warnOfFailure(work: () => Promise<void>, signal?: AbortSignal): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (signal?.aborted) return;
      this.#parts.options.onWarning?.(`All vectors are compared, because no graph was made: ${asError(error).message}`);
    }
  }

  /** Makes the graph once it is worth it, or sees to it that this is done at the end of the load. */
  async #prepareGraph(writtenChunks: number): Promise<void> {
    const { connection, facts, options } = this.#parts;
    const { index, flatBelow } = options;
    const { dimension, precision } = facts;
    if (this.#hasGraph || index === "flat" || dimension === undefined) return;
    if (dimension > maxIndexedDimension[precision]) return;
    if (index === "hnsw") return this.#makeGraph();
    clearTimeout(this.#pause);
    this.#chunksBeforeCount -= writtenChunks;
    if (this.#chunksBeforeCount <= 0) {
      const chunks = await connection.read(totalChunks);
      this.#isDue = chunks >= flatBelow;
      this.#chunksBeforeCount = this.#isDue ? flatBelow / 10 : Math.min(flatBelow / 10, flatBelow - chunks);
      const deferrable = Math.min(maxDeferral * flatBelow, maxDeferredComponents / dimension);
      if (this.#isDue && chunks >= deferrable) return this.#makeGraph();
    }
    if (this.#isDue) this.#pause = setTimeout(() => void this.finish().catch(() => {}), pauseMs).unref();
  }

  /** Other writers wait for the graph meanwhile. It is not retried: the server may lack the memory for it. */
  async #makeGraph(signal?: AbortSignal): Promise<void> {
    const { connection, facts, options } = this.#parts;
    const { index, flatBelow } = options;
    if (index === "auto" && (await connection.read(totalChunks)) < flatBelow) {
      this.#isDue = false;
      return;
    }
    const make: Work<void> = async (session) => {
      await session.query("SET LOCAL statement_timeout = 0");
      const { precision, dimension, column } = facts;
      await createGraph(session, `"${options.schema}"`, precision, dimension!, { ...options, column });
    };
    await connection.transaction(make, { deadlineMs: Infinity, once: true, ...(signal && { signal }) });
    this.#isDue = false;
    this.#hasGraph = true;
  }
}

/**
 * Making a graph of all vectors takes a fifth of the time that linking them one after another does. So a first load goes on
 * without a graph, while searches compare all, until it pauses or the store is closed, or up to so many times `flatBelow`.
 */
const maxDeferral = 4;

/** Other processes that write wait for the graph: for no more components of vectors than a slow machine links in their time limit. */
const maxDeferredComponents = 2 ** 23;

/** Time without writes after which a load counts as paused. */
const pauseMs = 1000;

function withoutVector(uri: string, start: number, path: string): StoreError {
  const problem = `${uri}: the chunk at ${start} has no vector, neither in the store nor in this write. Embed it first`;
  return new StoreError("vector", problem, { path });
}

/** The items in order, in as few lists as have no two of one name each. */
function withoutRepeats<Item>(items: readonly Item[], nameOf: (item: Item) => string): Item[][] {
  const lists: Item[][] = [];
  let names = new Set<string>();
  for (const item of items) {
    if (lists.length === 0 || names.has(nameOf(item))) {
      lists.push([]);
      names = new Set();
    }
    lists.at(-1)!.push(item);
    names.add(nameOf(item));
  }
  return lists;
}
