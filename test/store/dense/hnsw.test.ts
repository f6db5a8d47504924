import { appendFileSync, copyFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { OptionsError, StoreError } from "../../../src/core/errors.js";
import { FlatIndex } from "../../../src/store/dense/flat/flat-index.js";
import { checkGraphFile } from "../../../src/store/dense/graph/graph-file.js";
import { HnswGraph, loadHnswLibrary } from "../../../src/store/dense/graph/hnsw.js";
import { normalised } from "../../../src/store/database/vectors.js";
import { gaussian } from "../../../src/conformance/made-documents.js";
import { seededRandom } from "../../support/seeded-random.js";
import { temporaryFolder } from "../temporary-folder.js";

const library = await loadHnswLibrary();
const parameters = { m: 16, efConstruction: 200, ef: 200 };
const dimension = 16;

function vectors(count: number, length = dimension, seed = 1): Float32Array[] {
  const next = seededRandom(seed);
  return Array.from({ length: count }, () => normalised(Float32Array.from({ length }, () => gaussian(next))));
}

function graphOf(made: readonly Float32Array[]): HnswGraph {
  const graph = HnswGraph.create(library, made[0]!.length, parameters);
  for (const [at, vector] of made.entries()) graph.add(at + 1, vector);
  return graph;
}

test("recall@10 is at least 0.95 on 10,000 random vectors of 64 dimensions", async () => {
  const made = vectors(10_000, 64);
  const graph = graphOf(made);
  const flat = new FlatIndex(64);
  for (const [at, vector] of made.entries()) flat.add(at + 1, vector);
  let shared = 0;
  for (const query of vectors(100, 64, 2)) {
    const exact = new Set((await flat.search(query, 10)).labels);
    shared += graph.search(query, 10).labels.filter((label) => exact.has(label)).length;
  }
  expect(shared / 1000).toBeGreaterThanOrEqual(0.95);
});

test("arguments that the library would abort on, accept or wrap are refused, and the graph answers as before", () => {
  const made = vectors(50);
  const graph = graphOf(made);
  const before = graph.search(made[7]!, 5);
  expect(before.labels[0]).toBe(8);
  const extra = vectors(1, dimension, 3)[0]!;
  const bad: readonly (readonly [number, unknown])[] = [
    [51, extra.map((component, at) => (at === 2 ? NaN : component))],
    [51, extra.map((component, at) => (at === 0 ? Infinity : component))],
    [51, [...extra.slice(1), "1"]],
    [51, [...extra.slice(1), undefined]],
    [51, extra.slice(1)],
    [51, new Float32Array(dimension)],
    [50, extra],
    [7, extra],
    [-1, extra],
    [51.5, extra],
    [2 ** 32, extra],
    [NaN, extra],
  ];
  for (const [label, vector] of bad) expect(() => graph.add(label, vector as Float32Array)).toThrow(StoreError);
  for (const vector of [extra.slice(1), extra.map(() => NaN)])
    expect(() => graph.search(vector, 5)).toThrow(StoreError);
  for (const count of [0, -1, 1.5, NaN]) expect(() => graph.search(extra, count)).toThrow(OptionsError);
  expect(graph.count).toBe(50);
  expect(graph.search(made[7]!, 5)).toEqual(before);
});

test("a count above the number of vectors finds all of them, except removed ones", () => {
  const made = vectors(300);
  const graph = graphOf(made);
  expect(graph.search(made[0]!, 100_000).labels).toHaveLength(300);
  expect([graph.remove(5), graph.remove(5), graph.remove(999)]).toEqual([true, false, false]);
  const { labels } = graph.search(made[4]!, 100_000);
  expect([...labels].toSorted((a, b) => a - b)).toEqual(made.map((_, at) => at + 1).filter((label) => label !== 5));
});

test("a graph grows past its first capacity, also after it was read from a file", async () => {
  const made = vectors(1500);
  const path = join(temporaryFolder(), "graph.bin");
  const graph = graphOf(made);
  graph.remove(3);
  await graph.write(path);
  await checkGraphFile(path, graph.saved);
  const read = HnswGraph.read(library, path, graph.saved);
  expect(read.search(made[9]!, 20)).toEqual(graph.search(made[9]!, 20));
  expect(read.search(made[2]!, 1).labels[0]).not.toBe(3);
  for (const [at, vector] of vectors(200, dimension, 5).entries()) read.add(1501 + at, vector);
  expect(() => read.add(1600, made[0]!)).toThrow(StoreError);
  expect(read.count).toBe(1700);
});

test("a graph answers while it is written, and its file is complete", async () => {
  const made = vectors(2000, 64);
  const path = join(temporaryFolder(), "graph.bin");
  const graph = graphOf(made);
  const before = made.slice(0, 50).map((vector) => graph.search(vector, 10));
  let written = false;
  const writing = graph.write(path).then(() => (written = true));
  const meanwhile = made.slice(0, 50).map((vector) => graph.search(vector, 10));
  expect(written).toBe(false);
  await writing;
  expect(meanwhile).toEqual(before);
  await checkGraphFile(path, graph.saved);
  const read = HnswGraph.read(library, path, graph.saved);
  expect(made.slice(0, 50).map((vector) => read.search(vector, 10))).toEqual(before);
});

test("a file that is cut, lengthened, of another shape or no graph at all is refused", async () => {
  const folder = temporaryFolder();
  const whole = join(folder, "whole.bin");
  const graph = graphOf(vectors(200));
  await graph.write(whole);
  const { saved } = graph;
  await expect(checkGraphFile(whole, saved)).resolves.toBeUndefined();
  const changed = async (change: (path: string) => void, shape = saved) => {
    const path = join(folder, "changed.bin");
    copyFileSync(whole, path);
    change(path);
    await expect(checkGraphFile(path, shape)).rejects.toThrow(path);
  };
  const { length } = readFileSync(whole);
  for (const size of [0, 50, 96, length - 1, Math.floor(length / 2)]) await changed((path) => truncateSync(path, size));
  await changed((path) => appendFileSync(path, "x"));
  await changed((path) => writeFileSync(path, Buffer.alloc(length, 0xff)));
  await changed(() => {}, { ...saved, dimension: dimension * 2 });
  await changed(() => {}, { ...saved, m: 8 });
  await changed(() => {}, { ...saved, count: 199 });
});

test("writing into a missing folder reports success, and the check finds no file", async () => {
  const path = join(temporaryFolder(), "not", "there.bin");
  const graph = graphOf(vectors(10));
  await graph.write(path);
  expect(existsSync(path)).toBe(false);
  await expect(checkGraphFile(path, graph.saved)).rejects.toThrow(path);
});
