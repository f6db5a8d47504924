import { describe, expect, test } from "vitest";
import { planMarkdown } from "../../benchmarks/planning/plan-tables.js";
import { type SizingFigures, sizeOf, workersFor } from "../../benchmarks/planning/sizing.js";
import { simulateIngest, type SimulatedIngest } from "../../benchmarks/planning/simulate-ingest.js";

describe("the sizing model", () => {
  const figures: SizingFigures = {
    dimensions: 1000,
    // 50 MB and 1,200 bytes a chunk in memory; 8,000 bytes a chunk on disk.
    stores: [
      { chunks: 1000, memoryBytes: 60e6, diskBytes: 20e6 },
      { chunks: 10_000, memoryBytes: 62e6, diskBytes: 80e6 },
      { chunks: 100_000, memoryBytes: 170e6, diskBytes: 800e6 },
    ],
    graph: { chunks: 10_000, seconds: 4 },
    workerChunksPerSecond: 200,
    postgres: {
      chunks: 10_000,
      dimensions: 1000,
      vector: { tableBytes: 28_000, graphBytes: 8000, graphSeconds: 6 },
      halfvec: { tableBytes: 25_000, graphBytes: 3000, graphSeconds: 5 },
    },
  };
  const collection = {
    dimensions: 1000,
    store: "embedded",
    tokensPerChunk: 300,
    pricePerMillionTokens: 0.02,
  } as const;

  test("gives back the figures that it was made from, and goes on along the line through the largest two", () => {
    for (const { chunks, ...bytes } of figures.stores.slice(-2)) {
      expect(sizeOf({ ...collection, chunks }, figures)).toMatchObject(bytes);
    }
    const million = sizeOf({ ...collection, chunks: 1_000_000 }, figures);
    expect(million.memoryBytes).toBeCloseTo(50e6 + 1200 * 1e6);
    expect(million.diskBytes).toBeCloseTo(8000 * 1e6);
    expect(million.cost).toBe(6);
    expect(sizeOf({ ...collection, chunks: 10_000 }, figures).buildSeconds).toBeCloseTo(4);
    // A hundred times the chunks, each of which visits half as many others again.
    expect(million.buildSeconds).toBeCloseTo(4 * 100 * 1.5);
    for (const store of ["vector", "halfvec"] as const) {
      const { tableBytes, graphBytes, graphSeconds } = figures.postgres[store];
      const size = sizeOf({ ...collection, store, chunks: 10_000 }, figures);
      expect(size.diskBytes).toBeCloseTo(10_000 * (tableBytes + graphBytes));
      expect(size.buildSeconds).toBeCloseTo(graphSeconds);
    }
  });

  test("counts a byte of memory and five of disk for each dimension more", () => {
    const at = (dimensions: number) => sizeOf({ ...collection, chunks: 1_000_000, dimensions }, figures);
    expect(at(1500).memoryBytes - at(1000).memoryBytes).toBeCloseTo(500e6);
    expect(at(1500).diskBytes - at(1000).diskBytes).toBeCloseTo(2500e6);
  });

  test("asks for as many workers as the load needs, and says what the service's limit admits", () => {
    const load = { chunksPerDocument: 10, requestsPerMinute: 60, textsPerRequest: 50, latencyMs: 1000, concurrency: 2 };
    const workers = (more: { readonly documentsPerDay: number; readonly failureShare: number }) =>
      workersFor({ ...load, ...more }, figures);
    // A worker embeds 2 × 50 chunks a second; 100 documents a second are 1,000 chunks.
    expect(workers({ documentsPerDay: 100 * 86_400, failureShare: 0 })).toEqual({
      workers: 10,
      maxDocumentsPerDay: 5 * 86_400,
    });
    expect(workers({ documentsPerDay: 100 * 86_400, failureShare: 0.5 }).workers).toBe(20);
    expect(workers({ documentsPerDay: 1, failureShare: 0 }).workers).toBe(1);
    // However short a request is, a worker does not cut and write more than it can.
    const fast = { ...load, latencyMs: 1, documentsPerDay: 100 * 86_400, failureShare: 0 };
    expect(workersFor(fast, figures).workers).toBe(5);
  });

  test("names what has to be measured first", () => {
    expect(planMarkdown(new Map())).toContain("npm run bench -- growth graph scale postgres-size");
  });
});

describe("the simulation of ingestion", () => {
  const ingest: SimulatedIngest = {
    workers: 1,
    batches: 2000,
    concurrency: 4,
    requestsPerMinute: 1e9,
    latencyMs: 1000,
    failureShare: 0,
    seed: 7,
  };

  test("takes the time of the requests over those in flight, where nothing limits it", () => {
    for (const workers of [1, 2, 4, 10]) {
      const { seconds, requests } = simulateIngest({ ...ingest, workers });
      expect(requests).toBe(2000);
      expect(seconds / (2000 / (4 * workers))).toBeCloseTo(1, 0);
    }
  });

  test("takes the time that the rate limit prescribes, with any number of workers", () => {
    for (const workers of [10, 100, 1000]) {
      // 60 at once, and 9 a second for the other 1,940.
      const { seconds, limitUsed } = simulateIngest({ ...ingest, workers, requestsPerMinute: 600 });
      expect(seconds).toBeGreaterThanOrEqual(215);
      expect(seconds).toBeLessThanOrEqual(218);
      expect(limitUsed).toBeGreaterThan(0.91);
    }
  });

  test("takes the time of the workers' own threads, where these are slower than the service", () => {
    // 2,000 requests of 2 s on the thread of one of 4 workers, whose last answer takes half a second to one and a half.
    const { seconds } = simulateIngest({ ...ingest, workers: 4, workMs: 2000 });
    expect(seconds).toBeGreaterThanOrEqual(1000.5);
    expect(seconds).toBeLessThanOrEqual(1003.5);
  });

  test("sends failed requests again, and those of killed workers, until every batch is done", () => {
    const { requests } = simulateIngest({ ...ingest, failureShare: 0.2 });
    expect(requests).toBeGreaterThan(2000 / 0.8 / 1.1);
    expect(requests).toBeLessThan((2000 / 0.8) * 1.1);
    const killed = simulateIngest({ ...ingest, workers: 4, lifeSeconds: 20, recoverySeconds: 5 });
    expect(killed.kills).toBeGreaterThan(5);
    expect(killed.requests).toBe(2000 + killed.lost);
    // Nothing is embedded twice beyond the batches in flight.
    expect(killed.lost).toBeLessThanOrEqual((killed.kills + 4) * 4);
    expect(killed.seconds).toBeGreaterThan(simulateIngest({ ...ingest, workers: 4 }).seconds);
  });

  test("is the same for the same seed", () => {
    expect(simulateIngest({ ...ingest, failureShare: 0.1, lifeSeconds: 50 })).toEqual(
      simulateIngest({ ...ingest, failureShare: 0.1, lifeSeconds: 50 }),
    );
  });
});
