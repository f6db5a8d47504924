import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTransport, type Document, embedder, ingest, openStore } from "citewell";
import { aimsOf } from "./aims.js";
import type { Benchmark, Contender, RunContext } from "./runner/benchmark.js";
import { readMarkdown } from "./runner/corpus.js";
import { startFixedLatencyUpstream } from "./shared/fixed-latency-upstream.js";

// Vectors are small, so that the figure shows everything else.
const dimension = 32;

/** How many times the documents of the smallest are ingested, and what takes them in. */
export interface Filling {
  readonly times: number;
  readonly fill: (documents: Iterable<Document>, baseUrl: string, folder: string) => Promise<number>;
}

export const benchmark: Benchmark<Filling, string> = {
  name: "memory",
  question: "Does the memory of an ingestion stay bounded?",
  method:
    "Paragraphs of Markdown, repeated, each made a document of its own by three words of the corpus: numbers would be new words, and " +
    "an index of words would grow as it does for no real text. The peak of the resident memory of a process that ingests them " +
    "into a store with an exact index, less the vectors of 32 dimensions; the second has ten times the documents of the first. " +
    "Paragraphs are kept outside the heap and decoded one by one, as from a file, because V8 collects less often the more is alive.",
  contenders: [filling("documents", 1), filling("ten times the documents", 10)],
  beside: "documents",
  measures: {
    peak: { unit: "MB", better: "lower" },
    "heap at the end": { unit: "MB", better: "lower" },
    chunks: { unit: "chunks", better: "lower" },
  },
  sizes: { smoke: { documents: 50 }, usual: { documents: 3000 } },
  rounds: 1,
  aims: aimsOf("memory"),
  corpus: "markdown",
  prepare: async () => {
    const { baseUrl, close } = await startFixedLatencyUpstream(5, dimension);
    return { given: baseUrl, close };
  },
  measure: measureMemory,
};

function filling(name: string, times: number): Contender<Filling> {
  return { name, kind: "citewell", load: async () => ({ times, fill }) };
}

async function fill(documents: Iterable<Document>, baseUrl: string, folder: string): Promise<number> {
  const transport = createTransport({ baseUrl, apiKey: "key", concurrency: 8 });
  const embed = embedder(transport, { model: "made-m3", dimension });
  const kb = await openStore(join(folder, "store"), embed, { index: "flat" });
  const { chunks } = await ingest(documents, { store: kb, embedder: embed });
  await kb.close();
  await transport.close();
  return chunks.total;
}

async function measureMemory({ times, fill: fillStore }: Filling, { size, corpus, given, timed }: RunContext<string>) {
  const folder = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
  try {
    const count = size["documents"]! * times;
    const { result: chunks } = await timed(() => fillStore(madeDocuments(corpus, count), given, folder));
    if (chunks < count) throw new Error(`${chunks} chunks of ${count} documents were kept`);
    const vectorsMb = (chunks * dimension * 4) / 1e6;
    const peakMb = (process.resourceUsage().maxRSS * 1024) / 1e6;
    return { peak: peakMb - vectorsMb, "heap at the end": process.memoryUsage().heapUsed / 1e6, chunks };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function* madeDocuments(corpus: string, count: number): Generator<Document> {
  const { bytes, ends, words } = heldParagraphs(corpus);
  for (let number = 0; number < count; number++) {
    const at = number % ends.length;
    const own = [number, number / 100, number / 10_000].map((digits) => words[Math.floor(digits) % words.length]);
    const paragraph = bytes.toString("utf8", at === 0 ? 0 : ends[at - 1], ends[at]);
    yield { uri: `made:${number}`, text: `${paragraph} See ${own.join(" ")}.` };
  }
}

interface HeldParagraphs {
  /** All paragraphs, one after another. */
  readonly bytes: Buffer;
  /** The end of each paragraph. */
  readonly ends: readonly number[];
  /** A hundred words of them. */
  readonly words: readonly string[];
}

function heldParagraphs(corpus: string): HeldParagraphs {
  const paragraphs = readMarkdown(corpus, 0.1)
    .flatMap(({ text }) => text.split("\n\n"))
    .filter((paragraph) => paragraph.length > 100 && paragraph.length < 1500);
  const found = paragraphs.slice(0, 500).flatMap((paragraph) => paragraph.match(/\b[a-z]{5,}\b/g) ?? []);
  let end = 0;
  const ends = paragraphs.map((paragraph) => (end += Buffer.byteLength(paragraph)));
  // Copies, because slices would keep the corpora alive.
  const words = [...new Set(found)].slice(0, 100).map((word) => Buffer.from(word).toString());
  return { bytes: Buffer.from(paragraphs.join("")), ends, words };
}
