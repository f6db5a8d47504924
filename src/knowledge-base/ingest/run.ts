import type { Budget, Store } from "../../core/ports.js";
import { BudgetError, OptionsError, TransportError } from "../../core/errors.js";
import { ownSignal } from "../../core/call-options.js";
import { createRunContext, type RunContext, type RunOptions, type Stage } from "../../core/pipeline.js";
import type { FileMemory } from "../../load/sources/file-memory.js";
import type { ReadContext } from "../../load/sources/source.js";
import { type Source, untilAborted } from "../../core/stream.js";
import { openTracing } from "../../core/telemetry.js";
import type { Document } from "../../core/types.js";
import { IngestLedger, type IngestProgress, type IngestReport } from "./ledger.js";
import { type MapDocument, mapDocuments } from "./map-documents.js";

/** A source that reports failures, and documents that are gone. */
export interface WatchedSource {
  /** Reads all documents in a fixed order; a failure is reported to the context and affects no other document. */
  readonly read: (context: ReadContext) => AsyncIterable<Document>;
  /** Whether a stored document that a complete reading did not meet is gone. */
  readonly vanished: (uri: string, source?: string) => boolean | Promise<boolean>;
}

export interface IngestRunOptions extends RunOptions {
  /**
   * Called at each change and every second, which is often: throttle your own drawing. An error that it throws or
   * rejects with becomes a warning of the process.
   */
  readonly onProgress?: (progress: IngestProgress) => void;
}

/**
 * Runs documents through `map` and `flow` and counts their outcomes, then deletes documents from `store` that are gone
 * from the source. A budget that is used up ends the run early, with nothing deleted.
 *
 * @throws OptionsError for a source that hands out no documents, or that can be read only once and was read before;
 *   ReconciliationError when a document has no outcome; TransportError `timeout` when the deadline passes; any other
 *   error of a stage.
 */
export async function runIngest(
  source: Source<Document> | WatchedSource,
  flow: Stage<Document, unknown>,
  store: Pick<Store, "documents" | "deleteDocuments"> & Partial<Pick<Store, "document">>,
  { onProgress, report, ...run }: IngestRunOptions,
  {
    map,
    files,
    budget,
    isPlan = false,
  }: {
    readonly map?: MapDocument | undefined;
    readonly files?: FileMemory | undefined;
    /** Budget for what the source itself pays for. Default: no limit. */
    readonly budget?: Budget | undefined;
    /** Whether nothing may be sent. Default: false. */
    readonly isPlan?: boolean;
  } = {},
): Promise<IngestReport> {
  checkSource(source);
  const isOnce = readsOnce(source);
  const ledger = new IngestLedger();
  const own = ownSignal(run.signal);
  const tracing = await openTracing();
  const context: RunContext = {
    ...createRunContext({
      ...run,
      signal: own.signal,
      report: (event) => {
        ledger.add(event);
        report?.(event);
        onProgress?.(ledger.progress());
      },
    }),
    ...(tracing && { tracing }),
  };
  const ticking = onProgress && setInterval(() => onProgress(ledger.progress()), 1000).unref();
  const known = {
    ...(store.document && { stored: (uri: string) => store.document!(uri) }),
    ...(files && { files }),
  };
  const documents = isWatched(source) ? source.read({ ...context, ...known, budget, isPlan }) : source;
  const leftOut = new Set<string>();
  let isEmpty = true;
  const given = mapDocuments(
    documents,
    { map, began: () => (isEmpty = false), wasRead: (uri) => ledger.wasRead(uri), leftOut: (uri) => leftOut.add(uri) },
    context,
  );
  try {
    const reading = untilDeadline(ledger.reading(given), context);
    for await (const _ of flow.run(reading, context)) context.signal.throwIfAborted();
    if (isWatched(source) || leftOut.size > 0) await deleteVanished(store, source, leftOut, ledger, context);
    if (isOnce && isEmpty) context.report({ type: "warning", message: readBefore });
    return ledger.report(context.failures);
  } catch (error) {
    if (error instanceof BudgetError) return ledger.report(context.failures, error);
    throw error;
  } finally {
    clearInterval(ticking);
    own.end();
  }
}

/** @throws OptionsError for what hands out no documents, such as the path of a folder. */
function checkSource(source: unknown): void {
  const isObject = typeof source === "object" && source !== null;
  if (isObject && (isWatched(source) || Symbol.asyncIterator in source || Symbol.iterator in source)) return;
  const got = typeof source === "string" ? JSON.stringify(source) : String(source);
  throw new OptionsError(
    "options",
    `ingest: the source must hand out documents, as readFolder("./docs"), readFile, readUrl and lists of them do (got ${got})`,
  );
}

/** A stream of Node has a method of the name `read` as well. */
function isWatched(source: object): source is WatchedSource {
  return "read" in source && "vanished" in source;
}

const readBefore =
  "The source handed out no document. If it was read before, make a new one: a generator or stream is empty then";

/** Sources that can be read once and were: generators and streams, which are empty afterwards. */
const spent = new WeakSet<object>();

/**
 * Whether the source can be read once only, such as a generator.
 *
 * @throws OptionsError when it was read before: it would be an empty run that succeeds.
 */
function readsOnce(source: Source<Document> | WatchedSource): boolean {
  if (isWatched(source)) return false;
  const isIterator = "next" in source && typeof source.next === "function";
  const isStream = ("pipe" in source || "getReader" in source) && Symbol.asyncIterator in source;
  if (!isIterator && !isStream) return false;
  if (spent.has(source)) {
    throw new OptionsError(
      "options",
      "ingest: the source was read before, and a generator or stream is empty then. Make a new one for each run, " +
        "or pass a list, or an object whose [Symbol.asyncIterator]() begins anew",
    );
  }
  spent.add(source);
  return true;
}

/**
 * Deletes the stored documents that a complete reading of their source did not meet and that the source says are gone, and those
 * that `map` left out.
 */
async function deleteVanished(
  store: Pick<Store, "documents" | "deleteDocuments">,
  source: Source<Document> | WatchedSource,
  leftOut: ReadonlySet<string>,
  ledger: IngestLedger,
  { failures, report }: Pick<RunContext, "report" | "failures">,
): Promise<void> {
  for (const { uri, chunks, source: storedFrom } of await store.documents()) {
    // A file that exists but could not be read has not vanished.
    if (ledger.wasRead(uri) || failures.has(uri)) continue;
    const isGone = leftOut.has(uri) || (isWatched(source) && (await source.vanished(uri, storedFrom)));
    if (!isGone) continue;
    await store.deleteDocuments([uri]);
    report({ type: "document", uri, outcome: "deleted", chunks: 0, deletedChunks: chunks });
  }
}

const maxTimerMs = 2 ** 31 - 1;

/** Ends a source that waits for ever when the run is aborted or its deadline passes; calls see to both themselves. */
async function* untilDeadline(
  source: AsyncIterable<Document>,
  { signal, deadlineAt = Infinity }: Pick<RunContext, "signal" | "deadlineAt">,
): AsyncGenerator<Document> {
  const over = new AbortController();
  const leftMs = deadlineAt - performance.now();
  const pass = () => over.abort(new TransportError("timeout", "The run's deadline passed. Run it again to go on"));
  const timer = leftMs <= maxTimerMs ? setTimeout(pass, leftMs) : undefined;
  try {
    yield* untilAborted(source, AbortSignal.any([signal, over.signal]));
  } finally {
    clearTimeout(timer);
  }
}
