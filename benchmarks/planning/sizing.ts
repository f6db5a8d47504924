import { type Result, spreadOf, valuesOf } from "../runner/result.js";

/** Medians that the model extrapolates from, each of the benchmark that it names. */
export interface SizingFigures {
  /** `growth`: at 1,024 dimensions, by number of chunks, in ascending order. */
  readonly stores: readonly { readonly chunks: number; readonly memoryBytes: number; readonly diskBytes: number }[];
  readonly dimensions: number;
  /** `graph`: seconds of all cores for a graph of so many vectors. */
  readonly graph: { readonly chunks: number; readonly seconds: number };
  /** `scale`: chunks of small documents that a worker takes, cuts and writes when the service answers at once. */
  readonly workerChunksPerSecond: number;
  /** `postgres-size`: bytes of a chunk in tables and in the graph, and the time of the graph on the server. */
  readonly postgres: Readonly<Record<"vector" | "halfvec", PostgresFigures>> & {
    readonly chunks: number;
    readonly dimensions: number;
  };
}

interface PostgresFigures {
  readonly tableBytes: number;
  readonly graphBytes: number;
  readonly graphSeconds: number;
}

/** The benchmarks that the model is made from. */
export const sizedBy = ["growth", "graph", "scale", "postgres-size"] as const;

/** The figures of results, or `undefined` where a benchmark of `sizedBy` was not run, or a contender of it did not end. */
export function sizingFigures(results: ReadonlyMap<string, Result>): SizingFigures | undefined {
  const [growth, graph, scale, postgres] = sizedBy.map((name) => results.get(name));
  if (!growth || !graph || !scale || !postgres) return undefined;
  const median = (result: Result, contender: string, measure: string) =>
    spreadOf(valuesOf(result, contender, measure))?.median ?? Number.NaN;
  const precision = (name: "vector" | "halfvec") => ({
    tableBytes: median(postgres, name, "tables"),
    graphBytes: median(postgres, name, "graph"),
    graphSeconds: median(postgres, name, "graph made"),
  });
  const figures: SizingFigures = {
    stores: Object.entries(growth.scale ?? {})
      .map(([name, chunks]) => ({
        chunks,
        memoryBytes: 1e6 * median(growth, name, "memory"),
        diskBytes: 1e6 * median(growth, name, "disk"),
      }))
      .filter(({ diskBytes }) => !Number.isNaN(diskBytes)),
    dimensions: growth.size["dimension"] ?? Number.NaN,
    graph: {
      chunks: graph.size["vectors"] ?? Number.NaN,
      seconds: median(graph, "citewell, 4-bit, all cores", "built"),
    },
    workerChunksPerSecond: median(scale, "citewell, 1 worker", "without waiting"),
    postgres: {
      chunks: postgres.size["chunks"] ?? Number.NaN,
      dimensions: postgres.size["dimension"] ?? Number.NaN,
      vector: precision("vector"),
      halfvec: precision("halfvec"),
    },
  };
  const numbers = JSON.stringify(figures);
  return figures.stores.length < 2 || numbers.includes("null") ? undefined : figures;
}

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
  /** Time to make the graph, in seconds, on two cores: of the process, or of the server. */
  readonly buildSeconds: number;
  /** Price of embedding everything once. */
  readonly cost: number;
}

/**
 * Estimates the needs of a collection. In a folder, the vector of a chunk takes 4 bytes a dimension on disk and a copy of 1 byte on disk
 * and in memory; what else it takes does not depend on the dimensions, and on top stands what a process holds without any
 * chunk. Inserting a vector into a graph visits a number of others that grows with the logarithm of the graph.
 */
export function sizeOf(collection: Collection, figures: SizingFigures): Size {
  const { chunks, dimensions, store, tokensPerChunk, pricePerMillionTokens } = collection;
  const { graph, postgres } = figures;
  const secondsOf = (from: { readonly chunks: number; readonly seconds: number }) =>
    ((from.seconds / from.chunks) * chunks * Math.log(Math.max(chunks, 2))) / Math.log(from.chunks);
  const cost = (chunks * tokensPerChunk * pricePerMillionTokens) / 1e6;
  if (store === "embedded") {
    const [before, largest] = figures.stores.slice(-2) as [SizingFigures["stores"][0], SizingFigures["stores"][0]];
    const more = dimensions - figures.dimensions;
    const growing = (bytes: "memoryBytes" | "diskBytes", bytesPerDimension: number) => {
      const aChunk = (largest[bytes] - before[bytes]) / (largest.chunks - before.chunks);
      return largest[bytes] - largest.chunks * aChunk + chunks * (aChunk + bytesPerDimension * more);
    };
    return {
      memoryBytes: growing("memoryBytes", 1),
      diskBytes: growing("diskBytes", 5),
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
export function workersFor(
  load: Load,
  { workerChunksPerSecond }: Pick<SizingFigures, "workerChunksPerSecond">,
): { readonly workers: number; readonly maxDocumentsPerDay: number } {
  const { documentsPerDay, chunksPerDocument, requestsPerMinute, textsPerRequest, failureShare } = load;
  const useful = textsPerRequest * (1 - failureShare);
  const maxDocumentsPerDay = (requestsPerMinute * 60 * 24 * useful) / chunksPerDocument;
  const ofWorker = Math.min((load.concurrency * useful * 1000) / load.latencyMs, workerChunksPerSecond);
  const chunksPerSecond = (documentsPerDay * chunksPerDocument) / 86_400;
  return { workers: Math.max(1, Math.ceil(chunksPerSecond / ofWorker)), maxDocumentsPerDay };
}
