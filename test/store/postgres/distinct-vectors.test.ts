import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { distinctVectors, maxSampledKeys } from "../../../src/store/postgres/distinct-vectors.js";

const keyOf = (index: number) => createHash("sha256").update(String(index)).digest("hex");
const keys = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => keyOf(from + at)).toSorted();
const sample = (all: readonly string[]) => ({ count: all.length, keys: all.slice(0, maxSampledKeys) });

test("vectors of several servers are counted exactly while a sample of each holds all its keys", () => {
  const servers = [keys(0, 900), keys(700, 1500), keys(1400, 1600), []];
  expect(distinctVectors(servers.map(sample))).toBe(1600);
  expect(distinctVectors([])).toBe(0);
});

test("vectors of several large servers are counted to one per cent from 10,000 keys of each", () => {
  const servers = [keys(0, 60_000), keys(50_000, 70_000), keys(69_000, 69_500)];
  const exact = new Set(servers.flat()).size;
  expect(distinctVectors(servers.map(sample)) / exact).toBeGreaterThan(0.99);
  expect(distinctVectors(servers.map(sample)) / exact).toBeLessThan(1.01);
});
