import { existsSync } from "node:fs";
import type { z } from "zod";
import { OptionsError, StoreError, asError } from "../errors.js";
import type { Filter } from "../filter.js";
import type {
  CloseOptions,
  RetrievalQuery,
  Retriever,
  Searchable,
  Store,
  StoreCounts,
  StoredDocumentInfo,
  StoreSettings,
  StoreWrite,
  Verification,
  VerifyOptions,
  WrittenDocument,
} from "../ports.js";
import { unlessAborted } from "../stream.js";
import { checkMetadata } from "../text/check-metadata.js";
import type { Metadata } from "../types.js";
import type { AllowedChunks } from "./allowed-chunks.js";
import { Changes, type Position } from "./changes.js";
import { asStoreError, type Database } from "../sqlite/database.js";
import { Dense, type DenseOptions } from "./dense/dense.js";
import { removeIndexesAhead } from "./indexes-ahead.js";
import { LexicalIndex, type LexicalOptions } from "./lexical/lexical-index.js";
import { isUnused, readMeta, readSettings } from "./schema.js";
import { ScopedReading } from "./scoped-reading.js";
import { Serial } from "./serial.js";
import { removeUnused, type StoreFolder } from "./store-folder.js";
import { StoreReader } from "./store-reader.js";
import { TimeSlice } from "./time-slice.js";
import type { Ranking } from "./top-k.js";
import { checkDerived } from "./verify/check-derived.js";
import { checkApart } from "./verify/check-thread.js";
import { measureRecall } from "./verify/measure-recall.js";
import { repair } from "./verify/repair.js";
import { checkVector, normalised } from "./vectors.js";
import { WriteLock } from "./write-lock.js";
import { WriterThread } from "./writer/writer-thread.js";

export interface EmbeddedStoreOptions<Space extends string> {
  /** Folder that the caller named. */
  readonly location: string;
  /** Which of the stores in it this is. */
  readonly generation: string;
  readonly folder: StoreFolder;
  /** Open, with its tables. The store closes it. */
  readonly database: Database;
  readonly allowed: AllowedChunks;
  readonly metadataSchema?: z.ZodObject;
  /** Whether nothing is shown without a scope. */
  readonly requireScope: boolean;
  readonly space: Space;
  /** Length of the vectors, where the embedder knows it. */
  readonly dimension: number | undefined;
  readonly dense: Omit<DenseOptions, "maySave">;
  readonly lexical: LexicalOptions;
  /** Program of the writer's thread, in place of the usual one. */
  readonly writerModule?: URL;
  readonly onWarning: (message: string) => void;
}

/**
 * A store in one folder: SQLite holds the truth, and what is searched is derived from it. Any number of processes may
 * read while one writes.
 */
export class EmbeddedStore<const Space extends string> implements Store<Space> {
  readonly space: Space;
  readonly location: string;
  readonly metadataSchema?: z.ZodType<Metadata>;
  readonly dense: Retriever;
  readonly lexical: Retriever;
  readonly document: Store["document"];
  readonly hits: Store["hits"];
  readonly #options: EmbeddedStoreOptions<Space>;
  readonly #reader: StoreReader;
  readonly #reading: ScopedReading;
  readonly #changes: Changes;
  readonly #writes = new Serial();
  readonly #dense: Dense;
  readonly #lexical: Promise<LexicalIndex>;
  /** Calls that have not answered yet: closing waits for them. */
  readonly #underWay = new Set<Promise<unknown>>();
  #dimension: number | undefined;
  #writer: WriterThread | undefined;
  /** What was committed when the last change was acknowledged: all that a search has to find while nobody else writes. */
  #acknowledged: Position | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: EmbeddedStoreOptions<Space>) {
    const { database, location, space, metadataSchema } = options;
    this.#options = options;
    this.space = space;
    this.location = location;
    if (metadataSchema) this.metadataSchema = metadataSchema as unknown as z.ZodType<Metadata>;
    this.#reader = new StoreReader(database);
    this.#changes = new Changes(database);
    this.#dense = new Dense(this.#changes, {
      ...options.dense,
      maySave: () => this.#writer?.holdsLock ?? false,
    });
    this.#reading = new ScopedReading({
      location,
      requireScope: options.requireScope,
      metadataSchema,
      reader: this.#reader,
      search: {
        dense: (query, count, filter) => this.#searchDense(query, count, filter),
        lexical: async ({ text, phrases }, count, filter) =>
          (await this.#lexical).search(text, count, { phrases, filter, upTo: this.#toFind() }),
      },
      use: (work) => this.#use(work),
    });
    const { dense, lexical, document, hits } = this.#reading.within(undefined);
    [this.dense, this.lexical, this.document, this.hits] = [dense, lexical, document, hits];
    // Loading begins at once, so that it runs beside the embedding of the first question. Failures show at the first use.
    this.#lexical = LexicalIndex.open(this.#changes, options.lexical);
    void this.#followAhead();
  }

  get tokenMargin(): number {
    return this.#closed ? 1 : Number(readMeta(this.#options.database, "token-margin") ?? 1);
  }

  get settings(): StoreSettings {
    return this.#closed ? {} : readSettings(this.#options.database);
  }

  get dimension(): number | undefined {
    if (this.#dimension === undefined && !this.#closed) {
      const stored = readMeta(this.#options.database, "dimension");
      if (stored !== undefined) this.#dimension = Number(stored);
    }
    return this.#dimension;
  }

  scoped(filter: Filter): Searchable<Space> {
    return this.#scoped(this.#reading.checked(filter));
  }

  async write(write: StoreWrite): Promise<readonly WrittenDocument[]> {
    const { metadataSchema } = this.#options;
    if (metadataSchema) for (const { document } of write.documents ?? []) checkMetadata(metadataSchema, document);
    return this.#change((writer) => writer.write(write, this.dimension ?? this.#options.dimension));
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

  documentInfo(uri: string): Promise<StoredDocumentInfo | undefined> {
    return this.#use(async () => this.#reader.documentInfo(uri));
  }

  documents({ source }: { readonly source?: string } = {}): Promise<readonly StoredDocumentInfo[]> {
    return this.#use(async () => this.#reader.documents(source));
  }

  counts(): Promise<StoreCounts> {
    return this.#use(async () => this.#reader.counts());
  }

  verify(options: VerifyOptions = {}): Promise<Verification> {
    return this.#use(() => this.#writes.run(() => this.#verify(options)));
  }

  close({ signal }: CloseOptions = {}): Promise<void> {
    this.#closed ??= this.#close(signal);
    return this.#closed;
  }

  async #verify({
    sample = 50,
    repair: mend = false,
    dropUnusedVectors,
    signal,
  }: VerifyOptions): Promise<Verification> {
    if (dropUnusedVectors && !mend) {
      throw new OptionsError("options", "verify: dropUnusedVectors changes the store: it goes with repair");
    }
    if (!Number.isInteger(sample) || sample < 1 || sample > 10_000) {
      throw new OptionsError("options", `verify: sample: expected a whole number from 1 to 10000 (got ${sample})`);
    }
    const { folder, dense } = this.#options;
    const check = async () => {
      const whole = await checkApart(folder.databasePath, signal);
      const derived = await checkDerived(folder.path, dense.store);
      return { ...whole, derived, all: [...whole.problems, ...derived] };
    };
    const checkAndRepair = async () => {
      const before = await check();
      signal?.throwIfAborted();
      if (!before.all.every((problem) => problem.repairable)) return { before, after: before, repaired: false };
      if (before.all.length === 0 && !dropUnusedVectors) return { before, after: before, repaired: true };
      const dropped = repair(folder.path, folder.databasePath, before, before.derived, dropUnusedVectors ?? false);
      const droppedVectors = dropUnusedVectors ? { droppedVectors: dropped } : {};
      return { before, after: await check(), repaired: true, ...droppedVectors };
    };
    const checkOnly = async () => {
      const before = await check();
      return { before, after: before, repaired: false };
    };
    const { before, after, ...done } = mend ? await this.#withLock(checkAndRepair) : await checkOnly();
    const ok = after.all.length === 0;
    const sound = after.problems.length === 0;
    const search = (vector: Float32Array, count: number) => this.#dense.search(vector, count);
    const recall = sound ? await measureRecall(this.#changes, search, sample, signal) : undefined;
    return { ok, problems: before.all, recall, ...done };
  }

  /** With the right to write in this thread's hands, which the writer's thread gives up for it. */
  async #withLock<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#writer?.close();
    this.#writer = undefined;
    const lock = new WriteLock(this.#options.folder.path);
    lock.take();
    try {
      return await work();
    } finally {
      lock.release();
      void this.#followAhead();
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
      scoped: (filter) => this.#scoped({ all: [scope, this.#reading.checked(filter)] }),
    };
  }

  async #searchDense({ vector }: RetrievalQuery, count: number, filter: Filter | undefined): Promise<Ranking> {
    if (vector === undefined) {
      throw new OptionsError(
        "options",
        "dense: the query has no vector. Put embedQuestion() before search(), or search in lexical mode",
      );
    }
    checkVector(vector, this.dimension ?? this.#options.dimension ?? vector.length, "the query");
    const allowed = filter && this.#options.allowed.by(filter);
    return this.#dense.search(normalised(vector), count, { allowed, upTo: this.#toFind() });
  }

  #change<Result>(change: (writer: WriterThread) => Promise<Result>): Promise<Result> {
    return this.#use(async () => {
      const result = await this.#writes.run(async () => {
        this.#writer ??= this.#startWriter();
        // Until now others may have written.
        if (!this.#writer.holdsLock) this.#acknowledged = undefined;
        return change(this.#writer);
      });
      const head = this.#changes.head();
      // Who writes waits for the indexes, so that who asks never has to: written faster than it is indexed, the rest would
      // grow with every change.
      await this.#followAhead();
      const { label, removal } = this.#acknowledged ?? head;
      this.#acknowledged = { label: Math.max(label, head.label), removal: Math.max(removal, head.removal) };
      return result;
    });
  }

  /** What a search has to find: what is committed, but for changes of our own that are not acknowledged yet. */
  #toFind(): Position | undefined {
    return this.#writer?.holdsLock ? this.#acknowledged : undefined;
  }

  #startWriter(): WriterThread {
    const { location, generation, folder, dimension, writerModule } = this.#options;
    const { path, databasePath } = folder;
    if (!existsSync(databasePath)) {
      throw new StoreError(
        "closed",
        `${databasePath} was taken away since the store was opened. Close it and open it again`,
        { path: databasePath },
      );
    }
    removeIndexesAhead(path, () => this.#changes.head());
    return new WriterThread(
      {
        location,
        generation,
        databasePath,
        folder: path,
        space: this.space,
        ...(dimension !== undefined && { dimension }),
      },
      writerModule,
    );
  }

  /** Takes over what was committed. What fails here fails again at the next search, which says so. */
  async #followAhead(): Promise<void> {
    await Promise.allSettled([this.#dense.followAhead(), this.#lexical.then((index) => index.follow())]);
  }

  async #use<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#closed) {
      throw new StoreError("closed", `The store at ${this.location} was closed. Open it again with openStore()`, {
        path: this.location,
      });
    }
    const running = work();
    this.#underWay.add(running);
    try {
      return await running;
    } catch (error) {
      throw asStoreError(this.#options.folder.databasePath, error);
    } finally {
      this.#underWay.delete(running);
    }
  }

  async #close(signal: AbortSignal | undefined): Promise<void> {
    await Promise.allSettled(this.#underWay);
    await this.#writes.idle();
    const { database, folder } = this.#options;
    const lexical = await this.#lexical.catch(() => undefined);
    const ownLock = new WriteLock(folder.path);
    const warn = (problem: string, error: unknown) => this.#options.onWarning(`${problem}: ${asError(error).message}`);
    let used = true;
    try {
      used = !isUnused(database);
      // Whoever may write saves, so that two processes do not take turns in replacing each other's files.
      if (used && (await this.#mayWrite(ownLock))) await this.#saveDerived(lexical, signal);
    } catch (error) {
      warn("What was derived from the store could not be saved and will be made again", error);
    }
    // Each, whatever became of the others: a lock that is not given back would outlive the store.
    await Promise.allSettled([this.#dense.close(), lexical?.close()]);
    database.close();
    await this.#writer?.close();
    ownLock.release();
    try {
      if (!used && folder.isNew) removeUnused(folder);
    } catch (error) {
      warn("The empty store could not be taken away", error);
    }
  }

  /** Whether the right to write is held, by the writer's thread or, where none is running, by `ownLock`. */
  async #mayWrite(ownLock: WriteLock): Promise<boolean> {
    return this.#writer && !this.#writer.ended ? this.#writer.tryLock() : ownLock.tryTake();
  }

  async #saveDerived(lexical: LexicalIndex | undefined, signal: AbortSignal | undefined): Promise<void> {
    const following = Promise.all([this.#dense.follow(), lexical?.follow()]);
    await (signal ? unlessAborted(following, signal) : following).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    });
    await Promise.all([this.#dense.save(), lexical?.changed ? lexical.save() : undefined]);
  }
}
