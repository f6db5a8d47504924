import { BudgetError, OptionsError, TransportError } from "../../core/errors.js";
import { createRunContext, ownSignal, type RunContext, type RunOptions, type Stage } from "../../core/pipeline.js";
import type { Store } from "../../core/ports.js";
import { type Source, untilAborted } from "../../core/stream.js";
import { openTracing } from "../../core/telemetry.js";
import type { Document } from "../../core/types.js";
import { IngestLedger, type IngestProgress, type IngestReport } from "./ledger.js";

/** A source that says what fails, and what is no longer there. */
export interface WatchedSource {
  /** All documents in a fixed order; what fails is told to the context, and costs no other. */
  readonly read: (context: RunContext) => AsyncIterable<Document>;
  /** Whether a stored document that a complete reading did not meet is gone. */
  readonly vanished: (uri: string, source?: string) => boolean | Promise<boolean>;
}

export interface IngestRunOptions extends RunOptions {
  /** Called at each change and every second, so often: draw no more than you can show. */
  readonly onProgress?: (progress: IngestProgress) => void;
}

/**
 * Runs documents through `flow` with the books kept, then deletes from `store` what is gone from the source. A budget that
 * is used up ends the run early, with nothing deleted.
 *
 * @throws OptionsError for a source that hands out no documents; ReconciliationError when a document came to nothing;
 * TransportError `timeout` when the deadline passes; whatever else a stage throws.
 */
export async function runIngest(
  source: Source<Document> | WatchedSource,
  flow: Stage<Document, unknown>,
  store: Pick<Store, "documents" | "deleteDocuments"> & Partial<Pick<Store, "document">>,
  { onProgress, report, ...run }: IngestRunOptions,
  shared: Pick<RunContext, "budget" | "paidVectors" | "files"> = {},
): Promise<IngestReport> {
  checkSource(source);
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
    ...(store.document && { stored: (uri: string) => store.document!(uri) }),
    ...shared,
  };
  const ticking = onProgress && setInterval(() => onProgress(ledger.progress()), 1000).unref();
  const documents = "read" in source ? source.read(context) : source;
  try {
    const reading = untilDeadline(ledger.reading(documents), context);
    for await (const _ of flow.run(reading, context)) context.signal.throwIfAborted();
    if ("read" in source) await deleteVanished(store, source, ledger, context);
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
  if (isObject && ("read" in source || Symbol.asyncIterator in source || Symbol.iterator in source)) return;
  const got = typeof source === "string" ? JSON.stringify(source) : String(source);
  throw new OptionsError(
    "options",
    `ingest: the source must hand out documents, as readFolder("./docs"), readFile, readUrl and lists of them do (got ${got})`,
  );
}

/** Deletes the documents that a complete reading of their source did not meet and that the source says are gone. */
async function deleteVanished(
  store: Pick<Store, "documents" | "deleteDocuments">,
  source: WatchedSource,
  ledger: IngestLedger,
  { failures, report }: Pick<RunContext, "report" | "failures">,
): Promise<void> {
  for (const { uri, chunks, source: storedFrom } of await store.documents()) {
    // A file that is there and could not be read has not vanished.
    if (ledger.wasRead(uri) || failures.has(uri) || !(await source.vanished(uri, storedFrom))) continue;
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
