import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { defaultTokens as DefaultTokens } from "../src/text/tokens/tokens.js";
import { aimsOf } from "./aims.js";
import { ingestPeers } from "./ingest/peers.js";
import { batchTexts, concurrency, dimension, type Ingestion, maxTokens, overlapTokens } from "./ingest/setting.js";
import type { Benchmark, RunContext } from "./runner/benchmark.js";
import { readMarkdown } from "./runner/corpus.js";
import { project, shipped } from "./runner/project.js";
import { startFixedLatencyUpstream } from "./shared/fixed-latency-upstream.js";

/** Latency of a request, and the time that each of its texts adds. */
const [latencyMs, textMs] = [40, 0.5];

interface Given {
  readonly baseUrl: string;
  /** The files, in a folder of their own. */
  readonly folder: string;
}

/** Indexes the folder, and returns the number of chunks; or says how long a part of that takes at least. */
type Indexing = (given: Given) => Promise<{ readonly chunks: number; readonly atLeastSeconds?: number }>;

const langChain = ingestPeers[0]!;

export const benchmark: Benchmark<Indexing, Given> = {
  name: "files",
  question: "How long do files on disk take, from the start of the process until they are indexed and saved?",
  method:
    `Markdown in chunks of ${maxTokens} tokens, ${overlapTokens} of them repeated, ${batchTexts} texts a request, ${concurrency} requests at once, to a service that takes ` +
    `${latencyMs} ms a request and ${textMs} ms a text, in a process of its own on the same machine. citewell is its command with the index that ` +
    "it chooses; of a peer the time counts from the reading of the files, with its packages loaded. The limits are one pass of our tokenizer with " +
    "nothing remembered, the time of the service for the requests that `citewell plan` counts, and the slower of the two; and the slower one if all " +
    "chunks were full, which they are not where they end at headings. Each run is a new process.",
  contenders: [
    { name: "one tokenizer pass", kind: "limit", load: async () => countTokens },
    { name: "the service alone", kind: "limit", load: async () => serviceAlone },
    { name: "the slower limit", kind: "limit", load: async () => slowerOf(serviceAlone) },
    { name: "the same, chunks full", kind: "limit", load: async () => slowerOf(serviceForFullChunks) },
    { name: "citewell index", kind: "citewell", load: async () => indexCommand },
    { ...langChain, load: async () => indexWith(await langChain.load()) },
  ],
  beside: "citewell index",
  measures: {
    run: { unit: "s", better: "lower" },
    "run CPU": { unit: "s", better: "lower" },
    "CPU of a megabyte": { unit: "s", better: "lower" },
    "1,000 chunks": { unit: "s", better: "lower" },
  },
  sizes: { smoke: { share: 0.02 }, usual: { share: 1 } },
  rounds: 3,
  aims: aimsOf("files"),
  corpus: "markdown",
  prepare: async ({ share = 1 }, corpus) => {
    const upstream = await startFixedLatencyUpstream(latencyMs, dimension, 0, textMs);
    const folder = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
    for (const { uri } of readMarkdown(corpus, share)) cpSync(join(corpus, uri), join(folder, "files", uri));
    return {
      given: { baseUrl: upstream.baseUrl, folder: join(folder, "files") },
      close: () => {
        upstream.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
  measure: async (index: Indexing, { given, timed }: RunContext<Given>) => {
    const { result, wallSeconds, cpuSeconds } = await timed(() => index(given));
    const { chunks, atLeastSeconds = wallSeconds } = result;
    if (chunks === 0) throw new Error("nothing was indexed");
    const bytes = readMarkdown(given.folder).reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    return {
      run: atLeastSeconds,
      "run CPU": cpuSeconds,
      "CPU of a megabyte": cpuSeconds / (bytes / 1e6),
      "1,000 chunks": atLeastSeconds / (chunks / 1000),
    };
  },
};

const indexCommand: Indexing = async ({ baseUrl, folder }) => {
  const store = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
  try {
    const { chunks } = command(["index", folder, "--store", join(store, "store")], baseUrl) as {
      readonly chunks: { readonly total: number };
    };
    return { chunks: chunks.total };
  } finally {
    rmSync(store, { recursive: true, force: true });
  }
};

/** Runs the command with the setting of all runs, and returns its report. */
function command(words: readonly string[], baseUrl: string): unknown {
  const service = ["--base-url", baseUrl, "--api-key", "key", "--embedding-model", "made-m3"];
  const cutting = ["--chunk-tokens", String(maxTokens), "--overlap-tokens", String(overlapTokens)];
  const file = join(project, "dist/bin/citewell.js");
  const all = [file, ...words, "--json", ...service, ...cutting];
  const { status, stdout, stderr } = spawnSync(process.execPath, all, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr.slice(-500));
  return JSON.parse(stdout);
}

function indexWith(ingest: Ingestion): Indexing {
  return async ({ baseUrl, folder }) =>
    ingest({
      documents: readMarkdown(folder),
      baseUrl,
      latencyMs,
      // The clock runs for all of it.
      timed: async (work) => ({ result: await work(), wallSeconds: 0, cpuSeconds: 0 }),
    });
}

const countTokens: Indexing = async ({ folder }) => {
  const { defaultTokens } = await shipped<{ readonly defaultTokens: typeof DefaultTokens }>("text/tokens/tokens.js");
  const tokens = readMarkdown(folder).reduce((sum, { text }) => sum + defaultTokens.count(text), 0);
  return { chunks: Math.ceil(tokens / maxTokens) };
};

/** The service at its cap, never waiting, with the requests that the command makes of these files. */
const serviceAlone: Indexing = async ({ baseUrl, folder }) => {
  const { chunks, requests } = command(["plan", folder, "--store", join(folder, "../no-store")], baseUrl) as {
    readonly chunks: number;
    readonly requests: number;
  };
  return { chunks, atLeastSeconds: serviceSeconds(requests, chunks) };
};

const serviceForFullChunks: Indexing = async (given) => {
  const { chunks } = await countTokens(given);
  return { chunks, atLeastSeconds: serviceSeconds(Math.ceil(chunks / batchTexts), chunks) };
};

/** How long requests with an equal number of texts take, as many at once as may be. */
function serviceSeconds(requests: number, texts: number): number {
  return (Math.ceil(requests / concurrency) * (latencyMs + (textMs * texts) / requests)) / 1000;
}

/** The slower of the service and one tokenizer pass. */
function slowerOf(service: Indexing): Indexing {
  return async (given) => {
    const { chunks, atLeastSeconds = 0 } = await service(given);
    const started = performance.now();
    await countTokens(given);
    return { chunks, atLeastSeconds: Math.max(atLeastSeconds, (performance.now() - started) / 1000) };
  };
}
