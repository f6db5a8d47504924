/**
 * Measures whether memory stays bounded. Ingests documents made of real paragraphs, each made unique, in a separate process
 * for each size and index, and prints the peak of its resident memory with and without the vectors themselves. The aim is
 * that 100,000 documents need at most 1.5 times the memory of 10,000.
 *
 *     npm run build && npm run build:examples && node build/benchmarks/ingest-memory.js [size...] [flat|hnsw...]
 */
import { createTransport, type Document, embedder, ingest, openStore } from "citewell";
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startFixedLatencyUpstream } from "./shared/fixed-latency-upstream.js";

const program = fileURLToPath(import.meta.url);
// Vectors are small, so that the figure shows everything else.
const dimension = 32;
const corpora = ["squad/articles.jsonl", "scifact/corpus.jsonl"];

interface Measured {
  readonly chunks: number;
  readonly seconds: number;
  readonly peakMb: number;
  /** Peak before the store is closed, which saves the indexes. */
  readonly peakBeforeClosingMb: number;
  readonly heapMb: number;
  readonly arrayBuffersMb: number;
}

type Index = "flat" | "hnsw";

const words = process.argv.slice(2);
if (words[0] === "measure") process.send!(await measure(Number(words[1]), words[2] as Index, words[3]!));
else await compare();

async function compare(): Promise<void> {
  const sizes = words.map(Number).filter((size) => size > 0);
  const indexes = words.filter((word): word is Index => word === "flat" || word === "hnsw");
  if (sizes.length === 0) sizes.push(10_000, 100_000);
  console.log(`node build/benchmarks/ingest-memory.js ${words.join(" ")}`);
  console.log(`${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}, ${dimension} dimensions`);
  const upstream = await startFixedLatencyUpstream(5, dimension);
  try {
    for (const index of indexes.length > 0 ? indexes : (["flat", "hnsw"] as const)) {
      let smallest: number | undefined;
      for (const size of sizes) {
        const child = fork(program, ["measure", String(size), index, upstream.baseUrl]);
        const [measured] = (await once(child, "message")) as [Measured];
        const { chunks, seconds, peakMb, peakBeforeClosingMb, heapMb, arrayBuffersMb } = measured;
        const vectorsMb = (chunks * dimension * 4) / 2 ** 20;
        const restMb = peakMb - vectorsMb;
        smallest ??= restMb;
        console.log(
          `${index} ${size.toLocaleString("en-US")} documents, ${chunks.toLocaleString("en-US")} chunks, ${seconds.toFixed(0)} s: ` +
            `peak ${peakMb.toFixed(0)} MB (${peakBeforeClosingMb.toFixed(0)} MB before the indexes were saved), without ${vectorsMb.toFixed(0)} MB of vectors ${restMb.toFixed(0)} MB, ` +
            `${(restMb / smallest).toFixed(2)} x the first; at the end heap ${heapMb.toFixed(0)} MB, array buffers ${arrayBuffersMb.toFixed(0)} MB`,
        );
      }
    }
  } finally {
    upstream.close();
  }
}

async function measure(size: number, index: Index, baseUrl: string): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
  try {
    const began = performance.now();
    const transport = createTransport({ baseUrl, apiKey: "key", concurrency: 8 });
    const embed = embedder(transport, { model: "made-m3", dimension });
    const kb = await openStore(join(folder, "store"), embed, { index });
    const { chunks } = await ingest(madeDocuments(size), { store: kb, embedder: embed, onProgress: () => {} });
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    const peakBeforeClosing = process.resourceUsage().maxRSS;
    await kb.close();
    await transport.close();
    return {
      chunks: chunks.total,
      seconds: (performance.now() - began) / 1000,
      peakMb: process.resourceUsage().maxRSS / 1024,
      peakBeforeClosingMb: peakBeforeClosing / 1024,
      heapMb: heapUsed / 2 ** 20,
      arrayBuffersMb: arrayBuffers / 2 ** 20,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Paragraphs of the corpora, repeated, each followed by a unique combination of three words of the corpora. Numbers would
 * be new words, and an index of words would grow as it does for no real text. The paragraphs are kept outside the heap and
 * decoded one by one, as from a file: V8 collects garbage less often the more is alive, and a real ingest does not hold all
 * of its documents.
 */
function* madeDocuments(size: number): Generator<Document> {
  const { bytes, ends, spoken } = heldParagraphs();
  for (let number = 0; number < size; number++) {
    const at = number % ends.length;
    const own = [number, number / 100, number / 10_000].map((digits) => spoken[Math.floor(digits) % 100]);
    const paragraph = bytes.toString("utf8", at === 0 ? 0 : ends[at - 1], ends[at]);
    yield { uri: `made:${number}`, text: `${paragraph} See ${own.join(" ")}.` };
  }
}

interface HeldParagraphs {
  /** All paragraphs, concatenated. */
  readonly bytes: Buffer;
  /** The end of each paragraph. */
  readonly ends: readonly number[];
  readonly spoken: readonly string[];
}

function heldParagraphs(): HeldParagraphs {
  const paragraphs = corpora.flatMap((file) =>
    readFileSync(join("../shared/data", file), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .flatMap((line) => (JSON.parse(line) as { readonly text: string }).text.split("\n\n"))
      .filter((paragraph) => paragraph.length > 100),
  );
  const found = paragraphs.slice(0, 500).flatMap((paragraph) => paragraph.match(/\b[a-z]{5,}\b/g) ?? []);
  let end = 0;
  const ends = paragraphs.map((paragraph) => (end += Buffer.byteLength(paragraph)));
  // Copies, because slices would keep the corpora alive.
  const spoken = [...new Set(found)].slice(0, 100).map((word) => Buffer.from(word).toString());
  return { bytes: Buffer.from(paragraphs.join("")), ends, spoken };
}
