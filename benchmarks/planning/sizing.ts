/** Figures that the model extrapolates from, each with the command that printed it. */
export const measured = {
  /** `search.js 10000 1024 --parts verify`: bytes of database and saved indexes; 226 MB with 20,000 chunks. */
  disk: { chunks: 10_000, dimensions: 1024, bytes: 115e6 },
  /** `search.js 100000 1024 --parts hnsw,recall,together`: memory of a process that searches × the raw vectors. */
  memoryShareOfVectors: 0.71,
  /** `graph.js 100000 1024 no`: the graph alone, its seconds of CPU. */
  graph: { chunks: 100_000, seconds: 94.7 },
  /** `ingest-workers.js`: chunks of small documents that a worker takes, cuts and writes when the service answers at once. */
  workerChunksPerSecond: 18.9 / 0.092,
  /** `postgres-size.js 10000 1024`: bytes of a chunk in tables and in the graph, and the time of the graph on the server. */
  postgres: {
    chunks: 10_000,
    dimensions: 1024,
    vector: { tableBytes: 28_031, graphBytes: 8193, graphSeconds: 5.84 },
    halfvec: { tableBytes: 25_277, graphBytes: 2732, graphSeconds: 4.6 },
  },
} as const;

export interface Collection {
  readonly chunks: number;
  /** Length of the vectors. */
  readonly dimensions: number;
  /** The store in a folder, or one on PostgreSQL with that precision. */
  readonly store: "embedded" | "vector" | "halfvec";
  /** Mean tokens of a chunk. */
  readonly tokensPerChunk: number;
  /** Price of a million tokens of the embedding model. */
  readonly pricePerMillionTokens: number;
}

export interface Size {
  /** Bytes in memory where all vectors are searched with a graph: of the process, or of the server's copy of the graph. */
  readonly memoryBytes: number;
  /** Bytes of database and indexes. */
  readonly diskBytes: number;
  /** Time to make the graph, in seconds: on one core, or on a PostgreSQL server with two. */
  readonly buildSeconds: number;
  /** Price of embedding everything once. */
  readonly cost: number;
}

/**
 * What a collection needs. Memory and the vectors on disk grow with chunks and dimensions; the rest of a chunk on disk (text,
 * words) does not depend on the dimensions; inserting a vector into a graph visits a number of others that grows
 * with the logarithm of the graph.
 */
export function sizeOf(collection: Collection): Size {
  const { chunks, dimensions, store, tokensPerChunk, pricePerMillionTokens } = collection;
  const { disk, graph, postgres } = measured;
  const secondsOf = (from: { readonly chunks: number; readonly seconds: number }) =>
    ((from.seconds / from.chunks) * chunks * Math.log(Math.max(chunks, 2))) / Math.log(from.chunks);
  const cost = (chunks * tokensPerChunk * pricePerMillionTokens) / 1e6;
  if (store === "embedded") {
    const vectorBytes = chunks * dimensions * 4;
    // The database has each vector as it was embedded, the graph a copy of it.
    const beside = disk.bytes / disk.chunks - 2 * 4 * disk.dimensions;
    const diskBytes = chunks * beside + 2 * vectorBytes;
    return {
      memoryBytes: measured.memoryShareOfVectors * vectorBytes,
      diskBytes,
      buildSeconds: secondsOf(graph),
      cost,
    };
  }
  const { tableBytes, graphBytes, graphSeconds } = postgres[store];
  // The tables have each vector as it was embedded, and once more at the store's precision.
  const bytesPerDimension = 4 + (store === "halfvec" ? 2 : 4);
  const memoryBytes = (chunks * graphBytes * dimensions) / postgres.dimensions;
  return {
    memoryBytes,
    diskBytes: chunks * (tableBytes + bytesPerDimension * (dimensions - postgres.dimensions)) + memoryBytes,
    buildSeconds: secondsOf({ chunks: postgres.chunks, seconds: graphSeconds }),
    cost,
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
  const ofWorker = Math.min((load.concurrency * useful * 1000) / load.latencyMs, measured.workerChunksPerSecond);
  const chunksPerSecond = (documentsPerDay * chunksPerDocument) / 86_400;
  return { workers: Math.max(1, Math.ceil(chunksPerSecond / ofWorker)), maxDocumentsPerDay };
}
