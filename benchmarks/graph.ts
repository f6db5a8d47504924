import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type * as Hnsw from "../src/store/dense/graph/hnsw.js";
import type * as Quantized from "../src/store/dense/graph/quantized/quantized-graph.js";
import type { VectorGraph } from "../src/store/dense/graph/vector-graph.js";
import { seededRandom } from "../test/support/seeded-random.js";
import { aimsOf } from "./aims.js";
import type { Benchmark, RunContext } from "./runner/benchmark.js";
import { shipped } from "./runner/project.js";
import { percentile } from "./shared/percentile.js";

const questionCount = 200;
const neighbours = 10;
const parameters = { m: 16, ef: 200 };

export interface GraphSubject {
  readonly make: (dimension: number) => Promise<VectorGraph>;
  /** Candidates that are compared exactly, as a store does with a graph of rounded numbers. */
  readonly candidates: number;
  /** Yields after this many additions, so that the graph can start its threads. */
  readonly pause: (graph: VectorGraph, added: number) => Promise<unknown> | undefined;
}

export const benchmark: Benchmark<GraphSubject> = {
  name: "graph",
  question: "How fast are the graphs built and searched that a store may have?",
  method:
    "The same clustered vectors, each graph in its own process, without texts and without a disk: what a store adds is in " +
    "`search`. Recall is of 200 questions that are not in the graph, at the least number of candidates (ef) that finds 95 % " +
    "of the exact ten nearest. The graphs of 4-bit and 8-bit numbers fetch 42 candidates and compare them exactly; reading them from " +
    "disk is left out. Each is built with its defaults: vectors are linked among 200 candidates by hnswlib-node, and among 64 by citewell; hnswlib-node stands there with 64, too. " +
    "hnswlib-node builds with one thread, and its CPU stands beside its time. Memory is what building added to the process beside the vectors themselves, which only the benchmark needs.",
  contenders: [
    { name: "hnswlib-node", kind: "limit", packages: ["hnswlib-node"], load: async () => hnswlib(200) },
    { name: "hnswlib-node, 64 candidates", kind: "limit", packages: ["hnswlib-node"], load: async () => hnswlib(64) },
    { name: "citewell, 8-bit, all cores", kind: "citewell", load: async () => quantized(8) },
    { name: "citewell, 4-bit, all cores", kind: "citewell", load: async () => quantized(4) },
  ],
  beside: "hnswlib-node",
  measures: {
    built: { unit: "s", better: "lower" },
    "built, CPU": { unit: "s", better: "lower" },
    "recall@10": { unit: "share", better: "higher" },
    ef: { unit: "candidates", better: "lower" },
    p50: { unit: "ms", better: "lower" },
    p99: { unit: "ms", better: "lower" },
    memory: { unit: "MB", better: "lower" },
    file: { unit: "MB", better: "lower" },
  },
  sizes: { smoke: { vectors: 500, dimension: 32 }, usual: { vectors: 100_000, dimension: 1024 } },
  rounds: 1,
  aims: aimsOf("graph"),
  measure: measureGraph,
};

function hnswlib(efConstruction: number): GraphSubject {
  const make = async (dimension: number) => {
    const { HnswGraph, loadHnswLibrary } = await shipped<typeof Hnsw>("store/dense/graph/hnsw.js");
    return HnswGraph.create(await loadHnswLibrary(), dimension, { ...parameters, efConstruction });
  };
  return { make, candidates: neighbours, pause: () => undefined };
}

function quantized(bits: 4 | 8): GraphSubject {
  const make = async (dimension: number) => {
    const { QuantizedGraph } = await shipped<typeof Quantized>("store/dense/graph/quantized/quantized-graph.js");
    return QuantizedGraph.create(bits, dimension, { ...parameters, efConstruction: 64 });
  };
  return { make, candidates: 42, pause: (_, added) => (added % 64 === 0 ? new Promise(setImmediate) : undefined) };
}

async function measureGraph({ make, candidates, pause }: GraphSubject, { size, timed }: RunContext<undefined>) {
  const { vectors: count = 0, dimension = 0 } = size;
  const rows = madeVectors(count + questionCount, dimension);
  const row = (at: number) => rows.subarray(at * dimension, (at + 1) * dimension);
  const before = process.memoryUsage().rss;
  const graph = await make(dimension);
  const { wallSeconds, cpuSeconds } = await timed(async () => {
    for (let at = 0; at < count; at++) {
      graph.add(at + 1, row(at));
      await pause(graph, at);
    }
    await graph.settle();
  });
  const memory = (process.memoryUsage().rss - before) / 1e6;
  const questions = Array.from({ length: questionCount }, (_, at) => row(count + at));
  const found = { "recall@10": 0, ef: 0, p50: 0, p99: 0 };
  const least = questions.map((question) => {
    const all = Float64Array.from({ length: count }, (_, at) => dot(question, row(at)));
    return all.toSorted().at(-neighbours)! - 1e-6;
  });
  for (const ef of [10, 20, 32, 48, 64, 96, 128, 200, 300, 450, 700, 1000]) {
    const times: number[] = [];
    let shared = 0;
    for (const [at, question] of questions.entries()) {
      const startedAt = performance.now();
      const { labels } = graph.search(question, candidates, ef);
      const best = Array.from(labels, (label) => dot(question, row(label - 1))).toSorted((a, b) => b - a);
      times.push(performance.now() - startedAt);
      shared += best.slice(0, neighbours).filter((similarity) => similarity >= least[at]!).length;
    }
    const recall = shared / (neighbours * questionCount);
    Object.assign(found, { "recall@10": recall, ef, p50: percentile(times, 0.5), p99: percentile(times, 0.99) });
    if (recall >= 0.95) break;
  }
  if (found["recall@10"] < 0.5) throw new Error(`it finds ${found["recall@10"]} of the nearest`);
  const folder = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
  try {
    await graph.write(join(folder, "graph.bin"));
    const file = statSync(join(folder, "graph.bin")).size / 1e6;
    return { built: wallSeconds, "built, CPU": cpuSeconds, ...found, memory, file };
  } finally {
    rmSync(folder, { recursive: true });
    await graph.close();
  }
}

/** Vectors of length 1 around centres that span 40 directions, as embeddings of texts with topics do; row after row. */
function madeVectors(vectors: number, dimension: number): Float32Array {
  const next = seededRandom(1);
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const directions = Array.from({ length: 40 }, () => Float32Array.from({ length: dimension }, normal));
  const centres = Array.from({ length: Math.ceil(vectors / 100) }, () => directions.map(normal));
  const rows = new Float32Array(vectors * dimension);
  for (let at = 0; at < vectors; at++) {
    const row = rows.subarray(at * dimension, (at + 1) * dimension);
    const centre = centres[Math.floor(next() * centres.length)]!;
    for (const [place, direction] of directions.entries()) {
      const weight = centre[place]! + 0.6 * normal();
      for (let component = 0; component < dimension; component++) row[component]! += weight * direction[component]!;
    }
    for (let component = 0; component < dimension; component++) row[component]! += 0.3 * (next() - 0.5);
    const scale = 1 / Math.sqrt(dot(row, row));
    for (let component = 0; component < dimension; component++) row[component]! *= scale;
  }
  return rows;
}

function dot(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < left.length; at++) sum += left[at]! * right[at]!;
  return sum;
}
