import { createHash } from "node:crypto";
import { readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { StoreError } from "../../../../src/core/errors.js";
import { gaussian } from "../../../../src/conformance/made-documents.js";
import { normalised } from "../../../../src/store/database/vectors.js";
import { FlatIndex } from "../../../../src/store/dense/flat/flat-index.js";
import { QuantizedGraph } from "../../../../src/store/dense/graph/quantized/quantized-graph.js";
import { AllowedLabels, labelBits } from "../../../../src/store/derived/allowed-labels.js";
import { seededRandom } from "../../../support/seeded-random.js";
import { temporaryFolder } from "../../temporary-folder.js";

/** The defaults with which a store builds a graph. */
const parameters = { m: 16, efConstruction: 64, ef: 100 };

/** Evenly distributed vectors, which are the hardest to find by a graph. */
function vectors(count: number, dimension: number, seed = 1): Float32Array[] {
  const next = seededRandom(seed);
  return Array.from({ length: count }, () =>
    normalised(Float32Array.from({ length: dimension }, () => gaussian(next))),
  );
}

const sha256 = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

function exactOf(made: readonly Float32Array[]): FlatIndex {
  const flat = new FlatIndex(made[0]!.length);
  for (const [at, vector] of made.entries()) flat.add(at + 1, vector);
  return flat;
}

/** The share of the exact ten nearest that are among the 40 best of the graph. */
function recall(graph: QuantizedGraph, made: readonly Float32Array[], questions: readonly Float32Array[]): number {
  const flat = exactOf(made);
  let shared = 0;
  for (const question of questions) {
    const found = new Set(graph.search(question, 40).labels);
    shared += flat.searchAtOnce(question, 10).labels.filter((label) => found.has(label)).length;
  }
  return shared / (10 * questions.length);
}

describe.each([4, 8] as const)("%d bits", (bits) => {
  const format = bits === 8 ? 3 : 4;

  function graphFor(dimension: number): QuantizedGraph {
    const graph = QuantizedGraph.create(bits, dimension, parameters);
    onTestFinished(() => graph.close());
    return graph;
  }

  /** A graph whose labels are the places of the vectors, from 1. */
  async function graphOf(made: readonly Float32Array[]): Promise<QuantizedGraph> {
    const graph = graphFor(made[0]!.length);
    for (const [at, vector] of made.entries()) graph.add(at + 1, vector);
    await graph.settle();
    return graph;
  }

  test("the exact ten nearest are among the forty best, in a graph that one thread built", async () => {
    const made = vectors(900, 48);
    expect(recall(await graphOf(made), made, vectors(50, 48, 2))).toBeGreaterThanOrEqual(0.97);
  });

  test("the exact ten nearest are among the forty best, in a graph that several threads built", async () => {
    const made = vectors(6000, 48);
    expect(recall(await graphOf(made), made, vectors(50, 48, 2))).toBeGreaterThanOrEqual(0.95);
  });

  test("the exact ten nearest are found where vectors come topic by topic, and where more topics come later", async () => {
    const noise = vectors(3000, 48);
    const centres = vectors(60, 48, 3);
    const made = noise.map((one, at) => {
      const centre = centres[Math.floor(at / 50)]!;
      return normalised(one.map((number, component) => centre[component]! + 0.5 * number));
    });
    const graph = await graphOf(made.slice(0, 2500));
    for (const [at, vector] of made.entries()) if (at >= 2500) graph.add(at + 1, vector);
    await graph.settle();
    const questions = vectors(50, 48, 2).map((one, at) =>
      normalised(one.map((number, component) => centres[at + 10]![component]! + 0.5 * number)),
    );
    expect(recall(graph, made, questions)).toBeGreaterThanOrEqual(0.97);
  });

  test("a vector is found as soon as it is added, whether a thread has linked it or not", async () => {
    const made = vectors(4000, 24);
    const graph = graphFor(24);
    for (const [at, vector] of made.entries()) {
      graph.add(at + 1, vector);
      if (at % 50 === 0) expect(graph.search(vector, 1).labels).toEqual(Float64Array.of(at + 1));
      if (at % 500 === 0) await new Promise(setImmediate); // the other threads are started here
    }
    await graph.settle();
    for (const [at, vector] of made.entries()) expect(graph.search(vector, 1).labels[0]).toBe(at + 1);
  });

  test.each([1, 2, 31, 32, 33, 384])("scores are near to the cosine in %d dimensions", async (dimension) => {
    const made = vectors(200, dimension);
    const graph = await graphOf(made);
    const flat = exactOf(made);
    for (const question of vectors(20, dimension, 2)) {
      const exact = flat.searchAtOnce(question, 200);
      const { labels, scores } = graph.search(question, 200);
      for (const [at, label] of labels.entries()) {
        expect(Math.abs(scores[at]! - exact.scores[exact.labels.indexOf(label)]!)).toBeLessThan(
          bits === 8 ? 0.02 : 0.75 / Math.sqrt(dimension),
        );
      }
    }
  });

  test("a scan compares all that are allowed, also those that no link leads to", async () => {
    const made = vectors(3000, 32);
    const graph = await graphOf(made);
    const allowed = new AllowedLabels(labelBits(3500, (label) => label % 7 === 0 && label !== 14));
    graph.remove(21);
    const [question] = vectors(1, 32, 2);
    const { labels, scores } = graph.scan(question!, 5000, allowed);
    const expected = Array.from({ length: 3000 }, (_, at) => at + 1).filter(
      (label) => label % 7 === 0 && label !== 14 && label !== 21,
    );
    expect(Array.from(labels).toSorted((a, b) => a - b)).toEqual(expected);
    expect(Array.from(scores)).toEqual(Array.from(scores).toSorted((a, b) => b - a));
  });

  test.each([1, 2, 3, 7])(
    "a scan finds the vectors of labels that are %d apart, and none of labels between them",
    async (step) => {
      const made = vectors(200, 16);
      const graph = graphFor(16);
      for (const [at, vector] of made.entries()) graph.add(10 + step * at, vector);
      await graph.settle();
      for (const kept of [1, 5, 40]) {
        const allowed = new AllowedLabels(labelBits(1500, (label) => label % kept === 0));
        const expected = made.flatMap((_, at) => ((10 + step * at) % kept === 0 ? [10 + step * at] : []));
        const { labels } = graph.scan(made[0]!, 1500, allowed);
        expect(Array.from(labels).toSorted((a, b) => a - b)).toEqual(expected);
      }
    },
  );

  test("removed vectors are not found, and those behind them still are", async () => {
    const made = vectors(600, 16);
    const graph = await graphOf(made);
    for (let label = 1; label <= 400; label++) expect(graph.remove(label)).toBe(true);
    expect(graph.remove(5)).toBe(false);
    expect(graph.remove(601)).toBe(false);
    expect([graph.count, graph.deleted]).toEqual([600, 400]);
    for (let label = 401; label <= 600; label++) expect(graph.search(made[label - 1]!, 1).labels[0]).toBe(label);
    expect(graph.search(made[0]!, 1000).labels.every((label) => label > 400)).toBe(true);
  });

  test("what was written is read with the same results, and more can be added", async () => {
    const made = vectors(1500, 40);
    const graph = await graphOf(made.slice(0, 1400));
    graph.remove(3);
    const path = join(temporaryFolder(), "graph.bin");
    await graph.write(path);
    const facts = { ...graph.saved, format, store: "s", tunedAt: 0, position: { label: 0, removal: 0 } } as const;
    const read = await QuantizedGraph.read(bits, path, facts, sha256(path));
    onTestFinished(() => read.close());
    expect(read.saved).toEqual(graph.saved);
    for (const question of vectors(20, 40, 2)) expect(read.search(question, 30)).toEqual(graph.search(question, 30));
    for (let at = 1400; at < 1500; at++) read.add(at + 1, made[at]!);
    await read.settle();
    for (let at = 1400; at < 1500; at++) expect(read.search(made[at]!, 1).labels[0]).toBe(at + 1);
    // A vector of 40 dimensions takes 64 bytes of a record of 320, or 32 of one of 240; the upper layers take little more.
    expect(statSync(path).size).toBeLessThan(1400 * (bits === 8 ? 340 : 260));
  });

  test.each([64, 1000, 4096])(
    "a file is the same in pieces of %d bytes as whole, and one that ends within a piece is refused",
    async (size) => {
      const graph = await graphOf(vectors(300, 16));
      const folder = temporaryFolder();
      const [whole, pieces] = [join(folder, "whole.bin"), join(folder, "pieces.bin")];
      await graph.write(whole);
      await graph.write(pieces, size);
      expect(readFileSync(pieces).equals(readFileSync(whole))).toBe(true);
      const facts = { ...graph.saved, format, store: "s", tunedAt: 0, position: { label: 0, removal: 0 } } as const;
      const read = await QuantizedGraph.read(bits, pieces, facts, sha256(pieces), size);
      onTestFinished(() => read.close());
      for (const question of vectors(20, 16, 2)) expect(read.search(question, 30)).toEqual(graph.search(question, 30));
      truncateSync(pieces, Math.floor(statSync(pieces).size / 2));
      await expect(QuantizedGraph.read(bits, pieces, facts, sha256(pieces), size)).rejects.toThrow("ends at byte");
    },
  );

  test("a vector that finds no room is refused, and the graph is searched and saved without it", async () => {
    const made = vectors(600, 16);
    const graph = QuantizedGraph.create(bits, 16, parameters, 200_000);
    onTestFinished(() => graph.close());
    expect(() => {
      for (const [at, vector] of made.entries()) graph.add(at + 1, vector);
    }).toThrow(/holds \d+ of 16 dimensions, and is full: .*several stores/);
    const added = graph.count;
    expect(added).toBeGreaterThan(100);
    await graph.settle();
    for (let at = 0; at < added; at++) expect(graph.search(made[at]!, 1).labels[0]).toBe(at + 1);
    const path = join(temporaryFolder(), "graph.bin");
    await graph.write(path);
    expect(graph.saved).toMatchObject({ count: added, lastLabel: added });
  });

  test("a file that is too short, of another number of vectors, or has a changed byte anywhere, is refused", async () => {
    const graph = await graphOf(vectors(300, 16));
    const path = join(temporaryFolder(), "graph.bin");
    await graph.write(path);
    const facts = { ...graph.saved, format, store: "s", tunedAt: 0, position: { label: 0, removal: 0 } } as const;
    await expect(QuantizedGraph.read(bits, path, { ...facts, count: 299 }, sha256(path))).rejects.toThrow(
      "300 vectors",
    );
    const [bytes, expected] = [readFileSync(path), sha256(path)];
    // The number of upper links, a vector, and the last link.
    for (const at of [16, 5000, bytes.length - 1]) {
      writeFileSync(
        path,
        bytes.map((byte, place) => (place === at ? byte ^ 1 : byte)),
      );
      await expect(QuantizedGraph.read(bits, path, facts, expected)).rejects.toThrow(/ends at byte|was changed/);
    }
    writeFileSync(path, bytes.subarray(0, -1));
    await expect(QuantizedGraph.read(bits, path, facts, expected)).rejects.toThrow("ends at byte");
  });

  test("vectors and labels that cannot be right are refused, and the graph answers as before", async () => {
    const made = vectors(50, 16);
    const graph = await graphOf(made);
    const before = graph.search(made[7]!, 5);
    const [extra] = vectors(1, 16, 3);
    const bad: readonly (readonly [number, Float32Array])[] = [
      [51, extra!.map((component, at) => (at === 2 ? NaN : component))],
      [51, new Float32Array(16)],
      [51, extra!.subarray(1)],
      [50, extra!],
    ];
    for (const [label, vector] of bad) expect(() => graph.add(label, vector)).toThrow(StoreError);
    expect(() => graph.search(new Float32Array(15).fill(1), 5)).toThrow(StoreError);
    expect(graph.search(made[7]!, 5)).toEqual(before);
    expect(graph.count).toBe(50);
  });

  test("an empty graph, and one of which all was removed, find nothing", async () => {
    const [vector] = vectors(1, 16);
    const graph = graphFor(16);
    expect(graph.search(vector!, 3).labels).toHaveLength(0);
    graph.add(1, vector!);
    graph.remove(1);
    expect(graph.search(vector!, 3).labels).toHaveLength(0);
    graph.add(2, vector!);
    expect(graph.search(vector!, 3).labels).toEqual(Float64Array.of(2));
  });
});

test.each([64, 1000, 1 << 20])(
  "a saved graph of 8 bits is read as one of 4 bits with the same links, in pieces of %d bytes",
  async (size) => {
    const made = vectors(1500, 40);
    const graph = QuantizedGraph.create(8, 40, parameters);
    onTestFinished(() => graph.close());
    for (const [at, vector] of made.slice(0, 1400).entries()) graph.add(at + 1, vector);
    graph.remove(3);
    const folder = temporaryFolder();
    const [of8, of4] = [join(folder, "8.bin"), join(folder, "4.bin")];
    await graph.write(of8);
    const facts = { ...graph.saved, format: 3, store: "s", tunedAt: 0, position: { label: 0, removal: 0 } } as const;
    const read = await QuantizedGraph.read(4, of8, facts, sha256(of8), size);
    onTestFinished(() => read.close());
    expect(read.saved).toEqual(graph.saved);
    await read.write(of4);
    // Records of 64 + 204 bytes and padding, and of 32 + 204; behind the vector and its scale they are alike.
    const [before, after] = [readFileSync(of8), readFileSync(of4)];
    for (let slot = 0; slot < 1400; slot++) {
      const [old, converted] = [64 + 320 * slot + 64 + 4, 64 + 240 * slot + 32 + 4];
      expect(after.subarray(converted, converted + 200).equals(before.subarray(old, old + 200))).toBe(true);
    }
    expect(after.subarray(64 + 240 * 1400).equals(before.subarray(64 + 320 * 1400))).toBe(true);
    for (let at = 1400; at < 1500; at++) read.add(at + 1, made[at]!);
    await read.settle();
    expect(read.search(made[2]!, 1).labels[0]).not.toBe(3);
    read.remove(3);
    expect(recall(read, made, vectors(50, 40, 2))).toBeGreaterThanOrEqual(0.97);
    await expect(QuantizedGraph.read(4, of8, { ...facts, count: 1399 }, sha256(of8))).rejects.toThrow("1400 vectors");
    await expect(QuantizedGraph.read(4, of8, facts, sha256(of4))).rejects.toThrow("was changed");
    await expect(QuantizedGraph.read(4, of4, facts, sha256(of4))).rejects.toThrow("ends at byte");
  },
);
