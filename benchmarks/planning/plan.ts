/**
 * Prints what collections need by the model of `planning/sizing.ts`, and simulates ingestion with 1 to 1,000 workers.
 *
 *     npm run bench plan [dimensions] [tokens a chunk] [price a million]
 */
import { type Collection, measured, sizeOf, workersFor } from "./sizing.js";
import { simulateIngest } from "./simulate-ingest.js";

const [dimensions = 1024, tokensPerChunk = 300, pricePerMillionTokens = 0.02] = process.argv.slice(2).map(Number);

console.log(`${dimensions} dimensions, ${tokensPerChunk} tokens a chunk, ${pricePerMillionTokens} a million tokens`);
console.table(
  [100_000, 1_000_000, 10_000_000, 100_000_000].flatMap((chunks) =>
    (["embedded", "vector", "halfvec"] as const).map((store) => {
      const collection: Collection = { chunks, dimensions, store, tokensPerChunk, pricePerMillionTokens };
      const { memoryBytes, diskBytes, buildSeconds, cost } = sizeOf(collection);
      return {
        chunks,
        store: store === "embedded" ? store : `PostgreSQL, ${store}`,
        "memory, GB": round(memoryBytes / 1e9),
        "disk, GB": round(diskBytes / 1e9),
        "graph, hours": round(buildSeconds / 3600),
        cost: round(cost),
      };
    }),
  ),
);

const load = {
  chunksPerDocument: 10,
  requestsPerMinute: 3000,
  textsPerRequest: 64,
  latencyMs: 500,
  concurrency: 8,
  failureShare: 0.05,
};
console.log(
  "workers by the model, 10 chunks a document, 3,000 requests a minute of 64 texts in 500 ms, 8 in flight, 5 % fail",
);
console.table(
  [10_000, 1_000_000, 10_000_000, 30_000_000].map((documentsPerDay) => ({
    "documents a day": documentsPerDay,
    ...workersFor({ ...load, documentsPerDay }),
  })),
);

console.log("simulated: 200,000 requests of 64 texts, a worker killed every hour of its life on average");
console.table(
  [1, 2, 4, 10, 100, 1000].map((workers) => {
    const workMs = (1000 * load.textsPerRequest) / measured.workerChunksPerSecond;
    const run = simulateIngest({ ...load, workers, workMs, batches: 200_000, lifeSeconds: 3600, seed: 1 });
    const { seconds, requests, lost, kills, limitUsed } = run;
    return { workers, hours: round(seconds / 3600), requests, lost, kills, "limit used": round(limitUsed) };
  }),
);

function round(value: number): number {
  return Number(value.toPrecision(3));
}
