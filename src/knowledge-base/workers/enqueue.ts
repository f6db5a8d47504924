import { randomUUID } from "node:crypto";
import { optionsOf, resolve } from "../../core/options.js";
import { runOptions, stage, type RunEvent } from "../../core/pipeline.js";
import type { Embedder, Store } from "../../core/ports.js";
import { batch, type Source } from "../../core/stream.js";
import { inSpan } from "../../core/telemetry.js";
import type { Document } from "../../core/types.js";
import { readingPipeline, usualIngestOptions, type UsualIngestOptions } from "../ingest.js";
import type { IngestReport } from "../ingest/ledger.js";
import { type IngestRunOptions, runIngest, type WatchedSource } from "../ingest/run.js";
import { type RunStore, runStore } from "../ingest/run-store.js";
import { ChunkSettings, type GivenChunkOptions } from "../ingest/settings.js";
import type { Server } from "../../postgres/server.js";
import { join, keepAlive, leave } from "./members.js";
import { openQueue } from "./queue.js";
import { pendingOf, type QueuedDocument, queueDocuments, unstoredDocuments } from "./queued-documents.js";
import { beginRun, endReading, endRuns, interruptRun } from "./runs.js";

/** Options of `enqueue`: those of `ingest` that decide what is read, and how it is cut. */
export interface EnqueueOptions<Space extends string = string>
  extends
    Omit<IngestRunOptions, "deadlineMs">,
    Pick<UsualIngestOptions, "reread" | "retryFailed" | "map" | "documents"> {
  /** The store that the workers write to. Its database holds the queue. */
  readonly store: Store<Space>;
  /** The model that the workers embed with. It is not called here: it counts tokens. */
  readonly embedder: Embedder<Space>;
  /** How the workers cut the documents. Default: as when the store was last filled, else as `chunk` does. */
  readonly chunk?: Omit<GivenChunkOptions, "embedder">;
}

/** Report of reading a source into the queue. */
export interface EnqueueReport {
  /** Number of the run, by which `status` knows it. */
  readonly run: number;
  /** Every document that was read, or had vanished, under exactly one of these. */
  readonly documents: {
    /** Documents for the workers, with those that waited already. */
    readonly queued: number;
    /** Stored unchanged; nothing is to be done. */
    readonly unchanged: number;
    /** Gone from the source; deleted when all jobs of the run have ended. */
    readonly vanished: number;
    /** Could not be read. */
    readonly failed: number;
    /** Left alone since they took their workers with them, and have not changed; `retryFailed` queues them. */
    readonly quarantined: number;
  };
  /** Time from the first document to the end. */
  readonly seconds: number;
  /** Files and documents that failed, each with its error. */
  readonly failures: IngestReport["failures"];
  /** How many of the failures are from an earlier run; see `IngestReport`. */
  readonly notRetried?: IngestReport["notRetried"];
  /** Files that no loader reads, with the reason. */
  readonly skipped: IngestReport["skipped"];
  /** Warnings of one line each about sources read only in part. */
  readonly warnings: IngestReport["warnings"];
}

const shared = usualIngestOptions.shape;
const enqueueOptions = optionsOf<EnqueueOptions>()({
  store: shared.store,
  embedder: shared.embedder,
  chunk: ChunkSettings.strict().default({}),
  reread: shared.reread,
  retryFailed: shared.retryFailed,
  documents: shared.documents,
  map: shared.map,
  onProgress: shared.onProgress,
  signal: runOptions.shape.signal,
  report: runOptions.shape.report,
});

// A job is some seconds of work: less, and the service gets many small requests; more, and a worker that dies takes as much
// with it.
const maxJobDocuments = 16;
const maxJobCharacters = 1 << 16;

/** Time after which a reader without a heartbeat is taken for dead, in milliseconds. */
const readerDeadAfterMs = 30_000;

/**
 * Reads a source and queues its new and changed documents, including their text, for the workers of the store's
 * database, which need no access to the source. Documents that vanished from a source are deleted once it was read to
 * its end and all jobs have ended. If interrupted, run it again: queued documents stay queued.
 *
 * @throws OptionsError for bad options, `missing-package` without `graphile-worker`; StoreError when the database is away.
 * @example
 * ```ts
 * import { readFolder, type Embedder } from "citewell";
 * import { enqueue, openPostgresStore } from "citewell/postgres";
 * export async function enqueueManuals(embedder: Embedder) {
 *   const store = await openPostgresStore("postgres://localhost/manuals", embedder);
 *   await enqueue(readFolder("./manuals"), { store, embedder });
 *   await store.close();
 * }
 * ```
 */
export async function enqueue<Space extends string>(
  source: Source<Document> | WatchedSource,
  options: EnqueueOptions<Space>,
): Promise<EnqueueReport> {
  const {
    store: given,
    embedder,
    chunk,
    map,
    documents,
    reread,
    retryFailed,
    ...run
  } = resolve("enqueue", enqueueOptions, options as unknown as EnqueueOptions);
  const { database, jobs } = await openQueue("enqueue", given);
  const reader = { id: `reader-${randomUUID()}`, role: "reader" as const, deadAfterMs: readerDeadAfterMs };
  const number = await database.transaction(async (session) => {
    await join(session, reader);
    return beginRun(session, reader.id, chunk);
  });
  const heart = keepAlive(database, jobs, reader);
  const vanished: string[] = [];
  let quarantined = 0;
  const stored = runStore(given);
  const queue = async (some: readonly QueuedDocument[]) => {
    const how = { jobs, run: number, retryQuarantined: retryFailed };
    const result = await database.transaction((session) => queueDocuments(session, how, some));
    quarantined += result.quarantined;
  };
  const view = readerView(stored, database, {
    queue,
    vanish: (uris) => void vanished.push(...uris),
  });
  const { pipeline, memory, files } = readingPipeline({
    store: view,
    embedder,
    chunk,
    map,
    documents,
    reread,
    retryFailed,
  });
  const queueing = stage<Document, Document>("enqueue", async function* (read, context) {
    const size = { count: maxJobDocuments, weight: maxJobCharacters, weigh: ({ text }: Document) => text.length };
    for await (const group of batch(read, size)) {
      const latest = new Map(group.map((document) => [document.uri, document]));
      for (const uri of latest.keys()) memory.settle(uri);
      // Notes of queued documents hold once a worker has stored them. Notes of other files hold now.
      const notes = new Map(memory.unsaved().notes);
      await queue([...latest.values()].map((document) => ({ document, note: notes.get(document.uri) })));
      for (const uri of latest.keys()) notes.delete(uri);
      if (notes.size > 0) await stored.write({ notes });
      for (const { uri } of group) context.report({ type: "document", uri, outcome: "added", chunks: 0 });
      yield* group;
    }
  });
  const report = (event: RunEvent) => {
    if (event.type === "document" && event.outcome === "unchanged") memory.settle(event.uri);
    run.report?.(event);
  };
  try {
    const work = () => runIngest(source, pipeline.pipe(queueing), view, { ...run, report }, { map, files });
    const result = await inSpan("enqueue", work, run.signal);
    const { notes } = memory.unsaved();
    if (notes) await stored.write({ notes });
    const { added, updated, unchanged, failed, deleted } = result.documents;
    const queued = added + updated - quarantined;
    await database.transaction(async (session) => {
      await endReading(session, number, { queued, unchanged, failed }, vanished);
    });
    await endRuns(database, stored);
    const { seconds, failures, notRetried, skipped, warnings } = result;
    return {
      run: number,
      documents: { queued, unchanged, vanished: deleted, failed, quarantined },
      seconds,
      failures,
      ...(notRetried !== undefined && { notRetried }),
      skipped,
      warnings,
    };
  } finally {
    heart.stop();
    await database
      .transaction(async (session) => {
        await interruptRun(session, number);
        await leave(session, jobs, reader.id);
      })
      .catch(() => {});
  }
}

/**
 * View of the store for a reader: writes and deletions go to the queue. A document that waits there never counts as
 * unchanged, because either it or the queued version may be written last.
 */
function readerView(
  store: RunStore,
  database: Server,
  to: {
    readonly queue: (some: readonly QueuedDocument[]) => Promise<void>;
    readonly vanish: (uris: readonly string[]) => void;
  },
): RunStore {
  const pending = (uris: readonly string[]) => database.read((session) => pendingOf(session, uris));
  return {
    ...store,
    notes: async (uris) => {
      const [notes, inQueue] = await Promise.all([store.notes!(uris), pending(uris)]);
      return new Map([...notes].filter(([uri]) => !inQueue.has(uri)));
    },
    documentInfo: async (uri) => ((await pending([uri])).size > 0 ? undefined : store.documentInfo(uri)),
    documents: async () => {
      const stored = await store.documents();
      const known = new Set(stored.map(({ uri }) => uri));
      const unstored = await database.read(unstoredDocuments);
      const others = unstored.filter(({ uri }) => !known.has(uri));
      return [...stored, ...others.map((other) => ({ ...other, fingerprint: "", chunks: 0 }))];
    },
    write: async ({ documents = [] }) => {
      if (documents.length > 0) await to.queue(documents.map(({ document }) => ({ document })));
      return documents.map(({ document: { uri } }) => ({ uri, outcome: "added", chunks: 0, deletedChunks: 0 }));
    },
    deleteDocuments: async (uris) => {
      to.vanish(uris);
      return { documents: uris.length, chunks: 0 };
    },
  };
}
