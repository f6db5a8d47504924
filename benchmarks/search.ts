// How fast the embedded store builds, opens and searches, and what it costs in memory and on disk.
// Run: npm run build && npm run build:examples && node build/benchmarks/search.js [chunks] [dimension] [flat|hnsw|both]
import { seededRandom } from "../test/support/seeded-random.js";
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { cpus, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Filter } from "../src/filter.js";
import type { DocumentWrite } from "../src/ports.js";
import type { openStore as OpenStore } from "../src/store/open-store.js";
import type { vectorKey as VectorKey } from "../src/text/chunk-identity.js";
import type { Chunk, Document } from "../src/types.js";
import { peerIndexes } from "./search-peers.js";
import { EventLoopDelay } from "./event-loop-delay.js";

// What is measured is the build, as it is shipped.
const built = new URL("../../dist/", import.meta.url);
const { openStore } = (await import(new URL("store/open-store.js", built).href)) as { openStore: typeof OpenStore };
const { vectorKey } = (await import(new URL("text/chunk-identity.js", built).href)) as { vectorKey: typeof VectorKey };

type Index = "flat" | "hnsw";
const [chunkCount, dimension] = [Number(process.argv[2] ?? 10_000), Number(process.argv[3] ?? 1024)];
const wanted = process.argv[4] ?? "both";
const kinds: readonly Index[] = wanted === "both" ? ["flat", "hnsw"] : [wanted as Index];
/** Set in the process that opens and searches: the folder of the store that another process made. */
const measuredFolder = process.argv[5];
const chunksPerDocument = 50;
const queryCount = 200;
const k = 10;

// Vectors lie around centres that span 40 directions, as embeddings of texts with topics do: evenly spread vectors of
// 1,024 dimensions are all about equally far from each other, and no index can rank them.
let next = seededRandom(1);
const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
const latent = 40;
const directions = Array.from({ length: latent }, () => Float32Array.from({ length: dimension }, normal));
const centres = Array.from({ length: Math.ceil(chunkCount / 100) }, () => Array.from({ length: latent }, normal));
function vector(): Float32Array {
  const centre = centres[Math.floor(next() * centres.length)]!;
  const made = new Float32Array(dimension);
  for (let direction = 0; direction < latent; direction++) {
    const weight = centre[direction]! + 0.6 * normal();
    const along = directions[direction]!;
    for (let at = 0; at < dimension; at++) made[at]! += weight * along[at]!;
  }
  for (let at = 0; at < dimension; at++) made[at]! += 0.3 * normal();
  return made;
}

// Words by Zipf's law, 150 a chunk, as in real text.
const vocabulary = Array.from({ length: 50_000 }, (_, index) => `w${index.toString(36)}x`);
const word = () => vocabulary[Math.floor(vocabulary.length ** next()) - 1]!;
const words = (count: number) => Array.from({ length: count }, word).join(" ");

function documentOf(number: number, count: number): DocumentWrite {
  const texts = Array.from({ length: count }, () => `${words(150)}\n\n`);
  const uri = `file:///made/${number}.md`;
  // One document each for the rarer ones: a filter lets through whole documents of 50 chunks.
  const metadata = { half: number % 2, hundredth: number % 100, number };
  const document: Document = { uri, text: texts.join(""), metadata };
  let start = 0;
  const chunks = texts.map((text, index): Chunk => {
    const chunk = {
      id: `${number}-${index}`,
      documentId: uri,
      start,
      end: start + text.length,
      text,
      context: "",
      tokens: 200,
    };
    start = chunk.end;
    return chunk;
  });
  return { document, chunks };
}

function percentile(values: readonly number[], share: number): string {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!.toFixed(2);
}

async function time(runs: number, run: (index: number) => Promise<unknown>): Promise<string> {
  const times: number[] = [];
  for (let index = 0; index < runs; index++) {
    const began = performance.now();
    await run(index);
    times.push(performance.now() - began);
  }
  return `p50 ${percentile(times, 0.5)} ms, p95 ${percentile(times, 0.95)} ms`;
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
const seconds = (since: number) => ((performance.now() - since) / 1000).toFixed(2);
const raw = chunkCount * dimension * 4;
const embedder = { space: "benchmark", dimension };
const say = (line: string) => console.log(`  ${line}`);

async function build(index: Index, path: string): Promise<void> {
  const delay = new EventLoopDelay();
  const store = await openStore(path, embedder, { index, onWarning: say });
  let writingMs = 0;
  const began = performance.now();
  for (let done = 0, number = 0; done < chunkCount; number++) {
    const write = documentOf(number, Math.min(chunksPerDocument, chunkCount - done));
    const vectors = new Map(write.chunks.map((chunk) => [vectorKey(chunk), vector()]));
    done += write.chunks.length;
    const start = performance.now();
    await delay.during(() => store.write({ vectors, documents: [write] }));
    writingMs += performance.now() - start;
  }
  const closing = performance.now();
  await delay.during(() => store.close());
  say(`written in ${(writingMs / 1000).toFixed(2)} s, closed ${seconds(closing)} s later`);
  const rate = chunkCount / ((performance.now() - began) / 1000);
  say(`built at ${rate.toFixed(0)} chunks a second, the making of texts and vectors included`);
  say(String(delay));
  for (const file of readdirSync(path)) say(`${file}: ${megabytes(statSync(join(path, file)).size)}`);
}

/** Ids found for each query. */
async function measure(index: Index, path: string, queries: readonly Query[]): Promise<string[][]> {
  const opening = performance.now();
  const store = await openStore(path, embedder, { index, create: false, onWarning: say });
  const first = queries[0]!;
  await Promise.all([store.dense.retrieve(first, { count: k }), store.lexical.retrieve(first, { count: k })]);
  say(`opened and first question answered in ${seconds(opening)} s`);
  const found: string[][] = [];
  const dense = await time(queryCount, async (at) => {
    found.push((await store.dense.retrieve(queries[at]!, { count: k })).map(({ chunkId }) => chunkId));
  });
  say(`dense ${dense}`);
  say(`lexical ${await time(queryCount, (at) => store.lexical.retrieve(queries[at]!, { count: k }))}`);
  const both = await time(queryCount, async (at) => {
    const call = { count: 40 };
    const [left, right] = await Promise.all([
      store.dense.retrieve(queries[at]!, call),
      store.lexical.retrieve(queries[at]!, call),
    ]);
    await store.hits([...left, ...right]);
  });
  say(`both, 40 each, with hits read ${both}`);
  const documentCount = Math.ceil(chunkCount / chunksPerDocument);
  const filters: readonly (readonly [string, Filter])[] = [
    ["50 %", { metadata: { half: 1 } }],
    ["1 %", { metadata: { hundredth: 1 } }],
    [`one document, ${(100 / documentCount).toFixed(2)} %`, { metadata: { number: Math.min(7, documentCount - 1) } }],
  ];
  for (const [share, filter] of filters) {
    const call = { count: k, filter };
    // The first search with a filter looks up what it lets through; it is kept until something is written.
    const looked = await time(1, () => store.dense.retrieve(queries[0]!, call));
    say(`filtered at ${share}: first ${looked}`);
    say(`  dense ${await time(queryCount, (at) => store.dense.retrieve(queries[at]!, call))}`);
    say(`  lexical ${await time(queryCount, (at) => store.lexical.retrieve(queries[at]!, call))}`);
  }
  const { rss, heapTotal, arrayBuffers } = process.memoryUsage();
  const ratio = (rss / raw).toFixed(2);
  say(
    `memory of the process ${megabytes(rss)}, ${ratio} of the raw vectors; main thread's heap ${megabytes(heapTotal)}, buffers ${megabytes(arrayBuffers)}`,
  );
  await store.close();
  return found;
}

/** The same texts and vectors in each peer, and the same questions. */
async function measurePeers(exact: readonly string[][] | undefined): Promise<void> {
  for (const { name, kind, add, find } of await peerIndexes(dimension)) {
    console.log(`\n${name}`);
    next = seededRandom(2);
    let addingMs = 0;
    const delay = new EventLoopDelay();
    for (let done = 0, number = 0; done < chunkCount; number++) {
      const { chunks } = documentOf(number, Math.min(chunksPerDocument, chunkCount - done));
      const passages = chunks.map(({ id, text }) => ({ id, text, vector: vector() }));
      done += chunks.length;
      const start = performance.now();
      await delay.during(() => add(passages));
      addingMs += performance.now() - start;
    }
    say(`built at ${(chunkCount / (addingMs / 1000)).toFixed(0)} chunks a second`);
    say(String(delay));
    const found: (readonly string[])[] = [];
    const times = await time(queryCount, async (at) => void found.push(await find(queries[at]!, k)));
    say(`${kind} ${times}`);
    if (kind === "dense" && exact) say(`recall@${k} against flat ${recallOf(found, exact)}`);
    say(`memory of the process ${megabytes(process.memoryUsage().rss)}`);
  }
}

function recallOf(found: readonly (readonly string[])[], exact: readonly (readonly string[])[]): string {
  const shared = found.map((ids, at) => ids.filter((id) => exact[at]!.includes(id)).length);
  return (shared.reduce((sum, count) => sum + count, 0) / (k * queryCount)).toFixed(4);
}

interface Query {
  readonly text: string;
  readonly vector: Float32Array;
}
const queries: readonly Query[] = Array.from({ length: queryCount }, () => ({ text: words(5), vector: vector() }));

if (measuredFolder !== undefined) {
  process.send!(await measure(kinds[0]!, measuredFolder, queries));
  process.disconnect();
} else {
  console.log(`node build/benchmarks/search.js ${process.argv.slice(2).join(" ")}`);
  const machine = `${cpus().length} x ${cpus()[0]?.model}, ${megabytes(totalmem())}, ${process.platform} ${process.arch}`;
  console.log(`Node ${process.version}, ${machine}`);
  console.log(
    `${chunkCount} chunks of ${dimension} dimensions, raw vectors ${megabytes(raw)}, ${queryCount} queries, k ${k}`,
  );
  const folder = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
  try {
    let exact: readonly string[][] | undefined;
    for (const index of kinds) {
      console.log(`\n${index}`);
      next = seededRandom(2);
      const path = join(folder, index);
      await build(index, path);
      // In a process of its own: what is measured is opening and searching, not what building left behind.
      const child = fork(fileURLToPath(import.meta.url), [String(chunkCount), String(dimension), index, path]);
      const [found] = (await once(child, "message")) as [string[][]];
      await once(child, "exit");
      if (index === "flat") exact = found;
      else if (exact) say(`recall@${k} against flat ${recallOf(found, exact)}`);
    }
    await measurePeers(exact);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
