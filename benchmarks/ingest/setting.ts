import type { CorpusDocument, RunContext } from "../runner/benchmark.js";

// Settings that are the same for all libraries in the comparison.
export const concurrency = 8;
export const batchTexts = 32;
export const maxTokens = 256;
export const overlapTokens = 32;
export const dimension = 1024;

export interface IngestTask {
  readonly documents: readonly CorpusDocument[];
  /** Address of the embedding service. */
  readonly baseUrl: string;
  readonly latencyMs: number;
  /** Starts and stops the clock. Loading and warming up stay outside. */
  readonly timed: RunContext<never>["timed"];
}

export interface Ingested {
  readonly seconds: number;
  readonly chunks: number;
  /** Further measurements taken on the way. */
  readonly more?: Readonly<Record<string, number>>;
}

/** Cuts, embeds and keeps all documents, from texts to what can be searched. */
export type Ingestion = (task: IngestTask) => Promise<Ingested>;
