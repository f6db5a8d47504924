import { setImmediate as nextTurn } from "node:timers/promises";
import type { z } from "zod";
import { asError, OptionsError, StoreError } from "../core/errors.js";
import type { Filter } from "../core/filter.js";
import { checkDetails } from "../core/metadata.js";
import { resolve } from "../core/options.js";
import type {
  CloseOptions,
  DocumentWrite,
  RetrievalQuery,
  Retriever,
  Searchable,
  Store,
  StoreCounts,
  StoreSizes,
  StoreSettings,
  StoreWrite,
  Verification,
  VerifyOptions,
  WrittenDocument,
} from "../core/ports.js";
import { unlessAborted } from "../core/stream.js";
import type { Metadata } from "../core/types.js";
import { refuseLostFile } from "./database/file-identity.js";
import { asStoreError, type Database, endWal } from "../sqlite/database.js";
import { closeOptions, storeWrite } from "./call-options.js";
import type { Conversations } from "./conversations/conversations.js";
import type { KeepsConversations } from "./conversations/keeps-conversations.js";
import { diskUse } from "./disk-use.js";
import { openConversations } from "./conversations/embedded-conversations.js";
import { isUnused, metaReader, readSettings } from "./database/schema.js";
import { removeIfUnused, type StoreFolder } from "./database/store-folder.js";
import { StoreReader } from "./database/store-reader.js";
import { checkVector, normalised } from "./database/vectors.js";
import { WriteLock } from "./database/write-lock.js";
import { Dense } from "./dense/dense.js";
import { AllowedChunks } from "./derived/allowed-chunks.js";
import { Changes, type Position } from "./derived/changes.js";
import { deleteStaleIndexes } from "./derived/saved-index.js";
import { TaskQueue, TimeSlice } from "./derived/scheduling.js";
import type { Ranking } from "./derived/top-k.js";
import { LatentIndex } from "./latent/latent-index.js";
import { LexicalIndex } from "./lexical/lexical-index.js";
import { ScopeRules } from "./scope-rules.js";
import { ScopedReading } from "./scoped-reading.js";
import type { ResolvedStoreOptions } from "./store-options.js";
import { WriterThread } from "./writer/writer-thread.js";

type SearchIndex = Dense | LexicalIndex | LatentIndex;

/** How long the write lock is kept after a write, in milliseconds: the next one is then spared taking it again. */
const graceMs = 500;

export interface EmbeddedStoreParts<Space extends string> {
  /** Folder that the caller named. */
  readonly location: string;
  /** Which of the stores in that folder this is. */
  readonly generation: string;
  readonly folder: StoreFolder;
  /** Open, with its tables. The store closes it. */
  readonly database: Database;
  /** `fileIdentity` of the database. */
  readonly identity: string | undefined;
  readonly id: string;
  readonly space: Space;
  /** Length of the vectors, if the embedder knows it. */
  readonly dimension: number | undefined;
  readonly settings: ResolvedStoreOptions;
  /** Module to load in place of the native graph library. */
  readonly graphModule: string | undefined;
  /** Program of the writer's thread, in place of the usual one. */
  readonly writerModule: URL | undefined;
}

/**
 * A store in one folder. SQLite holds the data, and the search indexes are derived from it. Any number of processes may
 * read while one writes.
 */
export class EmbeddedStore<const Space extends string> implements Store<Space>, KeepsConversations {
  readonly space: Space;
  readonly location: string;
  readonly metadataSchema?: z.ZodType<Metadata>;
  readonly dense: Retriever;
  readonly lexical: Retriever;
  readonly latent?: Retriever;
  readonly similarWords: NonNullable<Store["similarWords"]>;
  readonly document: Store["document"];
  readonly documentInfo: Store["documentInfo"];
  readonly documents: Store["documents"];
  readonly hits: Store["hits"];
  readonly #parts: EmbeddedStoreParts<Space>;
  readonly #warn: (message: string) => void;
  readonly #reader: StoreReader;
  readonly #readMeta: ReturnType<typeof metaReader>;
  readonly #rules: ScopeRules;
  readonly #reading: ScopedReading;
  readonly #allowed: AllowedChunks;
  readonly #changes: Changes;
  readonly #writes = new TaskQueue();
  readonly #dense: Dense;
  readonly #lexical: Promise<LexicalIndex>;
  readonly #latent: Promise<LatentIndex> | undefined;
  /** Closing waits for these. */
  readonly #pendingCalls = new Set<Promise<unknown>>();
  #dimension: number | undefined;
  #writer: WriterThread | undefined;
  /** Claims that keep the write lock beyond single writes. */
  #claims = 0;
  #lettingGo: NodeJS.Timeout | undefined;
  /** The changes acknowledged so far: while no other process writes, a search need not see more. */
  #acknowledged: Position | undefined;
  #closed: Promise<void> | undefined;

  constructor(parts: EmbeddedStoreParts<Space>) {
    const { database, folder, id: store, location, space, settings, graphModule } = parts;
    const { metadata, requireScope, latent: wanted, onWarning = () => {}, ...options } = settings;
    this.#parts = parts;
    this.#warn = onWarning;
    this.space = space;
    this.location = location;
    if (metadata) this.metadataSchema = metadata as unknown as z.ZodType<Metadata>;
    this.#reader = new StoreReader(database);
    this.#readMeta = metaReader(database);
    this.#allowed = new AllowedChunks(database);
    this.#changes = new Changes(database);
    const whenUnsaved = (save: () => Promise<unknown>) => this.#saveClaimed(save);
    const shared = { ...options, folder: folder.path, store, onWarning, whenUnsaved };
    this.#dense = new Dense(this.#changes, { ...shared, databasePath: folder.databasePath, graphModule });
    this.#rules = new ScopeRules({ location, requireScope, metadataSchema: metadata });
    this.#reading = new ScopedReading({
      rules: this.#rules,
      reader: this.#reader,
      search: {
        dense: (query, count, filter) => this.#searchDense(query, count, filter),
        lexical: async ({ text, phrases }, count, filter) => {
          const index = await this.#lexical;
          // The vector of a hybrid search is on its way to the graph's thread by then, and both sides search at the same time.
          await nextTurn();
          return index.search(text, count, { phrases, filter, upTo: this.#searchPosition() });
        },
        ...(wanted && {
          latent: async ({ text }, count, filter) =>
            (await this.#latent!).search(text, count, filter, this.#searchPosition()),
        }),
      },
      ...(wanted && { latentWeight: async () => (await this.#latent!).weight }),
      stems: async (near, count, filter) =>
        (await this.#lexical).similarStems(near, count, { filter, upTo: this.#searchPosition() }),
      use: (work) => this.#use(work),
    });
    const { dense, lexical, latent, similarWords, document, documentInfo, documents, hits } =
      this.#reading.within(undefined);
    if (latent) this.latent = latent;
    this.similarWords = similarWords!;
    [this.dense, this.lexical, this.hits] = [dense, lexical, hits];
    [this.document, this.documentInfo, this.documents] = [document, documentInfo, documents];
    // Loading begins at once, beside the embedding of the first question. A failure shows at the first use.
    this.#lexical = LexicalIndex.open(this.#changes, { ...shared, allowed: this.#allowed });
    if (wanted) this.#latent = LatentIndex.open(this.#changes, { ...shared, latent: wanted, allowed: this.#allowed });
    void this.#prepareIndexes();
  }

  conversations(): Conversations {
    return openConversations(this.location);
  }

  get tokenMargin(): number {
    return this.#closed ? 1 : Number(this.#readMeta("token-margin") ?? 1);
  }

  get settings(): StoreSettings {
    return this.#closed ? {} : readSettings(this.#parts.database);
  }

  get dimension(): number | undefined {
    if (this.#dimension === undefined && !this.#closed) {
      const stored = this.#readMeta("dimension");
      if (stored !== undefined) this.#dimension = Number(stored);
    }
    return this.#dimension;
  }

  scoped(filter: Filter): Searchable<Space> {
    return this.#scoped(this.#rules.checked(filter));
  }

  async claim(): Promise<() => Promise<void>> {
    return this.#use(async () => {
      await this.#writes.run(async () => {
        await this.#locking().lock();
        this.#claims++;
      });
      let isKept = true;
      return async () => {
        if (!isKept) return;
        isKept = false;
        await this.#dropClaim();
      };
    });
  }

  async write(given: StoreWrite): Promise<readonly WrittenDocument[]> {
    const write = resolve("write", storeWrite, given) as StoreWrite;
    const { metadata } = this.#parts.settings;
    for (const { document } of write.documents ?? []) checkDetails(metadata, document);
    return this.#change((writer) => writer.write(write, this.dimension ?? this.#parts.dimension));
  }

  deleteDocuments(uris: readonly string[]): Promise<{ readonly documents: number; readonly chunks: number }> {
    return this.#change((writer) => writer.deleteDocuments(uris));
  }

  knownVectors(keys: readonly string[]): Promise<ReadonlyMap<string, Float32Array>> {
    return this.#use(async () => {
      const slice = new TimeSlice();
      const known = new Map<string, Float32Array>();
      for (const key of keys) {
        const vector = this.#reader.vector(key);
        if (vector) known.set(key, vector);
        if (slice.over) await slice.next();
      }
      return known;
    });
  }

  notes(uris: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#use(async () => this.#reader.notes(uris));
  }

  documentWithChunks(uri: string): Promise<DocumentWrite | undefined> {
    return this.#reading.documentWithChunks(uri);
  }

  counts(): Promise<StoreCounts> {
    return this.#use(async () => this.#reader.counts());
  }

  sizes(): Promise<StoreSizes> {
    return this.#use(async () => {
      const { database, indexes, conversations, otherGenerations } = diskUse(this.location);
      return {
        databaseBytes: database,
        indexBytes: indexes,
        conversationBytes: conversations,
        otherGenerationBytes: otherGenerations,
      };
    });
  }

  verify(options: VerifyOptions = {}): Promise<Verification> {
    const { location, folder, id } = this.#parts;
    const withLock = <Result>(work: () => Promise<Result>) => this.#withLock(work);
    return this.#use(() =>
      this.#writes.run(async () => {
        const { verifyStore } = await import("./verify/verify-store.js");
        const dense = this.#dense;
        // An index that failed to open needs no restart; `verifyStore` finds its problem in its files.
        const lexical = await this.#lexical.catch(() => ({ beginAgain() {} }));
        return verifyStore({ location, folder, id, dense, lexical, withLock }, options);
      }),
    );
  }

  async close(options: CloseOptions = {}): Promise<void> {
    const { signal } = resolve("close", closeOptions, options);
    this.#closed ??= this.#close(signal);
    return this.#closed;
  }

  /** Runs work while this thread holds the write lock, which the writer's thread gives up for it. */
  async #withLock<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#writer?.close();
    this.#writer = undefined;
    const lock = new WriteLock(this.#parts.folder.path);
    lock.take();
    try {
      return await work();
    } finally {
      lock.release();
      // A run that is under way goes on. If another process was faster, its next write says so.
      if (this.#claims > 0) await this.#locking().tryLock();
      void this.#prepareIndexes();
    }
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
      ...this.#reading.within(scope),
      scoped: (filter) => this.#scoped({ all: [scope, this.#rules.checked(filter)] }),
    };
  }

  async #searchDense({ vector }: RetrievalQuery, count: number, filter: Filter | undefined): Promise<Ranking> {
    if (vector === undefined) {
      throw new OptionsError(
        "options",
        "dense: the query has no vector. Put embedQuestion() before search(), or search in lexical mode",
      );
    }
    checkVector(vector, this.dimension ?? this.#parts.dimension ?? vector.length, "the query");
    const allowed = filter && this.#allowed.by(filter);
    return this.#dense.search(normalised(vector), count, { allowed, upTo: this.#searchPosition() });
  }

  #change<Result>(change: (writer: WriterThread) => Promise<Result>): Promise<Result> {
    return this.#use(async () => {
      const result = await this.#writes.run(() => change(this.#locking()));
      this.#letGoSoon();
      const head = this.#changes.head();
      // Writes wait for the indexes, so that searches need not: otherwise a fast writer would let the backlog grow forever.
      await this.#prepareIndexes();
      const { label, removal } = this.#acknowledged ?? head;
      this.#acknowledged = { label: Math.max(label, head.label), removal: Math.max(removal, head.removal) };
      return result;
    });
  }

  /** The writer's thread, before it takes the lock. */
  #locking(): WriterThread {
    this.#writer ??= this.#startWriter();
    // While the lock was not held, other processes may have written.
    if (!this.#writer.holdsLock) this.#acknowledged = undefined;
    return this.#writer;
  }

  /** Ends a claim. Resolves when the latent model was trained, if the writes of the claim made that due. */
  async #dropClaim(): Promise<void> {
    this.#claims--;
    this.#letGoSoon();
    if (this.#claims === 0 && !this.#closed) await this.#latent?.then((index) => index.catchUp()).catch(() => {});
  }

  /** Lets go of the write lock when nothing has been written for a moment, so that other processes may write. */
  #letGoSoon(): void {
    clearTimeout(this.#lettingGo);
    if (this.#claims > 0 || this.#closed) return;
    const letGo = async () => {
      if (this.#claims === 0 && !this.#closed && this.#writer?.holdsLock) await this.#writer.unlock();
    };
    // The thread may have ended meanwhile, and its lock with it.
    this.#lettingGo = setTimeout(() => void this.#writes.run(letGo).catch(() => {}), graceMs).unref();
  }

  /** Saves an index if this process writes to the store and no other one is writing, which then saves its own. */
  async #saveClaimed(save: () => Promise<unknown>): Promise<void> {
    const isClaimed = await this.#writes.run(async () => {
      if (!this.#writer || this.#writer.ended || this.#closed) return false;
      const isLocked = await this.#locking().tryLock();
      if (isLocked) this.#claims++;
      return isLocked;
    });
    if (!isClaimed) return;
    try {
      await save();
    } finally {
      void this.#dropClaim();
    }
  }

  /** The changes that a search must see: all that are committed, except those of our own not acknowledged yet. */
  #searchPosition(): Position | undefined {
    return this.#writer?.holdsLock ? this.#acknowledged : undefined;
  }

  #startWriter(): WriterThread {
    const { location, generation, folder, dimension, writerModule } = this.#parts;
    const { path, databasePath } = folder;
    const { identity } = this.#parts;
    refuseLostFile(databasePath, identity);
    deleteStaleIndexes(path, () => this.#changes.head());
    const start = { location, generation, databasePath, identity, folder: path, space: this.space };
    return new WriterThread({ ...start, ...(dimension !== undefined && { dimension }) }, writerModule);
  }

  /**
   * Brings the indexes up to date. A failure shows again at the next search, which reports it. A run of writes trains the
   * latent model once, when it ends; a write without a claim trains it as soon as it is due. Closing then has nothing to
   * train, so that the store finds the same before and after it.
   */
  async #prepareIndexes(): Promise<void> {
    await Promise.allSettled([
      this.#dense.prepare(),
      this.#lexical.then((index) => index.catchUp()),
      this.#latent?.then((index) => (this.#claims > 0 ? index.keepUp() : index.catchUp())),
    ]);
  }

  async #use<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#closed) {
      throw new StoreError("closed", `The store at ${this.location} was closed. Open it again with openStore()`, {
        path: this.location,
      });
    }
    const running = work();
    this.#pendingCalls.add(running);
    try {
      return await running;
    } catch (error) {
      throw asStoreError(this.#parts.folder.databasePath, error);
    } finally {
      this.#pendingCalls.delete(running);
    }
  }

  async #close(signal: AbortSignal | undefined): Promise<void> {
    clearTimeout(this.#lettingGo);
    await Promise.allSettled(this.#pendingCalls);
    await this.#writes.idle();
    const { database, folder } = this.#parts;
    const lexical = await this.#lexical.catch(() => undefined);
    const latent = await this.#latent?.catch(() => undefined);
    const ownLock = new WriteLock(folder.path);
    const warn = (problem: string, error: unknown) => this.#warn(`${problem}: ${asError(error).message}`);
    let used = true;
    try {
      used = !isUnused(database);
      const indexes = [this.#dense, lexical, latent].filter((index) => index !== undefined);
      // Only the holder of the lock saves, so that two processes do not keep replacing each other's files.
      if (used && (await this.#areUnsaved(indexes)) && (await this.#mayWrite(ownLock))) {
        await this.#saveIndexes(indexes, signal);
      }
    } catch (error) {
      warn("The search indexes could not be saved and will be built again", error);
    }
    // Each is closed whether or not the others fail: a lock that is not released would outlive the store.
    await Promise.allSettled([this.#dense.close(), lexical?.close(), latent?.close()]);
    if (!this.#writer) endWal(database);
    database.close();
    await this.#writer?.close();
    ownLock.release();
    try {
      if (!used && folder.isNew) removeIfUnused(folder);
    } catch (error) {
      warn("The empty store could not be deleted", error);
    }
  }

  /** Whether the write lock is held, by the writer's thread if one is running, otherwise by `ownLock`. */
  async #mayWrite(ownLock: WriteLock): Promise<boolean> {
    return this.#writer && !this.#writer.ended ? this.#writer.tryLock() : ownLock.tryTake();
  }

  /** Whether anything may have to be saved: taking the lock writes and flushes a file, which a command that reads can do without. */
  async #areUnsaved(indexes: readonly SearchIndex[]): Promise<boolean> {
    if (this.#writer) return true;
    for (const index of indexes) if (await index.isUnsaved()) return true;
    return false;
  }

  async #saveIndexes(indexes: readonly SearchIndex[], signal: AbortSignal | undefined): Promise<void> {
    const caughtUp = Promise.all(indexes.map((index) => index.catchUp()));
    await (signal ? unlessAborted(caughtUp, signal) : caughtUp).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    });
    await Promise.all(indexes.map((index) => index.save()));
  }
}
