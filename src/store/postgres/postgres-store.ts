import type { z } from "zod";
import { OptionsError, StoreError } from "../../core/errors.js";
import type { Filter } from "../../core/filter.js";
import { checkMetadata } from "../../core/metadata.js";
import { resolve } from "../../core/options.js";
import type {
  CallOptions,
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
import {
  readCounts,
  readDocument,
  readDocumentWithChunks,
  readHits,
  readInfos,
  readNotes,
  vectorKeys,
} from "./reading.js";
import {
  createEmbeddings,
  createGraph,
  maxIndexedDimension,
  type MetaName,
  type Precision,
  readMeta,
  writeMeta,
} from "./schema.js";
import { addedUp, mostRelevant, nearest, type Scored, totalChunks, wordStatistics } from "./searching.js";
import type { Server, Session, Work } from "./server.js";
import type { Shards } from "./shards.js";
import { type PreparedDocument, prepareDocument } from "./stored-document.js";
import { verifyServer } from "./verifying.js";
import { deleteDocuments, insertVectors, storedVectors, writeDocuments, writeNotes } from "./writing.js";

export interface PostgresStoreParts<Space extends string> {
  readonly shards: Shards;
  /** Address of the first server. */
  readonly url: string;
  /** Facts of the first server as they were when it was opened. */
  readonly meta: ReadonlyMap<MetaName, string>;
  readonly space: Space;
  /** Length of the vectors, if the embedder knows it. */
  readonly dimension: number | undefined;
  readonly options: ResolvedPostgresOptions;
}

/** A store in one schema of one or several PostgreSQL databases. Any number of processes read and write at the same time. */
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
    const { shards, space, meta, options } = parts;
    this.#parts = parts;
    this.#meta = meta;
    this.#schema = `"${options.schema}"`;
    this.space = space;
    this.location = shards.first.location;
    const { metadata, requireScope } = options;
    if (metadata) this.metadataSchema = metadata as unknown as z.ZodType<Metadata>;
    this.#rules = new ScopeRules({ location: this.location, requireScope, metadataSchema: metadata });
    const { dense, lexical, document, documentInfo, documents, hits } = this.#within(undefined);
    [this.dense, this.lexical, this.hits] = [dense, lexical, hits];
    [this.document, this.documentInfo, this.documents] = [document, documentInfo, documents];
  }

  /** Its first server, for what else is kept in the same schema there. */
  get database(): { readonly server: Server; readonly url: string; readonly schema: string } {
    const { shards, url, options } = this.#parts;
    return { server: shards.first, url, schema: options.schema };
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
    return this.writeWith(given, async () => {});
  }

  /** Writes, and does `also` in the same transaction, which is repeated with it. */
  writeWith(
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
    const { dimension: known, options } = this.#parts;
    for (const { document } of write.documents ?? []) checkMetadata(options.metadata, document);
    this.#refuseClosed();
    // Checks everything; the copy that it makes for another thread is not needed here.
    const { dimension } = await encodeWrite(write, this.dimension ?? known);
    if (dimension !== undefined && this.dimension === undefined) await this.#setDimension(dimension);
    const vectors = new Map(write.vectors);
    for (const vector of vectors.values()) checkVector(vector, this.dimension!, "a text");
    const documents = (write.documents ?? []).map(prepareDocument);
    const uris = [...documents.map(({ document }) => document.uri), ...(write.notes?.keys() ?? [])];
    const written = await this.#transaction([...uris, ...vectors.keys()], async (first, sessionOf) => {
      await this.#writeFacts(first, write);
      const outcomes = new Map<PreparedDocument, WrittenDocument>();
      const used = new Set<string>();
      for (const [session, some] of grouped(documents, ({ document }) => sessionOf(document.uri))) {
        const embedding = await this.#embeddings(session, some, vectors);
        for (const { chunks } of some) for (const { vector } of chunks) used.add(vector);
        // A uri that comes twice is written twice, so that the last one stays.
        for (const different of withoutRepeats(some, ({ document }) => document.uri)) {
          const done = await writeDocuments(session, different, embedding);
          for (const [at, outcome] of done.entries()) outcomes.set(different[at]!, outcome);
        }
      }
      const unused = [...vectors].filter(([key]) => !used.has(columnText(key)));
      for (const [session, some] of grouped(unused, ([key]) => sessionOf(key))) {
        await insertVectors(session, new Map(some));
      }
      for (const [session, some] of grouped([...(write.notes ?? [])], ([uri]) => sessionOf(uri))) {
        await writeNotes(session, new Map(some));
      }
      const all = documents.map((each) => outcomes.get(each)!);
      await also(first, all);
      return { outcomes: all, meta: (await readMeta(first, this.#schema))! };
    });
    this.#meta = written.meta;
    if (documents.length > 0) await this.#prepareGraph();
    return written.outcomes;
  }

  deleteDocuments(uris: readonly string[]): Promise<{ readonly documents: number; readonly chunks: number }> {
    const deleting = () =>
      this.#transaction(uris, async (_, sessionOf) => {
        let [documents, chunks] = [0, 0];
        for (const [session, some] of grouped(uris, sessionOf)) {
          const gone = await deleteDocuments(session, some);
          documents += gone.documents;
          chunks += gone.chunks;
        }
        return { documents, chunks };
      });
    return this.#writes.run(deleting);
  }

  async knownVectors(keys: readonly string[]): Promise<ReadonlyMap<string, Float32Array>> {
    const found = merged(await this.#read((session) => storedVectors(session, keys)));
    return new Map(keys.flatMap((key) => (found.has(columnText(key)) ? [[key, found.get(columnText(key))!]] : [])));
  }

  async notes(uris: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return merged(await this.#read((session) => readNotes(session, uris)));
  }

  async documentWithChunks(uri: string): Promise<DocumentWrite | undefined> {
    this.#rules.effective(undefined, undefined);
    return (await this.#read((session) => readDocumentWithChunks(session, uri))).find((found) => found);
  }

  async counts(): Promise<StoreCounts> {
    const counts = await this.#read(readCounts);
    const sum = (name: keyof StoreCounts) => counts.reduce((total, each) => total + each[name], 0);
    if (this.#parts.shards.count === 1) return counts[0]!;
    // Documents on two servers may hold the same text, whose vector then stands on both.
    const keys = new Set((await this.#read(vectorKeys)).flat());
    return { documents: sum("documents"), chunks: sum("chunks"), vectors: keys.size };
  }

  async verify(options: VerifyOptions = {}): Promise<Verification> {
    const { sample, repair, dropUnusedVectors, signal } = resolve("verify", verifyOptions, options);
    if (dropUnusedVectors && !repair) {
      throw new OptionsError("options", "verify: dropUnusedVectors changes the store, so it needs repair: true");
    }
    const call = { deadlineMs: Infinity, ...(signal && { signal }) };
    const shards = await this.#use(() =>
      this.#parts.shards.onEach((server) =>
        verifyServer(
          server,
          { sample, repair, dropUnusedVectors, precision: this.#precision, dimension: this.dimension },
          call,
        ),
      ),
    );
    const recalls = shards.flatMap(({ recall }) => (recall === undefined ? [] : [recall]));
    return {
      ok: shards.every(({ ok }) => ok),
      problems: shards.flatMap(({ problems }) => problems),
      recall: recalls.length > 0 ? recalls.reduce((sum, each) => sum + each, 0) / recalls.length : undefined,
      repaired: shards.every(({ repaired }) => repaired),
      ...(dropUnusedVectors && {
        droppedVectors: shards.reduce((sum, { droppedVectors = 0 }) => sum + droppedVectors, 0),
      }),
    };
  }

  async close(options: CloseOptions = {}): Promise<void> {
    resolve("close", closeOptions, options);
    this.#closed ??= this.#parts.shards.close();
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
      dense: this.#retriever("dense", filtered, (query, count, filter, call) =>
        this.#nearest(query, count, filter, call),
      ),
      lexical: this.#retriever("lexical", filtered, (query, count, filter, call) =>
        this.#mostRelevant(query, count, filter, call),
      ),
      document: async (uri, call = {}) => {
        const filter = filtered(resolve("document", readCall, call).filter);
        return (await this.#read((session) => readDocument(session, uri, filter))).find((found) => found);
      },
      documentInfo: async (uri) => {
        const filter = filtered(undefined);
        return (await this.#read((session) => readInfos(session, { uri }, filter))).flat()[0];
      },
      documents: async (given = {}) => {
        const wanted = resolve("documents", documentsFilter, given);
        const filter = filtered(undefined);
        const found = (await this.#read((session) => readInfos(session, wanted, filter))).flat();
        if (this.#parts.shards.count === 1) return found;
        // While a bucket moves, its documents may stand on two servers.
        const distinct = [...new Map(found.map((info) => [info.uri, info])).values()];
        return distinct.toSorted(inOrderOfBytes).slice(0, wanted.limit);
      },
      hits: async (found, call = {}) => {
        const filter = filtered(resolve("hits", readCall, call).filter);
        const hits = (await this.#answering((session) => readHits(session, found, filter))).flat();
        if (this.#parts.shards.count === 1) return hits;
        const byId = new Map(hits.map((hit) => [hit.chunk.id, hit]));
        return found.flatMap(({ chunkId }) => byId.get(chunkId) ?? []);
      },
    };
  }

  #retriever(
    name: string,
    filtered: (filter: Filter | undefined) => Filter | undefined,
    search: (
      query: RetrievalQuery,
      count: number,
      filter: Filter | undefined,
      call: CallOptions,
    ) => Promise<readonly (readonly Scored[])[]>,
  ): Retriever {
    return {
      name,
      retrieve: async (query: RetrievalQuery, call: RetrieveCall) => {
        const { count, filter, signal, deadlineMs } = resolve(name, retrieveCall, call);
        signal?.throwIfAborted();
        const limits = { ...(signal && { signal }), ...(deadlineMs !== undefined && { deadlineMs }) };
        const found = await search(query, count, filtered(filter), limits);
        return best(found, count).map(({ id, score }, at) => ({
          chunkId: originalText(id),
          score,
          placements: [{ by: name, rank: at + 1, score }],
        }));
      },
    };
  }

  async #nearest(
    { vector }: RetrievalQuery,
    count: number,
    filter: Filter | undefined,
    call: CallOptions,
  ): Promise<readonly (readonly Scored[])[]> {
    if (vector === undefined) {
      throw new OptionsError(
        "options",
        "dense: the query has no vector. Put embedQuestion() before search(), or search in lexical mode",
      );
    }
    // Another process may have written the first vectors.
    if (this.dimension === undefined) {
      this.#meta = (await this.#use(() =>
        this.#parts.shards.first.read((first) => readMeta(first, this.#schema), call),
      ))!;
    }
    checkVector(vector, this.dimension ?? this.#parts.dimension ?? vector.length, "the query");
    if (this.dimension === undefined) return [];
    const search = { vector: normalised(vector), count, filter, precision: this.#precision };
    return this.#answering((session) => nearest(session, search), call);
  }

  /** Weighs words by how rare they are in the whole collection, so that ranks do not depend on the number of servers. */
  async #mostRelevant(
    { text, phrases = [] }: RetrievalQuery,
    count: number,
    filter: Filter | undefined,
    call: CallOptions,
  ): Promise<readonly (readonly Scored[])[]> {
    // A query with quotes is meant literally, so it keeps its question words.
    const words = phrases.length > 0 ? terms(text) : queryTerms(text);
    const statistics =
      this.#parts.shards.count === 1
        ? undefined
        : addedUp(await this.#answering((session) => wordStatistics(session, words), call));
    const search = { words, required: requiredTerms(phrases), count, filter, statistics };
    return this.#answering((session) => mostRelevant(session, search), call);
  }

  get #precision(): Precision {
    const stored = this.#meta.get("precision") as Precision | undefined;
    return stored ?? this.#parts.options.precision ?? "vector";
  }

  /** Makes the tables that need to know the length of vectors, on every server. */
  async #setDimension(dimension: number): Promise<void> {
    const precision = this.#precision;
    const make: Work<ReadonlyMap<MetaName, string>> = async (session) => {
      await createEmbeddings(session, this.#schema, dimension, precision);
      return (await readMeta(session, this.#schema))!;
    };
    const [first] = await this.#use(() => this.#parts.shards.onEach((server) => server.transaction(make)));
    this.#meta = first!;
  }

  /** The vectors of these documents' chunks, all of which are then on the session's server. */
  async #embeddings(
    session: Session,
    documents: readonly PreparedDocument[],
    sent: ReadonlyMap<string, Float32Array>,
  ): Promise<(key: string) => Float32Array> {
    const keys = [...new Set(documents.flatMap(({ chunks }) => chunks.map(({ vector }) => vector)))];
    const given = (some: readonly string[], from: ReadonlyMap<string, Float32Array>) =>
      new Map(some.flatMap((key) => (from.has(key) ? [[key, from.get(key)!] as const] : [])));
    const fresh = await insertVectors(session, given(keys, sent));
    const stored = await storedVectors(
      session,
      keys.filter((key) => !fresh.has(key)),
    );
    const absent = keys.filter((key) => !fresh.has(key) && !stored.has(key));
    if (absent.length > 0 && this.#parts.shards.count > 1) {
      const elsewhere = merged(await this.#read((other) => storedVectors(other, absent)));
      await insertVectors(session, elsewhere);
      for (const [key, vector] of elsewhere) stored.set(key, vector);
    }
    const embedding = (key: string) => stored.get(key) ?? sent.get(key)!;
    for (const { document, chunks } of documents) {
      const missing = chunks.find(({ vector }) => !embedding(vector));
      if (missing) throw withoutVector(document.uri, missing.start, this.location);
    }
    return embedding;
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

  /** Makes the graph of each server once it is worth it. Others who write meanwhile wait for it. */
  async #prepareGraph(): Promise<void> {
    const { index, flatBelow, m, efConstruction } = this.#parts.options;
    if (this.#hasGraph || index === "flat" || this.dimension === undefined) return;
    if (this.dimension > maxIndexedDimension[this.#precision]) return;
    const made = await this.#use(() =>
      this.#parts.shards.onEach(async (server) => {
        if (index === "auto" && (await server.read(totalChunks)) < flatBelow) return false;
        const make: Work<void> = async (session) => {
          await session.query("SET LOCAL statement_timeout = 0");
          await createGraph(session, this.#schema, this.#precision, { m, efConstruction });
        };
        await server.transaction(make, { deadlineMs: Infinity });
        return true;
      }),
    );
    this.#hasGraph = made.every(Boolean);
  }

  /** The results of each server. */
  #read<Result>(work: Work<Result>, call?: CallOptions): Promise<Result[]> {
    return this.#use(() => this.#parts.shards.each(work, call));
  }

  /** The results of each server, or of those that answer in time where that is enough. */
  #answering<Result>(work: Work<Result>, call?: CallOptions): Promise<Result[]> {
    return this.#use(() => this.#parts.shards.answering(work, call));
  }

  #transaction<Result>(
    uris: readonly string[],
    work: (first: Session, sessionOf: (uri: string) => Session) => Promise<Result>,
  ): Promise<Result> {
    return this.#use(() => this.#parts.shards.transaction(uris, work));
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

function grouped<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

function merged<Key, Value>(maps: readonly ReadonlyMap<Key, Value>[]): Map<Key, Value> {
  return new Map(maps.flatMap((map) => [...map]));
}

function inOrderOfBytes(one: { readonly uri: string }, other: { readonly uri: string }): number {
  return Buffer.compare(Buffer.from(one.uri), Buffer.from(other.uri));
}

/** The best of all servers; a chunk that is just being moved comes from two. */
function best(found: readonly (readonly Scored[])[], count: number): readonly Scored[] {
  if (found.length === 1) return found[0]!;
  const distinct = [...new Map(found.flat().map((each) => [each.id, each])).values()];
  return distinct.toSorted((one, other) => other.score - one.score || (one.id < other.id ? -1 : 1)).slice(0, count);
}
