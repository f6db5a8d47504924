import { BudgetError, OptionsError, TransportError } from "../errors.js";
import { type Budget, createRunContext, ownSignal, type RunContext, type RunOptions, type Stage } from "../pipeline.js";
import type { Store } from "../ports.js";
import { type Source, untilAborted } from "../stream.js";
import { openTracing } from "../telemetry.js";
import type { Document } from "../types.js";
import { deleteVanished } from "./delete-vanished.js";
import { IngestLedger, type IngestProgress, type IngestReport } from "./ingest-ledger.js";

/** A source that says what fails, and what is no longer there. */
export interface WatchedSource {
  readonly read: (context: RunContext) => AsyncIterable<Document>;
  /** Whether a stored document that a complete reading did not meet is gone. */
  readonly vanished: (uri: string) => boolean | Promise<boolean>;
}

export interface RunIngestOptions extends RunOptions {
  /** What the stages of `flow` spend from. Default: no limit but their own. */
  readonly budget?: Budget | undefined;
  /** Called at each change, often: draw no more than you can show. */
  readonly onProgress?: (progress: IngestProgress) => void;
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

/**
 * Runs documents through `flow` with the books kept, then deletes from `into` what is gone from the source. A budget that
 * is used up ends the run early, with nothing deleted.
 *
 * @throws OptionsError for a source or a document that is none; ReconciliationError when a document came to nothing; TransportError `timeout` when the deadline passes; whatever else
 * a stage throws.
 */
export async function runIngest(
  source: Source<Document> | WatchedSource,
  flow: Stage<Document, unknown>,
  into: Pick<Store, "documents" | "deleteDocuments"> & Partial<Pick<Store, "document">>,
  { onProgress, report, budget, ...run }: RunIngestOptions,
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
    ...(into.document && { stored: (uri: string) => into.document!(uri) }),
    ...(budget && { budget }),
  };
  const documents = "read" in source ? source.read(context) : source;
  try {
    const reading = inTime(ledger.reading(documents), context);
    for await (const _ of flow.run(reading, context)) context.signal.throwIfAborted();
    if ("read" in source) await deleteVanished(into, source.vanished, (uri) => ledger.wasRead(uri), context);
    return ledger.report(context.failures);
  } catch (error) {
    if (error instanceof BudgetError) return ledger.report(context.failures, error);
    throw error;
  } finally {
    own.end();
  }
}

/** Longest that a timer waits. */
const longestTimerMs = 2 ** 31 - 1;

/** A source until the run is aborted or its time is over: calls see to both themselves, but a source may wait for ever. */
async function* inTime(
  source: AsyncIterable<Document>,
  { signal, deadlineAt = Infinity }: Pick<RunContext, "signal" | "deadlineAt">,
): AsyncGenerator<Document> {
  const over = new AbortController();
  const leftMs = deadlineAt - performance.now();
  const pass = () => over.abort(new TransportError("timeout", "The run's deadline passed. Run it again to go on"));
  const timer = leftMs <= longestTimerMs ? setTimeout(pass, leftMs) : undefined;
  try {
    yield* untilAborted(source, AbortSignal.any([signal, over.signal]));
  } finally {
    clearTimeout(timer);
  }
}
