/**
 * Builds and searches the graphs that a store may search by, over the same clustered vectors: hnswlib-node with its defaults,
 * and the graph of 8-bit numbers with one thread and with all cores. Each runs in a process of its own.
 *
 *     npm run build && npm run build:examples && node build/benchmarks/graph.js [vectors] [dimension] [one thread: yes or no]
 *
 * Printed for each: seconds to build by the clock and of CPU, with the ratio to hnswlib-node's; for 200 questions that are not
 * in the graph, the least `ef` that finds 95 % of the exact ten nearest, and the median and 99th percentile of a search with it;
 * the memory that the process holds beyond the vectors as 32-bit floats, which only the benchmark needs, and the size of the
 * saved file. The graph of 8-bit numbers fetches 42 candidates and compares them exactly, as a store does; reading them from
 * disk is left out.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type * as Hnsw from "../src/store/dense/graph/hnsw.js";
import type * as Quantized from "../src/store/dense/graph/quantized/quantized-graph.js";
import type { VectorGraph } from "../src/store/dense/graph/vector-graph.js";
import { seededRandom } from "../test/support/seeded-random.js";

const built = (file: string): Promise<unknown> =>
  import(new URL(`../../dist/store/dense/graph/${file}`, import.meta.url).href);

const contenders = ["hnswlib-node", "8-bit, one thread", "8-bit, all cores"] as const;
type Contender = (typeof contenders)[number];
const wanted = contenders.filter((contender) => contender !== "8-bit, one thread" || process.argv[4] !== "no");

interface Measured {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly recall: number;
  readonly ef: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly megabytes: number;
  readonly fileMegabytes: number;
}

const [count, dimension] = [Number(process.argv[2] ?? 20_000), Number(process.argv[3] ?? 1024)];
const questionCount = 200;
const neighbours = 10;
const candidates = 42;

/** Vectors of length 1 around centres that span 40 directions, as embeddings of texts with topics do; row after row. */
function madeVectors(vectors: number): Float32Array {
  const next = seededRandom(1);
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const directions = Array.from({ length: 40 }, () => Float32Array.from({ length: dimension }, normal));
  const centres = Array.from({ length: Math.ceil(count / 100) }, () => directions.map(normal));
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

async function graphFor(contender: Contender): Promise<VectorGraph> {
  const parameters = { m: 16, efConstruction: 200, ef: 200 };
  if (contender === "hnswlib-node") {
    const { HnswGraph, loadHnswLibrary } = (await built("hnsw.js")) as typeof Hnsw;
    return HnswGraph.create(await loadHnswLibrary(), dimension, parameters);
  }
  const { QuantizedGraph } = (await built("quantized/quantized-graph.js")) as typeof Quantized;
  return QuantizedGraph.create(dimension, parameters);
}

async function measure(contender: Contender): Promise<Measured> {
  const rows = madeVectors(count + questionCount);
  const row = (at: number) => rows.subarray(at * dimension, (at + 1) * dimension);
  const before = process.memoryUsage().rss;
  const graph = await graphFor(contender);
  const [cpuBefore, from] = [process.cpuUsage(), performance.now()];
  for (let at = 0; at < count; at++) {
    graph.add(at + 1, row(at));
    // Other threads are started between two additions; without such pauses, and settled often, there is only this one.
    if (at % 64 === 0 && contender === "8-bit, all cores") await new Promise(setImmediate);
    if (at % 500 === 0 && contender === "8-bit, one thread") await graph.settle();
  }
  await graph.settle();
  const seconds = (performance.now() - from) / 1e3;
  const { user, system } = process.cpuUsage(cpuBefore);
  const megabytes = (process.memoryUsage().rss - before) / 1e6;

  const questions = Array.from({ length: questionCount }, (_, at) => row(count + at));
  const exact = questions.map((question) => {
    const all = Float64Array.from({ length: count }, (_, at) => dot(question, row(at)));
    return all.toSorted((a, b) => b - a)[neighbours - 1]! - 1e-6;
  });
  let found: Omit<Measured, "seconds" | "cpuSeconds" | "megabytes" | "fileMegabytes"> | undefined;
  for (const ef of [10, 20, 32, 48, 64, 96, 128, 200, 300, 450, 700, 1000]) {
    const times: number[] = [];
    let shared = 0;
    for (const [at, question] of questions.entries()) {
      const start = performance.now();
      const { labels } = graph.search(question, contender === "hnswlib-node" ? neighbours : candidates, ef);
      const best = Array.from(labels, (label) => dot(question, row(label - 1))).toSorted((a, b) => b - a);
      times.push(performance.now() - start);
      shared += best.slice(0, neighbours).filter((similarity) => similarity >= exact[at]!).length;
    }
    times.sort((a, b) => a - b);
    const recall = shared / (neighbours * questionCount);
    found = { recall, ef, p50Ms: times[questionCount >> 1]!, p99Ms: times[Math.floor(0.99 * questionCount)]! };
    if (recall >= 0.95) break;
  }
  const folder = mkdtempSync(join(tmpdir(), "citewell-graph-"));
  try {
    await graph.write(join(folder, "graph.bin"));
    const fileMegabytes = statSync(join(folder, "graph.bin")).size / 1e6;
    return { seconds, cpuSeconds: (user + system) / 1e6, ...found!, megabytes, fileMegabytes };
  } finally {
    rmSync(folder, { recursive: true });
    await graph.close();
  }
}

if (process.send) {
  const [contender] = (await once(process, "message")) as [Contender];
  process.send(await measure(contender));
  process.disconnect();
} else {
  console.log(`node build/benchmarks/graph.js ${count} ${dimension}`);
  console.log(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, load as it is\n`);
  let peer: Measured | undefined;
  for (const contender of wanted) {
    const child = fork(fileURLToPath(import.meta.url), [String(count), String(dimension)]);
    child.send(contender);
    const [measured] = (await once(child, "message")) as [Measured];
    peer ??= measured;
    const { seconds, cpuSeconds, recall, ef, p50Ms, p99Ms, megabytes, fileMegabytes } = measured;
    console.log(
      `${contender.padEnd(18)} build ${seconds.toFixed(1)} s (${(seconds / peer.seconds).toFixed(2)} ×), CPU ${cpuSeconds.toFixed(1)} s ` +
        `(${(cpuSeconds / peer.cpuSeconds).toFixed(2)} ×), recall@10 ${recall.toFixed(3)} at ef ${ef}: p50 ${p50Ms.toFixed(2)} ms, ` +
        `p99 ${p99Ms.toFixed(2)} ms; ${megabytes.toFixed(0)} MB, file ${fileMegabytes.toFixed(0)} MB`,
    );
  }
}
