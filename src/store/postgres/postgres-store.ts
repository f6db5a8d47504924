import type { z } from "zod";
import { OptionsError, StoreError } from "../../core/errors.js";
import type { Filter } from "../../core/filter.js";
import { checkMetadata } from "../../core/metadata.js";
import { resolve } from "../../core/options.js";
import type {
  CloseOptions,
  DocumentWrite,
  RetrievalQuery,
  RetrieveCall,
  Retriever,
  Searchable,
  Store,
  StoreCounts,
  StoreSettings,
  StoreWrite,
  Verification,
  VerifyOptions,
  WrittenDocument,
} from "../../core/ports.js";
import type { Metadata } from "../../core/types.js";
import { requiredTerms } from "../../text/words/phrase-match.js";
import { queryTerms, terms } from "../../text/words/terms.js";
import { closeOptions, documentsFilter, readCall, retrieveCall, storeWrite, verifyOptions } from "../call-options.js";
import { checkVector, normalised } from "../database/vectors.js";
import { TaskQueue } from "../derived/scheduling.js";
import { ScopeRules } from "../scope-rules.js";
import { encodeWrite } from "../writer/write-message.js";
import { columnText, originalText } from "./column-text.js";
import type { ResolvedPostgresOptions } from "./options.js";
import { readCounts, readDocument, readDocumentWithChunks, readHits, readInfos, readNotes } from "./reading.js";
import { checkTables, measureRecall } from "./checking.js";
import { repairTables } from "./repairing.js";
import {
  createEmbeddings,
  createGraph,
  maxIndexedDimension,
  type MetaName,
  type Precision,
  readMeta,
  writeMeta,
} from "./schema.js";
import { mostRelevant, nearest, type Scored } from "./searching.js";
import type { Server, Session, Work } from "./server.js";
import { prepareDocument } from "./stored-document.js";
import {
  deleteDocuments,
  insertVectors,
  storedVectors,
  type VectorType,
  writeDocuments,
  writeNotes,
} from "./writing.js";

export interface PostgresStoreParts<Space extends string> {
  readonly server: Server;
  /** Facts of the store as they were when it was opened. */
  readonly meta: ReadonlyMap<MetaName, string>;
  /** Object id of the type `vector`. */
  readonly vectorOid: number;
  readonly space: Space;
  /** Length of the vectors, if the embedder knows it. */
  readonly dimension: number | undefined;
  readonly options: ResolvedPostgresOptions;
}

/** A store in one schema of a PostgreSQL database. Any number of processes read and write at the same time. */
export class PostgresStore<const Space extends string> implements Store<Space> {
  readonly space: Space;
  readonly location: string;
  readonly metadataSchema?: z.ZodType<Metadata>;
  readonly dense: Retriever;
  readonly lexical: Retriever;
  readonly document: Store["document"];
  readonly documentInfo: Store["documentInfo"];
  readonly documents: Store["documents"];
  readonly hits: Store["hits"];
  readonly #parts: PostgresStoreParts<Space>;
  readonly #rules: ScopeRules;
  readonly #schema: string;
  #meta: ReadonlyMap<MetaName, string>;
  /** Writes follow one another: a document may rely on vectors that the write before it brings. */
  readonly #writes = new TaskQueue();
  #hasGraph = false;
  #closed: Promise<void> | undefined;

  constructor(parts: PostgresStoreParts<Space>) {
    const { server, space, meta, options } = parts;
    this.#parts = parts;
    this.#meta = meta;
    this.#schema = `"${options.schema}"`;
    this.space = space;
    this.location = server.location;
    const { metadata, requireScope } = options;
    if (metadata) this.metadataSchema = metadata as unknown as z.ZodType<Metadata>;
    this.#rules = new ScopeRules({ location: this.location, requireScope, metadataSchema: metadata });
    const { dense, lexical, document, documentInfo, documents, hits } = this.#within(undefined);
    [this.dense, this.lexical, this.hits] = [dense, lexical, hits];
    [this.document, this.documentInfo, this.documents] = [document, documentInfo, documents];
  }

  get tokenMargin(): number {
    return Number(this.#meta.get("token-margin") ?? 1);
  }

  get settings(): StoreSettings {
    return JSON.parse(this.#meta.get("settings") ?? "{}") as StoreSettings;
  }

  get dimension(): number | undefined {
    const stored = this.#meta.get("dimension");
    return stored === undefined ? undefined : Number(stored);
  }

  scoped(filter: Filter): Searchable<Space> {
    return this.#scoped(this.#rules.checked(filter));
  }

  write(given: StoreWrite): Promise<readonly WrittenDocument[]> {
    return this.#writes.run(() => this.#write(given));
  }

  async #write(given: StoreWrite): Promise<readonly WrittenDocument[]> {
    const write = resolve("write", storeWrite, given) as StoreWrite;
    const { dimension: known, options } = this.#parts;
    for (const { document } of write.documents ?? []) checkMetadata(options.metadata, document);
    this.#refuseClosed();
    // Checks everything; the copy that it makes for another thread is not needed here.
    const { dimension } = await encodeWrite(write, this.dimension ?? known);
    if (dimension !== undefined && this.dimension === undefined) await this.#setDimension(dimension);
    const vectors = new Map(write.vectors);
    for (const vector of vectors.values()) checkVector(vector, this.dimension!, "a text");
    const documents = (write.documents ?? []).map(prepareDocument);
    const written = await this.#transaction(async (session) => {
      await this.#writeFacts(session, write);
      const fresh = await insertVectors(session, vectors);
      const keys = new Set(documents.flatMap(({ chunks }) => chunks.map(({ vector }) => vector)));
      const stored = await storedVectors(
        session,
        [...keys].filter((key) => !fresh.has(key)),
      );
      const embedding = (key: string) => stored.get(key) ?? vectors.get(key)!;
      for (const { document, chunks } of documents) {
        const missing = chunks.find(({ vector }) => !embedding(vector));
        if (missing) throw withoutVector(document.uri, missing.start, this.location);
      }
      const outcomes: WrittenDocument[] = [];
      // A uri that comes twice is written twice, so that the last one stays.
      for (const some of withoutRepeats(documents, ({ document }) => document.uri)) {
        outcomes.push(...(await writeDocuments(session, some, embedding, this.#vectorType)));
      }
      await writeNotes(session, write.notes ?? new Map());
      const meta = await readMeta(session, this.#schema);
      return { outcomes, meta: meta! };
    });
    this.#meta = written.meta;
    if (documents.length > 0) await this.#prepareGraph();
    return written.outcomes;
  }

  deleteDocuments(uris: readonly string[]): Promise<{ readonly documents: number; readonly chunks: number }> {
    return this.#writes.run(() => this.#transaction((session) => deleteDocuments(session, uris)));
  }

  async knownVectors(keys: readonly string[]): Promise<ReadonlyMap<string, Float32Array>> {
    const found = await this.#read((session) => storedVectors(session, keys));
    return new Map(keys.flatMap((key) => (found.has(columnText(key)) ? [[key, found.get(columnText(key))!]] : [])));
  }

  notes(uris: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#read((session) => readNotes(session, uris));
  }

  documentWithChunks(uri: string): Promise<DocumentWrite | undefined> {
    return this.#read((session) => {
      this.#rules.effective(undefined, undefined);
      return readDocumentWithChunks(session, uri);
    });
  }

  counts(): Promise<StoreCounts> {
    return this.#read(readCounts);
  }

  async verify(options: VerifyOptions = {}): Promise<Verification> {
    const { sample, repair, dropUnusedVectors, signal } = resolve("verify", verifyOptions, options);
    if (dropUnusedVectors && !repair) {
      throw new OptionsError("options", "verify: dropUnusedVectors changes the store, so it needs repair: true");
    }
    const call = { deadlineMs: Infinity, ...(signal && { signal }) };
    const check = () => this.#read((session) => checkTables(session, this.dimension, signal), call);
    const before = await check();
    const repaired = repair && before.problems.every(({ repairable }) => repairable);
    let [after, droppedVectors] = [before, 0];
    if (repaired && (before.problems.length > 0 || dropUnusedVectors)) {
      droppedVectors = await this.#transaction(
        (session) => repairTables(session, before, this.#vectorType, dropUnusedVectors),
        { deadlineMs: Infinity },
      );
      after = await check();
    }
    const ok = after.problems.length === 0;
    const canMeasure = ok && this.dimension !== undefined;
    return {
      ok,
      problems: before.problems,
      recall: canMeasure
        ? await this.#read((session) => measureRecall(session, sample, this.#precision), call)
        : undefined,
      repaired,
      ...(dropUnusedVectors && { droppedVectors }),
    };
  }

  async close(options: CloseOptions = {}): Promise<void> {
    resolve("close", closeOptions, options);
    this.#closed ??= this.#parts.server.close();
    return this.#closed;
  }

  #scoped(scope: Filter): Searchable<Space> {
    const { space, location, metadataSchema } = this;
    const dimension = () => this.dimension;
    return {
      space,
      location,
      get dimension() {
        return dimension();
      },
      ...(metadataSchema && { metadataSchema }),
      ...this.#within(scope),
      scoped: (filter) => this.#scoped({ all: [scope, this.#rules.checked(filter)] }),
    };
  }

  #within(
    scope: Filter | undefined,
  ): Pick<Searchable, "dense" | "lexical" | "document" | "documentInfo" | "documents" | "hits"> {
    const filtered = (filter: Filter | undefined) => this.#rules.effective(scope, filter);
    return {
      dense: this.#retriever("dense", filtered, (session, query, count, filter) =>
        this.#nearest(session, query, count, filter),
      ),
      lexical: this.#retriever("lexical", filtered, (session, { text, phrases = [] }, count, filter) => {
        // A query with quotes is meant literally, so it keeps its question words.
        const words = phrases.length > 0 ? terms(text) : queryTerms(text);
        return mostRelevant(session, { words, required: requiredTerms(phrases), count, filter });
      }),
      document: async (uri, call = {}) => {
        const filter = filtered(resolve("document", readCall, call).filter);
        return this.#read((session) => readDocument(session, uri, filter));
      },
      documentInfo: async (uri) => {
        const filter = filtered(undefined);
        return (await this.#read((session) => readInfos(session, { uri }, filter)))[0];
      },
      documents: async (given = {}) => {
        const wanted = resolve("documents", documentsFilter, given);
        const filter = filtered(undefined);
        return this.#read((session) => readInfos(session, wanted, filter));
      },
      hits: async (found, call = {}) => {
        const filter = filtered(resolve("hits", readCall, call).filter);
        return this.#read((session) => readHits(session, found, filter));
      },
    };
  }

  #retriever(
    name: string,
    filtered: (filter: Filter | undefined) => Filter | undefined,
    search: (
      session: Session,
      query: RetrievalQuery,
      count: number,
      filter: Filter | undefined,
    ) => Promise<readonly Scored[]>,
  ): Retriever {
    return {
      name,
      retrieve: async (query: RetrievalQuery, call: RetrieveCall) => {
        const { count, filter, signal, deadlineMs } = resolve(name, retrieveCall, call);
        signal?.throwIfAborted();
        const effective = filtered(filter);
        const limits = { ...(signal && { signal }), ...(deadlineMs !== undefined && { deadlineMs }) };
        const found = await this.#read((session) => search(session, query, count, effective), limits);
        return found.map(({ id, score }, at) => ({
          chunkId: originalText(id),
          score,
          placements: [{ by: name, rank: at + 1, score }],
        }));
      },
    };
  }

  async #nearest(
    session: Session,
    { vector }: RetrievalQuery,
    count: number,
    filter: Filter | undefined,
  ): Promise<readonly Scored[]> {
    if (vector === undefined) {
      throw new OptionsError(
        "options",
        "dense: the query has no vector. Put embedQuestion() before search(), or search in lexical mode",
      );
    }
    // Another process may have written the first vectors.
    if (this.dimension === undefined) this.#meta = (await readMeta(session, this.#schema))!;
    checkVector(vector, this.dimension ?? this.#parts.dimension ?? vector.length, "the query");
    if (this.dimension === undefined) return [];
    return nearest(session, { vector: normalised(vector), count, filter, precision: this.#precision });
  }

  get #vectorType(): VectorType {
    return { oid: this.#parts.vectorOid, precision: this.#precision };
  }

  get #precision(): Precision {
    const stored = this.#meta.get("precision") as Precision | undefined;
    return stored ?? this.#parts.options.precision ?? "vector";
  }

  async #setDimension(dimension: number): Promise<void> {
    this.#meta = await this.#transaction(async (session) => {
      await createEmbeddings(session, this.#schema, dimension, this.#precision);
      return (await readMeta(session, this.#schema))!;
    });
  }

  async #writeFacts(session: Session, { tokenMargin = 1, settings }: StoreWrite): Promise<void> {
    if (!this.#meta.has("space")) await writeMeta(session, "space", this.space);
    if (tokenMargin > this.tokenMargin) await writeMeta(session, "token-margin", String(tokenMargin));
    if (!settings) return;
    // Another writer may change another setting at this moment.
    await session.query("LOCK TABLE meta IN SHARE ROW EXCLUSIVE MODE");
    const stored = (await readMeta(session, this.#schema))!.get("settings") ?? "{}";
    const all = Object.entries({ ...(JSON.parse(stored) as StoreSettings), ...settings });
    await writeMeta(session, "settings", JSON.stringify(Object.fromEntries(all.filter(([, value]) => value !== null))));
  }

  /** Makes the graph once it is worth it. Others who write meanwhile wait for it. */
  async #prepareGraph(): Promise<void> {
    const { index, flatBelow, m, efConstruction } = this.#parts.options;
    if (this.#hasGraph || index === "flat" || this.dimension === undefined) return;
    if (this.dimension > maxIndexedDimension[this.#precision]) return;
    if (index === "auto") {
      const [{ chunks }] = (await this.#read((session) =>
        session.query<{ chunks: number }>("SELECT coalesce(sum(chunks), 0)::bigint AS chunks FROM totals"),
      )) as [{ chunks: number }];
      if (chunks < flatBelow) return;
    }
    await this.#transaction(
      async (session) => {
        await session.query("SET LOCAL statement_timeout = 0");
        await createGraph(session, this.#schema, this.#precision, { m, efConstruction });
      },
      { deadlineMs: Infinity },
    );
    this.#hasGraph = true;
  }

  #read<Result>(work: Work<Result>, call?: Parameters<Server["read"]>[1]): Promise<Result> {
    return this.#use(() => this.#parts.server.read(work, call));
  }

  #transaction<Result>(work: Work<Result>, call?: Parameters<Server["read"]>[1]): Promise<Result> {
    return this.#use(() => this.#parts.server.transaction(work, call));
  }

  async #use<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#refuseClosed();
    return work();
  }

  #refuseClosed(): void {
    if (!this.#closed) return;
    const message = `The store at ${this.location} was closed. Open it again with openPostgresStore()`;
    throw new StoreError("closed", message, { path: this.location });
  }
}

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
