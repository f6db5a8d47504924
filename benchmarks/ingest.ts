/**
 * Compares ingest end to end, through the public stages, with the slowest of its unavoidable parts: waiting for the upstream
 * at full concurrency, one pass of the tokenizer over the texts, or inserting the vectors into an HNSW graph. Then the
 * installed peers split, embed and insert the same texts with the same chunk size, batch size and concurrency. The upstream
 * is a child process that answers after a fixed time.
 *
 *     npm run build && npm run build:examples && node build/benchmarks/ingest.js [folder] [latency in ms] [dimension]
 */
import {
  chunk,
  createTransport,
  type Document,
  embedChunks,
  embedder,
  openStore,
  Pipeline,
  skipKnown,
  type Store,
  store,
} from "citewell";
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type * as Hnsw from "../src/store/dense/graph/hnsw.js";
import type * as Tokens from "../src/text/tokens/tokens.js";
import { startFixedLatencyUpstream } from "./shared/fixed-latency-upstream.js";
import { type PeerRun, peers } from "./ingest-peers.js";
import { batchTexts, concurrency, markdownIn, maxTokens, overlapTokens } from "./ingest-setting.js";

const program = fileURLToPath(import.meta.url);
const [mode = "../shared/data/docs-corpus", latency = "100", length = "1024"] = process.argv.slice(2);
const [latencyMs, dimension] = [Number(latency), Number(length)];

if (mode === "tokenize") process.send!(await tokenizerPass(markdownIn(latency)));
else await measure(mode);

function unitVector(): Float32Array<ArrayBuffer> {
  const vector = Float32Array.from({ length: dimension }, () => Math.random() - 0.5);
  const scale = 1 / Math.hypot(...vector);
  return vector.map((component) => component * scale);
}

async function measure(folder: string): Promise<void> {
  const documents = markdownIn(folder);
  console.log(`node build/benchmarks/ingest.js ${process.argv.slice(2).join(" ")}`);
  console.log(`${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}`);
  console.log(
    `${documents.length} documents, ${latencyMs} ms a request, ${concurrency} at once, ${dimension} dimensions`,
  );

  console.log(`before anything else, with turns of 8 ms of work: ${await machineDelay()}`);

  const upstream = await startFixedLatencyUpstream(latencyMs, dimension);
  const { baseUrl } = upstream;
  const folderOfStores = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
  try {
    // In a separate process, because the token counter caches words, and ingest has to start with an empty cache.
    const [tokenizerSeconds] = (await once(fork(program, ["tokenize", folder]), "message")) as [number];
    let insertionSeconds: number | undefined;
    let hnswSeconds = 0;
    for (const [index, asking] of [
      ["flat", false],
      ["hnsw", false],
      ["hnsw", true],
    ] as const) {
      console.log(`\n${index}${asking ? ", a question every 100 ms" : ""}`);
      const path = join(folderOfStores, `${index}-${asking}`);
      const { seconds, chunks } = await ingest({ baseUrl, path, index, asking, documents });
      const { requests } = await upstream.counts();
      if (index === "hnsw" && !asking) hnswSeconds = seconds;
      insertionSeconds ??= await hnswInsertion(chunks);
      const parts: readonly (readonly [string, number])[] = [
        [`upstream, ${requests} requests`, (requests * latencyMs) / 1000 / concurrency],
        ["one tokenizer pass", tokenizerSeconds],
        ...(index === "hnsw" ? [["HNSW insertion alone", insertionSeconds] as const] : []),
      ];
      for (const [name, taken] of parts) say(`${name}: ${taken.toFixed(2)} s`);
      const slowest = Math.max(...parts.map(([, taken]) => taken));
      say(`${chunks} chunks in ${seconds.toFixed(2)} s, ${(seconds / slowest).toFixed(2)} of the slowest`);
    }
    for (const name of Object.keys(peers)) {
      console.log(`\n${name}`);
      const peer = fork(fileURLToPath(new URL("ingest-peers.js", import.meta.url)), [name, folder, baseUrl]);
      const [run] = (await once(peer, "message")) as [Partial<PeerRun>];
      const { requests } = await upstream.counts();
      if (run.seconds === undefined) continue;
      const times = (run.seconds / hnswSeconds).toFixed(2);
      say(`${run.chunks} chunks in ${run.seconds.toFixed(2)} s, ${requests} requests: ${times} x ours with hnsw`);
    }
  } finally {
    upstream.close();
    rmSync(folderOfStores, { recursive: true, force: true });
  }
}

interface Run {
  readonly baseUrl: string;
  readonly path: string;
  readonly index: "flat" | "hnsw";
  readonly asking: boolean;
  readonly documents: readonly Document[];
}

/** Seconds until everything is stored and indexed, and the store is closed. */
async function ingest({ baseUrl, path, index, asking, documents }: Run): Promise<{ seconds: number; chunks: number }> {
  const transport = createTransport({ baseUrl, apiKey: "key", concurrency });
  const embed = embedder(transport, { model: "made-m3", dimension, batchSize: batchTexts });
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const began = performance.now();
  const kb = await openStore(path, embed, { index });
  const flow = Pipeline.from<Document>()
    .pipe(chunk({ for: embed, maxTokens, overlapTokens }))
    .pipe(skipKnown(kb))
    .pipe(embedChunks(embed, { concurrency }))
    .pipe(store(kb));
  const questions = asking ? askAllTheWhile(kb) : undefined;
  let chunks = 0;
  for await (const written of flow.stream(documents)) chunks += written.chunks;
  const streamed = (performance.now() - began) / 1000;
  const answeredMs = await questions?.stop();
  await kb.close();
  const seconds = (performance.now() - began) / 1000;
  delay.disable();
  const [p50, p99, longest] = [delay.percentile(50), delay.percentile(99), delay.max].map((ns) =>
    (ns / 1e6).toFixed(0),
  );
  say(`event loop delay p50 ${p50} ms, p99 ${p99} ms, longest ${longest} ms`);
  say(`stored after ${streamed.toFixed(2)} s, the rest until the indexes were complete and saved`);
  if (answeredMs) {
    const at = (share: number) => answeredMs[Math.floor(answeredMs.length * share)]!.toFixed(1);
    say(`${answeredMs.length} questions, dense and lexical, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`);
  }
  await transport.close();
  return { seconds, chunks };
}

/** Asks a question every 100 ms; `stop` returns the times of the answers in milliseconds, in ascending order. */
function askAllTheWhile(kb: Store): { readonly stop: () => Promise<number[]> } {
  const enough = new AbortController();
  const taken: number[] = [];
  const done = (async () => {
    while (!enough.signal.aborted) {
      await sleep(100);
      const query = { text: "how do I configure the network policy of a cluster", vector: unitVector() };
      const began = performance.now();
      const found = await Promise.all([
        kb.dense.retrieve(query, { count: 40 }),
        kb.lexical.retrieve(query, { count: 40 }),
      ]);
      await kb.hits(found.flat());
      taken.push(performance.now() - began);
    }
  })();
  return {
    stop: async () => {
      enough.abort();
      await done;
      return taken.toSorted((a, b) => a - b);
    },
  };
}

/** The event-loop delay of short turns on this machine now: other load on it delays timers too. */
async function machineDelay(): Promise<string> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  for (const until = performance.now() + 3000; performance.now() < until;) {
    const before = process.cpuUsage().user;
    while (process.cpuUsage().user - before < 8000);
    await turn();
  }
  delay.disable();
  return described(delay);
}

function described(delay: IntervalHistogram): string {
  const [p50, p99, longest] = [delay.percentile(50), delay.percentile(99), delay.max].map((ns) =>
    (ns / 1e6).toFixed(0),
  );
  return `event loop delay p50 ${p50} ms, p99 ${p99} ms, longest ${longest} ms`;
}

/** Seconds needed to count the tokens of all texts. */
async function tokenizerPass(documents: readonly Document[]): Promise<number> {
  const { defaultTokens } = (await import(built("text/tokens/tokens.js"))) as typeof Tokens;
  const began = performance.now();
  for (const { text } of documents) defaultTokens.count(text);
  return (performance.now() - began) / 1000;
}

async function hnswInsertion(count: number): Promise<number> {
  const { HnswGraph, loadHnswLibrary } = (await import(built("store/dense/graph/hnsw.js"))) as typeof Hnsw;
  const graph = HnswGraph.create(await loadHnswLibrary(), dimension, { m: 16, efConstruction: 200, ef: 200 });
  let seconds = 0;
  for (let label = 1; label <= count; label++) {
    const vector = unitVector();
    const began = performance.now();
    graph.add(label, vector);
    seconds += (performance.now() - began) / 1000;
  }
  return seconds;
}

// Measures the build, as it is shipped.
function built(file: string): string {
  return new URL(`../../dist/${file}`, import.meta.url).href;
}

function say(line: string): void {
  console.log(`  ${line}`);
}
