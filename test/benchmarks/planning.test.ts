import { describe, expect, test } from "vitest";
import { measured, sizeOf, workersFor } from "../../benchmarks/planning/sizing.js";
import { simulateIngest, type SimulatedIngest } from "../../benchmarks/planning/simulate-ingest.js";

describe("the sizing model", () => {
  const collection = {
    dimensions: 1024,
    store: "embedded",
    tokensPerChunk: 300,
    pricePerMillionTokens: 0.02,
  } as const;

  test("gives back the figures that it was made from, and one that it was not", () => {
    expect(sizeOf({ ...collection, chunks: measured.disk.chunks }).diskBytes).toBeCloseTo(measured.disk.bytes);
    expect(sizeOf({ ...collection, chunks: measured.graph.chunks }).buildSeconds).toBeCloseTo(measured.graph.seconds);
    // 226 MB were measured with 20,000 chunks.
    expect(sizeOf({ ...collection, chunks: 20_000 }).diskBytes / 226e6).toBeCloseTo(1, 1);
    for (const store of ["vector", "halfvec"] as const) {
      const { tableBytes, graphBytes, graphSeconds } = measured.postgres[store];
      const size = sizeOf({ ...collection, store, chunks: measured.postgres.chunks });
      expect(size.diskBytes).toBeCloseTo(measured.postgres.chunks * (tableBytes + graphBytes));
      expect(size.buildSeconds).toBeCloseTo(graphSeconds);
    }
  });

  test("halves the memory of vectors of half the length, and costs what the tokens cost", () => {
    const at = (dimensions: number) => sizeOf({ ...collection, chunks: 1_000_000, dimensions });
    expect(at(512).memoryBytes).toBe(at(1024).memoryBytes / 2);
    expect(at(1024).cost).toBe(6);
  });

  test("asks for as many workers as the load needs, and says what the service's limit admits", () => {
    const load = { chunksPerDocument: 10, requestsPerMinute: 60, textsPerRequest: 50, latencyMs: 1000, concurrency: 2 };
    // A worker embeds 2 × 50 chunks a second; 100 documents a second are 1,000 chunks.
    expect(workersFor({ ...load, documentsPerDay: 100 * 86_400, failureShare: 0 })).toEqual({
      workers: 10,
      maxDocumentsPerDay: 5 * 86_400,
    });
    expect(workersFor({ ...load, documentsPerDay: 100 * 86_400, failureShare: 0.5 }).workers).toBe(20);
    expect(workersFor({ ...load, documentsPerDay: 1, failureShare: 0 }).workers).toBe(1);
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
