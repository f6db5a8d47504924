/**
 * Measures the index of words alone, over made chunks whose words follow Zipf's law in a vocabulary of a million: memory,
 * bytes on disk, opening to the first answer, the time and the cost of queries, and the bytes that saving a change of a
 * hundred chunks writes. Each size is built and searched in a process of its own.
 *
 *     npm run bench words [chunks …]
 *
 * Default: 25,000, 50,000 and 100,000 chunks of 150 words. Costs are counted in postings that were scored, so that they are
 * the same on every machine.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AllowedChunks } from "../../src/store/derived/allowed-chunks.js";
import type * as AllowedLabelsModule from "../../src/store/derived/allowed-labels.js";
import type { Changes, Position, Removal, TextRow } from "../../src/store/derived/changes.js";
import type * as LexicalIndexModule from "../../src/store/lexical/lexical-index.js";
import { seededRandom } from "../../test/support/seeded-random.js";

const built = (file: string): Promise<unknown> => import(new URL(`../../../dist/store/${file}`, import.meta.url).href);

const wordsPerChunk = 150;
const vocabulary = 1_000_000;
const changed = 100;
const questions = 300;

const wordsFrom = (next: () => number, count: number) =>
  Array.from({ length: count }, () => `w${Math.floor(vocabulary ** next()).toString(36)}x`).join(" ");

/** A change log that makes its texts when they are read. Its chunks have the labels from 1 on, except the removed. */
class MadeChanges {
  readonly #chunks: number;
  readonly #removed: readonly number[];

  constructor(chunks: number, removed: readonly number[] = []) {
    this.#chunks = chunks;
    this.#removed = removed;
  }

  head(): Position {
    return { label: this.#chunks, removal: this.#removed.length };
  }

  textsAfter(label: number, limit: number): TextRow[] {
    const rows: TextRow[] = [];
    for (let next = label + 1; next <= this.#chunks && rows.length < limit; next++) {
      rows.push({ label: next, documentId: "", context: "", text: wordsFrom(seededRandom(next), wordsPerChunk) });
    }
    return rows;
  }

  removalsAfter(sequence: number): Removal[] {
    return this.#removed.slice(sequence).map((label, at) => ({ sequence: sequence + at + 1, label }));
  }
}

interface Measured {
  readonly [name: string]: number;
}

const milliseconds = async (work: () => Promise<unknown>) => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};

const at = (sorted: readonly number[], share: number) => sorted[Math.floor(share * (sorted.length - 1))]!;

const fileSizes = (folder: string) =>
  new Map(readdirSync(folder).map((file) => [file, statSync(join(folder, file)).size] as const));

async function openIndex(folder: string, changes: MadeChanges): Promise<LexicalIndexModule.LexicalIndex> {
  const { LexicalIndex } = (await built("lexical/lexical-index.js")) as typeof LexicalIndexModule;
  const { AllowedLabels, labelBits } = (await built("derived/allowed-labels.js")) as typeof AllowedLabelsModule;
  const allowed = new AllowedLabels(labelBits(changes.head().label, (label) => (label * 2_654_435_761) % 100 < 1));
  return LexicalIndex.open(changes as unknown as Changes, {
    k1: 1.2,
    b: 0.75,
    contextWeight: 2,
    folder,
    store: "made",
    allowed: { by: () => allowed } as unknown as AllowedChunks,
    onWarning: console.warn,
    whenUnsaved: async (save) => {
      await save();
    },
  });
}

/** Builds and saves the index of `chunks` chunks. */
async function build(folder: string, chunks: number): Promise<Measured> {
  const index = await openIndex(folder, new MadeChanges(chunks));
  const buildMs = await milliseconds(() => index.catchUp());
  const saveMs = await milliseconds(() => index.save());
  await index.close();
  const bytes = [...fileSizes(folder).values()].reduce((sum, size) => sum + size, 0);
  let postings = 0;
  for (let label = 1; label <= chunks; label += 100) {
    postings += 100 * new Set(wordsFrom(seededRandom(label), wordsPerChunk).split(" ")).size;
  }
  const peakMegabytes = process.resourceUsage().maxRSS / 1024;
  return { buildMs, saveMs, megabytes: bytes / 1e6, bytesPerPosting: bytes / postings, peakMegabytes };
}

/** Opens the saved index and searches it. */
async function searching(folder: string, chunks: number): Promise<Measured> {
  const changes = new MadeChanges(chunks);
  const next = seededRandom(99);
  const texts = Array.from({ length: questions }, () => wordsFrom(next, 5));
  globalThis.gc?.();
  const before = process.memoryUsage();
  let index!: LexicalIndexModule.LexicalIndex;
  const openMs = await milliseconds(async () => {
    index = await openIndex(folder, changes);
    await index.search(texts[0]!, 40);
  });
  const filter = { all: [] };
  const times = { plain: [] as number[], filtered: [] as number[] };
  for (const round of [0, 1]) {
    for (const text of texts) {
      const plain = await milliseconds(() => index.search(text, 40));
      const filtered = await milliseconds(() => index.search(text, 40, { filter }));
      if (round === 0) continue;
      times.plain.push(plain);
      times.filtered.push(filtered);
    }
  }
  globalThis.gc?.();
  const after = process.memoryUsage();
  const plain = times.plain.toSorted((one, other) => one - other);
  const filtered = times.filtered.toSorted((one, other) => one - other);
  await index.close();
  return {
    openMs,
    p50Ms: at(plain, 0.5),
    p99Ms: at(plain, 0.99),
    filteredP50Ms: at(filtered, 0.5),
    filteredP99Ms: at(filtered, 0.99),
    memoryMegabytes: (after.rss - before.rss) / 1e6,
    arrayMegabytes: (after.arrayBuffers - before.arrayBuffers) / 1e6,
  };
}

/** Changes a hundred chunks all over the store, several times, and saves after each. */
async function changing(folder: string, chunks: number): Promise<Measured> {
  const removed: number[] = [];
  let written = 0;
  let saveMs = 0;
  const rounds = 10;
  for (let round = 1; round <= rounds; round++) {
    for (let number = 0; number < changed; number++) {
      removed.push(1 + ((removed.length * 7919) % chunks));
    }
    const before = fileSizes(folder);
    const index = await openIndex(folder, new MadeChanges(chunks + round * changed, removed));
    await index.catchUp();
    saveMs += await milliseconds(() => index.save());
    await index.close();
    for (const [file, size] of fileSizes(folder)) if (before.get(file) !== size) written += size;
  }
  return { kilobytesPerChange: written / rounds / 1000, changeSaveMs: saveMs / rounds };
}

const parts = { build, searching, changing };

async function inProcess(part: string, folder: string, chunks: number): Promise<Measured> {
  const child = fork(fileURLToPath(import.meta.url), ["--part", part, folder, String(chunks)], {
    execArgv: ["--expose-gc"],
  });
  const [measured] = (await once(child, "message")) as [Measured];
  return measured;
}

if (process.argv[2] === "--part") {
  const [part, folder, chunks] = process.argv.slice(3);
  process.send!(await parts[part as keyof typeof parts](folder!, Number(chunks)));
  process.disconnect();
} else {
  console.log(`${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}`);
  const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [25_000, 50_000, 100_000];
  for (const chunks of sizes) {
    const folder = mkdtempSync(join(tmpdir(), "words-"));
    try {
      for (const part of Object.keys(parts)) {
        const measured = Object.entries(await inProcess(part, folder, chunks));
        console.log(`${chunks} ${part}: ${measured.map(([name, value]) => `${name} ${value.toFixed(2)}`).join(", ")}`);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}
