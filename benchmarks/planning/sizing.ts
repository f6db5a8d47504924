/** Figures of `benchmarks/README.md` that the model extrapolates from, each with the command that printed it. */
export const measured = {
  /** `search.js 10000 1024 --parts verify`: bytes of database and saved indexes; 226 MB with 20,000 chunks. */
  disk: { chunks: 10_000, dimensions: 1024, bytes: 115e6 },
  /** `search.js 100000 1024 --parts hnsw,recall,together`: memory of a process that searches × the raw vectors. */
  memoryShareOfVectors: 1.45,
  /** `ingest.js`: inserting the graph alone, on one core. */
  graph: { chunks: 8676, seconds: 11.1 },
  /** `ingest.js`: chunks that one process reads, cuts and writes when the service is not what it waits for. */
  ingestChunksPerSecond: 8676 / 4.2,
} as const;

export interface Collection {
  readonly chunks: number;
  /** Length of the vectors. */
  readonly dimensions: number;
  /** Bytes of a component: 4 for `float32`, 2 for `halfvec`. */
  readonly bytesPerComponent: 2 | 4;
  /** Mean tokens of a chunk. */
  readonly tokensPerChunk: number;
  /** Price of a million tokens of the embedding model. */
  readonly pricePerMillionTokens: number;
}

export interface Size {
  /** Bytes in memory of a process that searches all vectors with a graph. */
  readonly memoryBytes: number;
  /** Bytes of database and indexes. */
  readonly diskBytes: number;
  /** Time to insert the graph on one core, in seconds. */
  readonly buildSeconds: number;
  /** Price of embedding everything once. */
  readonly cost: number;
}

/**
 * What a collection needs. Memory and the vectors on disk grow with chunks and dimensions; the rest of a chunk on disk (text,
 * words, links) does not depend on the dimensions; inserting a vector into a graph visits a number of others that grows
 * with the logarithm of the graph.
 */
export function sizeOf(collection: Collection): Size {
  const { chunks, dimensions, bytesPerComponent, tokensPerChunk, pricePerMillionTokens } = collection;
  const { disk, graph } = measured;
  const vectorBytes = chunks * dimensions * bytesPerComponent;
  // The database has each vector as it was embedded, the graph a copy of it.
  const beside = disk.bytes / disk.chunks - 2 * 4 * disk.dimensions;
  const share = Math.log(Math.max(chunks, 2)) / Math.log(graph.chunks);
  return {
    memoryBytes: measured.memoryShareOfVectors * vectorBytes,
    diskBytes: chunks * (4 * dimensions + beside) + vectorBytes,
    buildSeconds: (graph.seconds / graph.chunks) * chunks * share,
    cost: (chunks * tokensPerChunk * pricePerMillionTokens) / 1e6,
  };
}

export interface Load {
  readonly documentsPerDay: number;
  readonly chunksPerDocument: number;
  /** Limit of the service for all workers together. */
  readonly requestsPerMinute: number;
  readonly textsPerRequest: number;
  /** Time that the service takes for a request, in milliseconds. */
  readonly latencyMs: number;
  /** Requests of one worker in flight. */
  readonly concurrency: number;
  /** Share of requests that fail and are sent again, 0 to below 1. */
  readonly failureShare: number;
}

/** How many workers a load needs, and whether the service's limit admits it with any number of them. */
export function workersFor(load: Load): { readonly workers: number; readonly maxDocumentsPerDay: number } {
  const { documentsPerDay, chunksPerDocument, requestsPerMinute, textsPerRequest, failureShare } = load;
  const useful = textsPerRequest * (1 - failureShare);
  const maxDocumentsPerDay = (requestsPerMinute * 60 * 24 * useful) / chunksPerDocument;
  const ofWorker = Math.min((load.concurrency * useful * 1000) / load.latencyMs, measured.ingestChunksPerSecond);
  const chunksPerSecond = (documentsPerDay * chunksPerDocument) / 86_400;
  return { workers: Math.max(1, Math.ceil(chunksPerSecond / ofWorker)), maxDocumentsPerDay };
}
