import { z } from "zod";
import { OptionsError, StoreError } from "../core/errors.js";
import { observerOption, optionsOf, resolve } from "../core/options.js";
import { Pipeline, type RunEvent, runOptions, stage, type Stage } from "../core/pipeline.js";
import type { Embedder, Store } from "../core/ports.js";
import { type Source, unlessAborted } from "../core/stream.js";
import { inSpan } from "../core/telemetry.js";
import type { Document, DocumentChunk } from "../core/types.js";
import type { Payments } from "../stages/calls/payments.js";
import { chunk } from "../stages/indexing/chunk.js";
import { embedChunks } from "../stages/indexing/embed-chunks.js";
import { fitMetadata, store as storeStage, storeBlank } from "../stages/indexing/store.js";
import { skipKnown, skipUnchanged } from "../stages/indexing/skip-known.js";
import { type MapDocumentsOptions, mapOption } from "./ingest/map-documents.js";
import type { IngestProgress, IngestReport } from "./ingest/ledger.js";
import { type RereadOptions, RunMemory } from "./ingest/run-memory.js";
import { recordingStore } from "./ingest/recording-store.js";
import { type IngestRunOptions, runIngest, type WatchedSource } from "./ingest/run.js";
import { RunPayments } from "./ingest/run-payments.js";
import { type RunStore, runStore } from "./ingest/run-store.js";
import {
  chosenChunkSettings,
  cutName,
  type GivenChunkOptions,
  givenChunkOptions,
  keptSettings,
  LearnedSettings,
} from "./ingest/settings.js";
import { spending, type SpendingOptions, spendingOptions } from "./ingest/spending.js";

interface SharedIngestOptions<Space extends string> extends IngestRunOptions, SpendingOptions, MapDocumentsOptions {
  /** Where documents, chunks and vectors go. */
  readonly store: Store<Space>;
}

/** Documents through the usual stages. */
export interface UsualIngestOptions<Space extends string = string> extends SharedIngestOptions<Space>, RereadOptions {
  /** Makes the vectors; its space has to be the store's. */
  readonly embedder: Embedder<Space>;
  /** How documents are cut. Default: as when the store was last filled, else as `chunk` does. */
  readonly chunk?: GivenChunkOptions;
  /** Embedding requests in flight at once, 1 to 256. Default: 8. */
  readonly concurrency?: number;
  /**
   * Stages of your own for documents, before they are cut; every file is then read. A document that a stage drops ends the
   * run with an error. Default: none.
   */
  readonly documents?: Stage<Document, Document>;
  /** Stages of your own for chunks, before they are compared with the store and embedded; everything is then read and cut. Default: none. */
  readonly chunks?: Stage<DocumentChunk, DocumentChunk>;
  /** Another place whose vectors of equal texts are taken over instead of paid for again. Default: the store alone. */
  readonly reuseFrom?: Pick<Store<Space>, "knownVectors">;
}

/** The means that a run hands to a pipeline of your own. */
export interface OwnPipelineRun<Space extends string = string> {
  /** The store, for the stages to write to: the run hears which vectors are kept. */
  readonly store: Store<Space>;
  /** Budget and paid vectors of the run: an option of `embedChunks`, and of `chunk` for `semantic`. */
  readonly payments: Payments;
}

/** Documents through a pipeline of your own, which ends in `store(kb)`. */
export interface OwnPipelineOptions<Space extends string = string> extends SharedIngestOptions<Space> {
  /**
   * Stages from documents to the store. The check of metadata and the storing of blank documents come before it. Made by a
   * function of the run, its stages keep to the budget (`maxTokens`, `maxCost`), and vectors that wait for their
   * documents are stored within a second; a pipeline that is made before has neither.
   */
  readonly pipeline: Stage<Document, unknown> | ((run: OwnPipelineRun<Space>) => Stage<Document, unknown>);
}

/** Options of `ingest`: of the usual stages, or of a pipeline of your own. */
export type IngestOptions<Space extends string = string> = UsualIngestOptions<Space> | OwnPipelineOptions<Space>;

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;
const object = <T>(what: string) => z.custom<T>(isObject, { error: `must be ${what}` });

const optionFields = {
  ...spendingOptions.shape,
  store: object<Store>("a store, as openStore() returns it"),
  ...runOptions.shape,
  onProgress: observerOption<NonNullable<IngestRunOptions["onProgress"]>>("onProgress").optional(),
  map: mapOption,
};
/** @internal */
export const usualIngestOptions = optionsOf<UsualIngestOptions>()({
  ...optionFields,
  embedder: object<Embedder>("an embedder, as embedder(transport, { model }) returns it"),
  chunk: givenChunkOptions.default({}),
  concurrency: z.int().min(1).max(256).default(8),
  reread: z.boolean().default(false),
  retryFailed: z.boolean().default(false),
  documents: object<Stage<Document, Document>>("a stage").optional(),
  chunks: object<Stage<DocumentChunk, DocumentChunk>>("a stage").optional(),
  reuseFrom: object<Pick<Store, "knownVectors">>("a store").optional(),
});
const ownPipelineOptions = optionsOf<OwnPipelineOptions>()({
  ...optionFields,
  pipeline: z.custom<OwnPipelineOptions["pipeline"]>((value) => isObject(value) || typeof value === "function", {
    error: "must be a Pipeline from documents, or a function of the run that makes one",
  }),
});

/**
 * Brings a store up to date with a source: new, changed and, for sources that know their own documents, vanished ones.
 * Unchanged documents cost nothing, equal texts are embedded once, and vectors are stored as they arrive. If the
 * process is killed, run it again: it resumes where it was. A budget ends it before the request that would exceed it,
 * and the report says so in `stopped`.
 *
 * @throws OptionsError for bad options; StoreError `locked` while another process writes to the store, before anything is
 * paid for; TransportError when the service cannot be reached or the deadline passes.
 * @example
 * ```ts
 * import { createTransport, embedder, ingest, openStore, readFolder } from "citewell";
 * const embed = embedder(createTransport({ service: "ollama" }), { model: "bge-m3" });
 * const store = await openStore("./.citewell", embed);
 * const { documents, stopped } = await ingest(readFolder("./docs"), { store, embedder: embed, maxTokens: 1_000_000 });
 * console.log(documents.added, stopped?.reason);
 * ```
 */
export async function ingest<Space extends string>(
  source: Source<Document> | WatchedSource,
  options: IngestOptions<Space>,
): Promise<IngestReport> {
  const { store: given, ...shared } =
    "pipeline" in options
      ? resolve("ingest", ownPipelineOptions, options as unknown as OwnPipelineOptions)
      : resolve("ingest", usualIngestOptions, options as unknown as UsualIngestOptions);
  const { price, maxTokens, maxCost, signal, deadlineMs, onProgress, map } = shared;
  const store = runStore(given);
  const limit = spending("ingest", { price, maxTokens, maxCost });
  const claim = claimOnce(given);
  const payments: RunPayments = new RunPayments({
    store: { knownVectors: store.knownVectors, write: (write) => store.write({ ...write, ...learned?.unsaved() }) },
    lock: claim.take,
    maxTokens: limit.maxTokens,
  });
  const { pipeline, learned, memory, files } =
    "pipeline" in shared
      ? { pipeline: beginning(store).pipe(ownPipeline(shared.pipeline, given, payments, claim.take)) }
      : usualPipeline({ store, payments, ...shared });
  const keepLearned = async () => {
    const unsaved = learned?.unsaved() ?? {};
    if (Object.keys(unsaved).length > 0) await store.write(unsaved);
    const { notes } = memory?.unsaved() ?? {};
    if (notes) await store.write({ notes }).catch(unlessLocked);
  };
  const report = (event: RunEvent) => {
    if (event.type === "document" && event.outcome === "unchanged") memory?.settle(event.uri);
    if (event.type === "progress" && event.what === "tokens") learned?.noteReply();
    shared.report?.(event);
  };
  let latest: IngestProgress | undefined;
  const noteProgress = onProgress && ((progress: IngestProgress) => onProgress((latest = progress)));
  const run = { signal, deadlineMs, report, ...(noteProgress && { onProgress: noteProgress }) };
  const work = async () => {
    try {
      return await runIngest(source, pipeline, store, run, { map, files, budget: payments });
    } finally {
      const kept = await payments.end();
      // Fewer vectors may be kept than were embedded, as on a full disk. Progress displays report this number as saved.
      if (latest && kept !== undefined)
        onProgress?.({ ...latest, chunksEmbedded: Math.min(latest.chunksEmbedded, kept) });
    }
  };
  try {
    const result = await inSpan("ingest", work, signal).catch(async (error: unknown) => {
      // The next run begins with the settings this one learned. The error that ended this run matters more than a
      // failure to save them.
      await keepLearned().catch(() => {});
      throw error;
    });
    await keepLearned();
    return { ...result, ...limit.costOf(result.tokens + (result.pictures?.tokens ?? 0)) };
  } finally {
    const letGo = claim.letGo();
    // Everything is stored by now. A caller who aborts does not wait for the store's work at the end of a run.
    await (signal ? unlessAborted(letGo, signal) : letGo).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    });
  }
}

/** Notes save the next run some time. One that found nothing to change does not fail because another process writes. */
function unlessLocked(error: unknown): void {
  if (!(error instanceof StoreError && error.code === "locked")) throw error;
}

/** First stages of every run: blank documents and those whose metadata the store refuses go no further. */
function beginning(store: Pick<Store, "metadataSchema" | "documentInfo" | "write">): Pipeline<Document, Document> {
  return Pipeline.from<Document>().pipe(fitMetadata(store)).pipe(storeBlank(store));
}

/** @internal */
type ResolvedOptions = z.output<typeof usualIngestOptions>;

function usualPipeline(
  options: Pick<ResolvedOptions, "concurrency"> & CuttingOptions & { readonly payments: RunPayments },
) {
  const { store, embedder, concurrency, payments } = options;
  const { pipeline: cutting, learned, memory, files } = cuttingPipeline(options);
  const recording = recordingStore(store, {
    beside: ({ documents }) => {
      if (!documents) return learned.unsaved();
      for (const { document } of documents) memory.settle(document.uri);
      return { ...learned.unsavedWithChunks(), ...memory.unsaved() };
    },
    written: (keys) => payments.written(keys),
  });
  const embedding = embedChunks<string, DocumentChunk>(embedder, {
    concurrency,
    payments,
    firstBatchTexts: learned.batchTexts,
    onBatchTexts: learned.noteBatchTexts,
  });
  return { pipeline: cutting.pipe(embedding).pipe(storeStage(recording)), learned, memory, files };
}

/** @throws OptionsError for a budget that a ready pipeline, made before the run, cannot keep to. */
function ownPipeline(
  given: OwnPipelineOptions["pipeline"],
  store: Store,
  payments: RunPayments,
  lock: () => Promise<unknown>,
): Stage<Document, unknown> {
  if (typeof given === "function") {
    const written = (keys: Iterable<string>) => payments.written(keys);
    return given({ store: recordingStore(store, { beside: () => ({}), written }), payments });
  }
  if (payments.maxTokens !== undefined) {
    throw new OptionsError(
      "options",
      "maxTokens and maxCost cannot reach a pipeline that was made before the run. Pass a function of the run: " +
        "pipeline: ({ store, payments }) => …embedChunks(embedder, { payments })…, or set maxTokens of embedChunks()",
      { call: "ingest", option: "pipeline" },
    );
  }
  // Nothing shows when this pipeline begins to pay, so the lock is taken before its first document.
  const locked = stage<Document, Document>("lock", async function* (source) {
    for await (const document of source) {
      await lock();
      yield document;
    }
  });
  return Pipeline.from<Document>().pipe(locked).pipe(given);
}

/** @internal */
export interface CuttingOptions extends Pick<
  ResolvedOptions,
  "chunk" | "map" | "documents" | "chunks" | "reuseFrom" | "reread" | "retryFailed"
> {
  readonly store: RunStore;
  readonly embedder: Embedder;
  /** Compares sentences for `semantic`. Default: the embedder. */
  readonly comparing?: Embedder;
  /** Pays for the sentences of `semantic`. Default: there is no limit. */
  readonly payments?: Payments;
}

/**
 * Pipeline from documents to those that are not stored unchanged; shared by `enqueue` and the cutting pipeline.
 * @internal
 */
export function readingPipeline(options: Omit<CuttingOptions, "reuseFrom">) {
  const { store, embedder, map, documents, chunks, reread, retryFailed, payments } = options;
  const { comparing = options.chunk.embedder ?? embedder } = options;
  const settings = chosenChunkSettings(options.chunk, keptSettings(store), embedder.maxInputTokens);
  const learned = new LearnedSettings(store, embedder, settings);
  // A stage of the caller's may treat chunks differently today. It is assumed to work as before only if cutting costs
  // money.
  const isUnsure = chunks !== undefined && settings.strategy !== "semantic";
  // The name follows the margin alone, and is asked for with each document.
  let named: { readonly margin: number; readonly name: string } | undefined;
  const nameOfCut = () => {
    const margin = learned.tokenMargin;
    if (named?.margin !== margin) named = { margin, name: cutName(settings, learned, comparing) };
    return named.name;
  };
  const memory = new RunMemory(store, { reread, retryFailed, cutName: () => (isUnsure ? undefined : nameOfCut()) });
  // A file's document is made again for a step or a schema that may treat it differently today.
  const files = map || documents || store.metadataSchema ? undefined : memory;
  const begun = documents ? beginning(store).pipe(documents) : beginning(store);
  const pipeline = begun.pipe(skipUnchanged(store, (uris) => memory.cutAsNow(uris)));
  return { pipeline, learned, memory, files, cutting: { ...settings, for: learned, embedder: comparing, payments } };
}

/** Documents to the chunks that need a vector: what ingesting and planning share. @internal */
export function cuttingPipeline(options: CuttingOptions) {
  const { store, chunks, reuseFrom } = options;
  const { pipeline, cutting, ...rest } = readingPipeline(options);
  const known = reuseFrom ? storedOr(store, reuseFrom) : store;
  const cut = pipeline.pipe(chunk(cutting));
  return { pipeline: (chunks ? cut.pipe(chunks) : cut).pipe(skipKnown(known)), ...rest };
}

/** Vectors of the store, and of another place for texts that the store has none of. */
function storedOr(
  store: Pick<Store, "space" | "documentInfo" | "knownVectors">,
  other: Pick<Store, "knownVectors">,
): Pick<Store, "space" | "documentInfo" | "knownVectors"> {
  return {
    space: store.space,
    documentInfo: (uri) => store.documentInfo(uri),
    knownVectors: async (keys) => {
      const stored = await store.knownVectors(keys);
      const missing = keys.filter((key) => !stored.has(key));
      return missing.length === 0 ? stored : new Map([...stored, ...(await other.knownVectors(missing))]);
    },
  };
}

/** The right to write to a store, from the first time it is needed to the end of the run. */
function claimOnce(store: Pick<Store, "claim">) {
  let claimed: ReturnType<NonNullable<Store["claim"]>> | Promise<undefined> | undefined;
  return {
    take: () => (claimed ??= store.claim?.() ?? Promise.resolve(undefined)),
    letGo: async () => (await claimed?.catch(() => undefined))?.(),
  };
}
