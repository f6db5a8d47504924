import { z } from "zod";
import { StoreError } from "../core/errors.js";
import { optionsOf, resolve } from "../core/options.js";
import { type Budget, Pipeline, type RunEvent, runOptions, type Stage } from "../core/pipeline.js";
import type { Embedder, Store } from "../core/ports.js";
import { type Source, unlessAborted } from "../core/stream.js";
import { inSpan } from "../core/telemetry.js";
import type { Document, DocumentChunk } from "../core/types.js";
import { TokenBudget } from "../stages/indexing/token-budget.js";
import { chunk, type ChunkTarget } from "../stages/indexing/chunk.js";
import { embedChunks } from "../stages/indexing/embed-chunks.js";
import { fitMetadata, store as storeStage, storeBlank } from "../stages/indexing/store.js";
import { skipKnown, skipUnchanged } from "../stages/indexing/skip-known.js";
import { EarlyVectors } from "./ingest/early-vectors.js";
import type { IngestProgress, IngestReport } from "./ingest/ledger.js";
import { type RereadOptions, RunMemory } from "./ingest/run-memory.js";
import { type IngestRunOptions, runIngest, type WatchedSource } from "./ingest/run.js";
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

interface SharedIngestOptions<Space extends string> extends IngestRunOptions, SpendingOptions {
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
   * run with an error.
   */
  readonly documents?: Stage<Document, Document>;
  /** Stages of your own for chunks, before they are compared with the store and embedded; everything is then read and cut. */
  readonly chunks?: Stage<DocumentChunk, DocumentChunk>;
  /** Another place whose vectors of equal texts are taken over instead of paid for again. Default: the store alone. */
  readonly reuseFrom?: Pick<Store<Space>, "knownVectors">;
}

/** Documents through a pipeline of your own, which ends in `store(kb)`. */
export interface OwnPipelineOptions<Space extends string = string> extends SharedIngestOptions<Space> {
  /** Stages from documents to the store. The check of metadata and the storing of blank documents come before it. */
  readonly pipeline: Stage<Document, unknown>;
}

/** Options of `ingest`: of the usual stages, or of a pipeline of your own. */
export type IngestOptions<Space extends string = string> = UsualIngestOptions<Space> | OwnPipelineOptions<Space>;

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;
const object = <T>(what: string) => z.custom<T>(isObject, { error: `must be ${what}` });
const func = <T>() => z.custom<T>((value) => typeof value === "function", { error: "must be a function" });

const optionFields = {
  ...spendingOptions.shape,
  store: object<Store>("a store, as openStore() returns it"),
  ...runOptions.shape,
  onProgress: func<NonNullable<IngestRunOptions["onProgress"]>>().optional(),
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
  pipeline: object<Stage<Document, unknown>>("a Pipeline from documents"),
});

/**
 * Brings a store up to date with a source: new, changed and, for sources that know what is theirs, vanished documents.
 * Documents that are stored as they are cost nothing, equal texts are embedded once, and vectors are kept as they land.
 * Killed anywhere, run it again: it goes on where it was. A budget ends it before the request that would pass it, and the
 * report says so in `stopped`.
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
      ? resolve("ingest", ownPipelineOptions, options as OwnPipelineOptions)
      : resolve("ingest", usualIngestOptions, options as unknown as UsualIngestOptions);
  const { price, maxTokens, maxCost, signal, deadlineMs, onProgress } = shared;
  const store = runStore(given);
  const limit = spending("ingest", { price, maxTokens, maxCost });
  const claim = claimOnce(given);
  const { pipeline, learned, memory, files } =
    "pipeline" in shared ? { pipeline: beginning(store).pipe(shared.pipeline) } : usualPipeline({ store, ...shared });
  const paidVectors = new EarlyVectors(
    { knownVectors: store.knownVectors, write: (write) => store.write({ ...write, ...learned?.unsaved() }) },
    claim.take,
  );
  const keepLearned = async () => {
    const unsaved = learned?.unsaved() ?? {};
    if (Object.keys(unsaved).length > 0) await store.write(unsaved);
    const { notes } = memory?.unsaved() ?? {};
    if (notes) await store.write({ notes }).catch(unlessLocked);
  };
  const report = (event: RunEvent) => {
    if (event.type === "document" && event.outcome === "unchanged") memory?.settle(event.uri);
    shared.report?.(event);
  };
  let latest: IngestProgress | undefined;
  const noteProgress = onProgress && ((progress: IngestProgress) => onProgress((latest = progress)));
  const run = { signal, deadlineMs, report, ...(noteProgress && { onProgress: noteProgress }) };
  const budget = lockBeforeEmbedding(claim.take, limit.maxTokens);
  const work = async () => {
    try {
      return await runIngest(source, pipeline, store, run, { budget, paidVectors, ...(files && { files }) });
    } finally {
      const kept = await paidVectors.end();
      // As on a full disk. Whoever shows how far the run came says that so much is kept.
      if (latest && kept !== undefined)
        onProgress?.({ ...latest, chunksEmbedded: Math.min(latest.chunksEmbedded, kept) });
    }
  };
  try {
    const result = await inSpan("ingest", work, signal).catch(async (error: unknown) => {
      // The next run begins with what this one learned. What ended this one matters more than a failure to write that down.
      await keepLearned().catch(() => {});
      throw error;
    });
    await keepLearned();
    return { ...result, ...limit.costOf(result.tokens) };
  } finally {
    const letGo = claim.letGo();
    // All is stored by now: what the store makes of a run at its end, nobody who aborts it waits for.
    await (signal ? unlessAborted(letGo, signal) : letGo).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    });
  }
}

/** Notes save the next run some time. One that found nothing to change does not fail because another process writes. */
function unlessLocked(error: unknown): void {
  if (!(error instanceof StoreError && error.code === "locked")) throw error;
}

/** What every document meets first: blank ones and those whose metadata the store refuses go no further. */
function beginning(store: Pick<Store, "metadataSchema" | "documentInfo" | "write">): Pipeline<Document, Document> {
  return Pipeline.from<Document>().pipe(fitMetadata(store)).pipe(storeBlank(store));
}

/** @internal */
type ResolvedOptions = z.output<typeof usualIngestOptions>;

function usualPipeline(options: Pick<ResolvedOptions, "concurrency"> & CuttingOptions) {
  const { store, embedder, concurrency } = options;
  const { pipeline: cutting, learned, memory, files } = cuttingPipeline(options);
  const embedding = embedChunks<string, DocumentChunk>(embedder, {
    concurrency,
    firstBatchTexts: learned.batchTexts,
    onBatchTexts: learned.noteBatchTexts,
  });
  const storing = storeStage(store, {
    settings: () => learned.unsavedWithChunks(),
    notes: (uris) => {
      for (const uri of uris) memory.settle(uri);
      return memory.unsaved();
    },
  });
  return { pipeline: cutting.pipe(embedding).pipe(storing), learned, memory, files };
}

/** @internal */
export interface CuttingOptions extends Pick<
  ResolvedOptions,
  "chunk" | "documents" | "chunks" | "reuseFrom" | "reread" | "retryFailed"
> {
  readonly store: RunStore;
  readonly embedder: Embedder;
  /** Compares sentences for `semantic`. Default: the embedder. */
  readonly comparing?: Embedder;
}

/** Documents to those that are not stored as they are: what reading for others and cutting share. @internal */
export function readingPipeline(options: Omit<CuttingOptions, "reuseFrom">) {
  const { store, embedder, documents, chunks, reread, retryFailed } = options;
  const { comparing = options.chunk.embedder ?? embedder } = options;
  const settings = chosenChunkSettings(options.chunk, keptSettings(store), embedder.maxInputTokens);
  const learned = new LearnedSettings(store, embedder, settings);
  const target: ChunkTarget = {
    maxInputTokens: embedder.maxInputTokens,
    tokens: embedder.tokens,
    get tokenMargin() {
      return learned.tokenMargin;
    },
  };
  // Nobody knows what a stage of the caller's makes of chunks today. Only where cutting costs money is it taken as before.
  const isUnsure = chunks !== undefined && settings.strategy !== "semantic";
  const memory = new RunMemory(store, {
    reread,
    retryFailed,
    cutName: () => (isUnsure ? undefined : cutName(settings, target, comparing)),
  });
  // A file's document has to be made anew for a stage or a schema that may take it differently today.
  const files = documents || store.metadataSchema ? undefined : memory;
  const begun = documents ? beginning(store).pipe(documents) : beginning(store);
  const pipeline = begun.pipe(skipUnchanged(store, (uris) => memory.cutAsNow(uris)));
  return { pipeline, learned, memory, files, cutting: { ...settings, for: target, embedder: comparing } };
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

/**
 * Takes the store's lock before the first request is paid for: of two runs into one store, the one that comes second to the
 * first write would lose all that it paid for. A run that embeds nothing needs no lock.
 */
function lockBeforeEmbedding(lock: () => Promise<unknown>, maxTokens: number | undefined): Budget {
  const budget = maxTokens === undefined ? undefined : new TokenBudget(maxTokens);
  return {
    ...(maxTokens !== undefined && { maxTokens }),
    spend: async (tokens, call) => {
      await lock();
      return budget ? budget.spend(tokens, call) : call();
    },
  };
}
