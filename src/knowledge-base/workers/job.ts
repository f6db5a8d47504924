import { asError, OptionsError, StoreError, TransportError } from "../../core/errors.js";
import type { RunEvent } from "../../core/pipeline.js";
import type { Embedder, Store } from "../../core/ports.js";
import type { PostgresStore } from "../../store/postgres/postgres-store.js";
import { ingest } from "../ingest.js";
import type { IngestReport } from "../ingest/ledger.js";
import type { Server } from "../../postgres/server.js";
import {
  claim,
  type ClaimedDocument,
  ClaimLost,
  type DocumentEnd,
  endDocuments,
  type GivenBack,
  giveBack,
} from "./queued-documents.js";
import { addSpending, chunkSettingsOf } from "./runs.js";
import type { Turns } from "./turns.js";

/** Embedding requests at once in one job, which has few. */
const requestsInJob = 2;

/** The outcome of one document at a worker. */
export interface WorkedDocument {
  /** `Document.uri` of the document. */
  readonly uri: string;
  /** Outcome of the document. */
  readonly outcome: "added" | "updated" | "unchanged" | "skipped" | "failed";
  /** Chunks that it has now. */
  readonly chunks: number;
  /** Message of the error, if it failed. */
  readonly error?: string;
}

/** State that the jobs of one worker share. @internal */
export interface JobSetting {
  readonly database: Server;
  /** Schema of graphile-worker. */
  readonly jobs: string;
  /** Name of the worker. */
  readonly worker: string;
  readonly store: PostgresStore<string>;
  readonly embedder: Embedder;
  readonly turns: Turns;
  readonly onEnd: (end: WorkedDocument) => void;
}

/**
 * Ingests the documents of a batch and notes the outcome of each. Documents that cannot be finished now are given back.
 *
 * @param signal ends the job early, when the worker ends.
 * @throws OptionsError, or TransportError that is not `retryable`, for errors that would fail every other job of this
 *   worker too.
 * @internal
 */
export async function doJob(batch: number, setting: JobSetting, signal: AbortSignal): Promise<void> {
  const { database, jobs, worker, turns } = setting;
  const take = (alone: boolean) => database.transaction((session) => claim(session, { jobs, batch, worker, alone }));
  const work = async (alone: boolean) => {
    const claimed = await take(alone);
    if (typeof claimed === "string") return claimed;
    try {
      await ingestClaimed(claimed, setting, signal);
    } catch (thrown) {
      const error = asError(thrown);
      const why = reasonFor(error, signal);
      await database.transaction((session) => giveBack(session, { jobs, batch, worker }, why ?? { because: "ending" }));
      if (!why) throw error;
    }
    return "done";
  };
  if ((await turns.together(() => work(false))) === "alone") await turns.alone(() => work(true));
}

/** Why the documents of a job that failed are given back. `undefined` if the worker should end. */
function reasonFor(error: Error, { aborted }: AbortSignal): GivenBack | undefined {
  if (aborted || error instanceof ClaimLost) return { because: "ending" };
  if (error instanceof StoreError) return { because: "failure", error: error.message };
  if (error instanceof TransportError)
    return error.retryable ? { because: "failure", error: error.message } : undefined;
  return error instanceof OptionsError ? undefined : { because: "defect", error: error.message };
}

async function ingestClaimed(
  { documents, run }: { readonly documents: readonly ClaimedDocument[]; readonly run: number },
  setting: JobSetting,
  signal: AbortSignal,
): Promise<void> {
  const { database, worker, embedder, onEnd } = setting;
  const ended = new Set<number>();
  const byUri = new Map(documents.map((currentDocument) => [currentDocument.document.uri, currentDocument]));
  const uris = new Map(documents.map(({ id, document }) => [id, document.uri]));
  const noteEnds = (ends: readonly DocumentEnd[]) => {
    for (const { id, state: outcome, chunks = 0, error } of ends) {
      ended.add(id);
      onEnd({ uri: uris.get(id)!, outcome, chunks, ...(error !== undefined && { error }) });
    }
  };
  const unchanged = new Map<string, number>();
  const report = (event: RunEvent) => {
    if (event.type === "document" && event.outcome === "unchanged") unchanged.set(event.uri, event.chunks);
  };
  const chunk = await database.read((session) => chunkSettingsOf(session, run));
  const store = journaled(setting, byUri, noteEnds);
  const result = await ingest(
    documents.map(({ document }) => document),
    { store, embedder, chunk, concurrency: requestsInJob, signal, report },
  );
  const ends = endsOf(result, byUri, unchanged).filter(({ id }) => !ended.has(id));
  await database.transaction(async (session) => {
    await endDocuments(session, worker, ends);
    await addSpending(session, run, { ...result, embedded: result.chunks.embedded });
  });
  noteEnds(ends);
}

/** The store, each of whose writes ends the documents in it in the same transaction. */
function journaled(
  { store, worker }: JobSetting,
  byUri: ReadonlyMap<string, ClaimedDocument>,
  noteEnds: (ends: readonly DocumentEnd[]) => void,
): Store {
  const write: Store["write"] = async (given) => {
    const notes = given.notes && new Map([...given.notes].map(([uri, note]) => [uri, withFile(note, byUri.get(uri))]));
    let ends: readonly DocumentEnd[] = [];
    const written = await store.writeWith({ ...given, ...(notes && { notes }) }, async (session, documents) => {
      ends = documents.map(({ uri, outcome, chunks, deletedChunks }) => ({
        id: byUri.get(uri)!.id,
        state: outcome,
        chunks,
        deletedChunks,
      }));
      if (ends.length > 0) await endDocuments(session, worker, ends);
    });
    noteEnds(ends);
    return written;
  };
  return new Proxy(store, {
    get: (target, name) => {
      if (name === "write") return write;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

/** Merges the note of a document with its reader's note about the file. */
function withFile(note: string, from: ClaimedDocument | undefined): string {
  if (from?.note === undefined) return note;
  return JSON.stringify({ ...(JSON.parse(from.note) as object), ...(JSON.parse(note) as object) });
}

/** Outcomes of the documents that were not written. */
function endsOf(
  { failures, skipped }: IngestReport,
  byUri: ReadonlyMap<string, ClaimedDocument>,
  unchanged: ReadonlyMap<string, number>,
): DocumentEnd[] {
  const ends: DocumentEnd[] = [];
  for (const [uri, { id }] of byUri) {
    const failure = failures.find((currentFailure) => currentFailure.uri === uri);
    // A newer version of it is in the queue.
    if (failure?.error instanceof ClaimLost) continue;
    if (failure) ends.push({ id, state: "failed", error: failure.error.message });
    else if (unchanged.has(uri)) ends.push({ id, state: "unchanged", chunks: unchanged.get(uri)! });
    else if (skipped.some((skip) => skip.uri === uri)) ends.push({ id, state: "skipped" });
  }
  return ends;
}
