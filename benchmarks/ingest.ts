import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
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
import { aimsOf } from "./aims.js";
import { slowestPart } from "./ingest/limits.js";
import { ingestPeers } from "./ingest/peers.js";
import { batchTexts, concurrency, dimension, type Ingestion, maxTokens, overlapTokens } from "./ingest/setting.js";
import type { Benchmark, Contender, RunContext } from "./runner/benchmark.js";
import { readMarkdown } from "./runner/corpus.js";
import { startFixedLatencyUpstream, vectorOf } from "./shared/fixed-latency-upstream.js";
import { percentile } from "./shared/percentile.js";

const latencyMs = 100;

export const benchmark: Benchmark<Ingestion, string> = {
  name: "ingest",
  question: "How long does it take from documents to an index that can be searched?",
  method:
    "Markdown is cut into chunks of 256 tokens, embedded 32 at a time in 8 calls at once by a service in another process that " +
    "answers after 100 ms with 1,024 dimensions, and kept; citewell's store is on disk, complete and closed, safe against a " +
    "crash at any moment, with an index of words, which no peer makes. The limits are the slowest of the parts that nobody can leave out, each by " +
    "itself: waiting, one pass of the tokenizer, and with a graph the insertion into a bare one, divided by the cores. " +
    "LlamaIndexTS embeds one batch after another, as its ingestion does. Each process starts with empty caches; chunks differ by " +
    "splitter. Delay is how late timers of the main thread fire, and a machine busy with other work delays them too.",
  contenders: [
    { name: "slowest part", kind: "limit", load: async () => slowestPart(false) },
    { name: "slowest part, graph", kind: "limit", load: async () => slowestPart(true) },
    ours("citewell, exact index", "flat"),
    ours("citewell, graph", "hnsw"),
    ours("citewell, graph, a question every 100 ms", "hnsw", true),
    ...ingestPeers,
  ],
  beside: "slowest part",
  measures: {
    whole: { unit: "s", better: "lower" },
    chunks: { unit: "chunks", better: "lower" },
    "delay p99": { unit: "ms", better: "lower" },
    "question p50": { unit: "ms", better: "lower" },
    waiting: { unit: "s", better: "lower" },
    tokenizing: { unit: "s", better: "lower" },
    inserting: { unit: "s", better: "lower" },
  },
  sizes: { smoke: { share: 0.02 }, usual: { share: 0.5 } },
  rounds: 3,
  aims: aimsOf("ingest"),
  corpus: "markdown",
  prepare: async () => {
    const { baseUrl, close } = await startFixedLatencyUpstream(latencyMs, dimension);
    return { given: baseUrl, close };
  },
  measure: async (ingest: Ingestion, { size, corpus, given, timed }: RunContext<string>) => {
    const documents = readMarkdown(corpus, size["share"]);
    const { seconds, chunks, more } = await ingest({ documents, baseUrl: given, latencyMs, timed });
    const characters = documents.reduce((sum, { text }) => sum + text.length, 0);
    // A token has four characters or so, and no splitter fills its chunks by less than a tenth.
    if (chunks < characters / 4 / maxTokens / 4) throw new Error(`only ${chunks} chunks of ${characters} characters`);
    return { whole: seconds, chunks, ...more };
  },
};

function ours(name: string, index: "flat" | "hnsw", asking = false): Contender<Ingestion> {
  const ingest: Ingestion = async ({ documents, baseUrl, timed }) => {
    const folder = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
    const transport = createTransport({ baseUrl, apiKey: "key", concurrency });
    const embed = embedder(transport, { model: "made-m3", dimension, batchSize: batchTexts });
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    let answeredMs: readonly number[] = [];
    try {
      const { result: chunks, wallSeconds } = await timed(async () => {
        const kb = await openStore(join(folder, "store"), embed, { index });
        const flow = Pipeline.from<Document>()
          .pipe(chunk({ for: embed, maxTokens, overlapTokens }))
          .pipe(skipKnown(kb))
          .pipe(embedChunks(embed, { concurrency }))
          .pipe(store(kb));
        const questions = asking ? askAllTheWhile(kb) : undefined;
        let stored = 0;
        const typed = documents.map((document) => ({ ...document, mediaType: "text/markdown" }));
        for await (const written of flow.stream(typed)) stored += written.chunks;
        answeredMs = (await questions?.stop()) ?? [];
        await kb.close();
        return stored;
      });
      delay.disable();
      const more: Record<string, number> = { "delay p99": delay.percentile(99) / 1e6 };
      if (answeredMs.length > 0) more["question p50"] = percentile(answeredMs, 0.5);
      return { seconds: wallSeconds, chunks, more };
    } finally {
      await transport.close();
      rmSync(folder, { recursive: true, force: true });
    }
  };
  return { name, kind: "citewell", load: async () => ingest };
}

/** Asks a question every 100 ms, dense and lexical; `stop` gives the times of the answers in milliseconds. */
function askAllTheWhile(kb: Store): { readonly stop: () => Promise<readonly number[]> } {
  const enough = new AbortController();
  const taken: number[] = [];
  const done = (async () => {
    while (!enough.signal.aborted) {
      await sleep(100);
      const query = {
        text: "how do I configure the network policy of a cluster",
        vector: vectorOf(String(taken.length), dimension),
      };
      const startedAt = performance.now();
      const found = await Promise.all([kb.dense, kb.lexical].map((side) => side.retrieve(query, { count: 40 })));
      await kb.hits(found.flat());
      taken.push(performance.now() - startedAt);
    }
  })();
  return {
    stop: async () => {
      enough.abort();
      await done;
      return taken;
    },
  };
}
