import { describe, expect, test } from "vitest";
import { measured, sizeOf, workersFor } from "../../benchmarks/planning/sizing.js";
import { simulateIngest, type SimulatedIngest } from "../../benchmarks/planning/simulate-ingest.js";

describe("the sizing model", () => {
  const collection = {
    dimensions: 1024,
    bytesPerComponent: 4,
    tokensPerChunk: 300,
    pricePerMillionTokens: 0.02,
  } as const;

  test("gives back the figures that it was made from, and one that it was not", () => {
    expect(sizeOf({ ...collection, chunks: measured.disk.chunks }).diskBytes).toBeCloseTo(measured.disk.bytes);
    expect(sizeOf({ ...collection, chunks: measured.graph.chunks }).buildSeconds).toBeCloseTo(measured.graph.seconds);
    // 226 MB were measured with 20,000 chunks.
    expect(sizeOf({ ...collection, chunks: 20_000 }).diskBytes / 226e6).toBeCloseTo(1, 1);
  });

  test("halves the memory of vectors with half the bytes, and costs what the tokens cost", () => {
    const [whole, half] = ([4, 2] as const).map((bytesPerComponent) =>
      sizeOf({ ...collection, chunks: 1_000_000, bytesPerComponent }),
    );
    expect(half!.memoryBytes).toBe(whole!.memoryBytes / 2);
    expect(whole!.cost).toBe(6);
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
      const { seconds, limitUsed } = simulateIngest({ ...ingest, workers, requestsPerMinute: 600 });
      expect(seconds).toBeGreaterThanOrEqual(199);
      expect(seconds).toBeLessThanOrEqual(202);
      expect(limitUsed).toBeGreaterThan(0.98);
    }
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
