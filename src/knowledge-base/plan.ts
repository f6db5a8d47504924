import { resolve } from "../core/options.js";
import type { RunEvent } from "../core/pipeline.js";
import type { Source } from "../core/stream.js";
import { inSpan } from "../core/telemetry.js";
import type { Document, DocumentChunk } from "../core/types.js";
import { embedChunks } from "../stages/indexing/embed-chunks.js";
import { store as storeStage } from "../stages/indexing/store.js";
import { cuttingPipeline, type UsualIngestOptions, usualIngestOptions } from "./ingest.js";
import type { IngestReport } from "./ingest/ledger.js";
import { PictureCounter, type PlannedPictures } from "./ingest/planned-pictures.js";
import { runIngest, type WatchedSource } from "./ingest/run.js";
import { runStore } from "./ingest/run-store.js";
import { spending } from "./ingest/spending.js";

/** Expected result of an ingest of the same source. */
export interface IngestPlan {
  /** Documents that the store would hold of this source. */
  readonly documents: number;
  /** Number of documents by the outcome they would have. */
  readonly outcomes: IngestReport["documents"];
  /** Chunks of those documents. */
  readonly chunks: number;
  /**
   * Tokens that would be sent, as they are counted here. For `semantic` chunks, which only an embedder finds, this
   * counts the sentences too and assumes the fewest possible chunks: there may be some more, with more requests.
   */
  readonly tokens: number;
  /** Calls for embeddings that would be made. */
  readonly requests: number;
  /** Chunks whose vectors are stored already, or shared with an equal text. */
  readonly reused: number;
  /**
   * Pictures that would be described. Their words are unknown until then, so `chunks`, `tokens` and `requests` lack those of
   * the pictures that would be sent. Absent where no picture would be.
   */
  readonly pictures?: PlannedPictures;
  /** Cost of all tokens, at most those of pictures among them, in the currency of `price`; only where a price was given. */
  readonly cost?: number;
  /** Documents and files that would fail, each with its error. */
  readonly failures: IngestReport["failures"];
  /** How many of the failures are from an earlier run; see `IngestReport`. */
  readonly notRetried?: IngestReport["notRetried"];
  /** Files and documents that would be passed over, with the reason. */
  readonly skipped: IngestReport["skipped"];
  /** One line each about what would be read only in part. */
  readonly warnings: IngestReport["warnings"];
}

/** Options of `planIngest`: those of `ingest` that decide what is read and how it is cut. */
export type PlanIngestOptions<Space extends string = string> = Omit<
  UsualIngestOptions<Space>,
  "maxTokens" | "maxCost" | "concurrency"
>;

const planOptions = usualIngestOptions.omit({ maxTokens: true, maxCost: true, concurrency: true });

/**
 * Plans what `ingest` would do and cost: reads and cuts the source, sends and changes nothing.
 *
 * @throws OptionsError for bad options.
 * @example
 * ```ts
 * import { openStore, planIngest, readFolder, type Embedder } from "citewell";
 * export async function estimate(embedder: Embedder) {
 *   const store = await openStore("./.citewell", embedder);
 *   const { documents, tokens } = await planIngest(readFolder("./docs"), { store, embedder });
 *   await store.close();
 *   return `${documents} documents need ${tokens} tokens`;
 * }
 * ```
 */
export async function planIngest<Space extends string>(
  source: Source<Document> | WatchedSource,
  options: PlanIngestOptions<Space>,
): Promise<IngestPlan> {
  const { store, embedder, price, signal, deadlineMs, report, onProgress, ...how } = resolve(
    "planIngest",
    planOptions,
    options as unknown as PlanIngestOptions,
  );
  const { costOf } = spending("planIngest", { price });
  const { dryRunEmbedder, dryRunStore } = await import("./ingest/dry-run.js");
  const dry = dryRunStore(runStore(store));
  const comparing = dryRunEmbedder(how.chunk.embedder ?? embedder);
  // A real run finds texts that it embedded earlier in the store. Nothing is stored here, so all texts are remembered.
  const embedding = embedChunks<string, DocumentChunk>(dryRunEmbedder(embedder), {
    rememberTexts: Number.MAX_SAFE_INTEGER,
  });
  const { pipeline, files } = cuttingPipeline({ ...how, store: dry, embedder, comparing });
  const flow = pipeline.pipe(embedding).pipe(storeStage(dry));
  const counter = new PictureCounter();
  const counting = (event: RunEvent) => {
    counter.add(event);
    report?.(event);
  };
  const run = { signal, deadlineMs, report: counting, onProgress };
  const work = () => runIngest(source, flow, dry, run, { map: how.map, files, isPlan: true });
  const result = await inSpan("plan", work, signal);
  const pictures = counter.total();
  const { documents, chunks, tokens, requests, failures, notRetried, skipped, warnings } = result;
  return {
    documents: documents.added + documents.updated + documents.unchanged,
    outcomes: documents,
    chunks: chunks.total,
    tokens,
    requests,
    reused: chunks.reused,
    ...(pictures && { pictures }),
    ...costOf(tokens + (pictures ? pictures.requestTokens + pictures.maxReplyTokens : 0)),
    failures,
    ...(notRetried !== undefined && { notRetried }),
    skipped,
    warnings,
  };
}
