import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { openStore } from "citewell";
import type { vectorKey as VectorKey } from "../../src/text/chunking/chunk-identity.js";
import { type FaultyEmbeddings, startFaultyEmbeddings } from "../../test/support/faulty-embeddings.js";
import { seededRandom } from "../../test/support/seeded-random.js";
import { SQLite } from "../../test/support/sqlite.js";
import { aimsOf } from "../aims.js";
import type { Benchmark, RunContext } from "../runner/benchmark.js";
import { readMarkdown } from "../runner/corpus.js";
import { project, shipped } from "../runner/project.js";

const latencyMs = 20;
/** Ingests a folder into a store; the tests kill it fifty times. */
const program = join(project, "test/knowledge-base/ingest/interrupted-ingest.mjs");

/** Starts a process that ingests, and says how to end it at once and when it has ended. */
export type StartIngest = (settings: object) => { readonly kill: () => void; readonly ended: Promise<number | null> };

export const benchmark: Benchmark<StartIngest> = {
  name: "killed",
  question: "What does an ingestion lose that is killed again and again?",
  method:
    "A process that ingests Markdown, 4 texts a request and 2 requests at once, is ended by SIGKILL `kills` times, up to 40 ms after it " +
    "got the vectors of a random number of texts, `texts` at most, and then left to finish. Differing rows are documents, chunks and vectors that are not those of a store that nobody " +
    "disturbed. Kept texts sent again are those whose vectors were on disk when a process was killed and that a later one paid for once more; texts " +
    "sent again are all, with those that were on their way. A run in which no process was killed as it worked fails.",
  contenders: [{ name: "killed", kind: "citewell", load: async () => startIngest }],
  beside: "killed",
  measures: {
    kills: { unit: "processes", better: "higher" },
    rows: { unit: "rows", better: "higher" },
    "differing rows": { unit: "rows", better: "lower" },
    "kept texts sent again": { unit: "texts", better: "lower" },
    "texts sent again": { unit: "texts", better: "lower" },
  },
  sizes: { smoke: { kills: 1, share: 0.003, texts: 4 }, usual: { kills: 20, share: 0.03, texts: 60 } },
  rounds: 1,
  aims: aimsOf("killed"),
  corpus: "markdown",
  measure: measureKilled,
};

async function measureKilled(start: StartIngest, { size, corpus }: RunContext<undefined>) {
  const { kills = 0, share = 1, texts = 0 } = size;
  const base = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
  const folder = join(base, "files");
  for (const { uri } of readMarkdown(corpus, share)) cpSync(join(corpus, uri), join(folder, uri));
  const settings = { folder, batchSize: 4, concurrency: 2 };
  const [calm, service] = [await startFaultyEmbeddings(0, 1), await startFaultyEmbeddings(0, 1, latencyMs)];
  try {
    const [whole, path] = [join(base, "whole"), join(base, "killed")];
    await finished(start({ ...settings, path: whole, baseUrl: calm.baseUrl }));
    const next = seededRandom(7);
    let [killed, keptSentAgain] = [0, 0];
    let kept: ReadonlySet<string> = new Set();
    for (let kill = 0; kill <= kills; kill++) {
      const before = new Map(service.answered);
      const ingest = start({ ...settings, path, baseUrl: service.baseUrl });
      if (kill === kills) await finished(ingest);
      else if (await killedAtWork(ingest, service, Math.ceil(next() * texts), next() * 2 * latencyMs)) killed++;
      const sent = [...service.answered].filter(([text, times]) => times > (before.get(text) ?? 0));
      keptSentAgain += sent.filter(([text]) => kept.has(text)).length;
      kept = await keptTexts(path, [...service.answered.keys()]);
    }
    if (killed === 0) throw new Error("every process had ended before it could be killed");
    const [expected, found] = [await rowsOf(whole), await rowsOf(path)];
    const same = [...expected].filter(([key, row]) => isDeepStrictEqual(row, found.get(key))).length;
    return {
      kills: killed,
      rows: expected.size,
      "differing rows": Math.max(expected.size, found.size) - same,
      "kept texts sent again": keptSentAgain,
      "texts sent again": [...service.answered.values()].filter((times) => times > 1).length,
    };
  } finally {
    await calm.close();
    await service.close();
    rmSync(base, { recursive: true, force: true });
  }
}

function startIngest(settings: object): ReturnType<StartIngest> {
  const child = spawn(process.execPath, [program, JSON.stringify(settings)], { stdio: "ignore" });
  return { kill: () => child.kill("SIGKILL"), ended: once(child, "exit").then(([code]) => code as number | null) };
}

async function finished({ ended }: ReturnType<StartIngest>): Promise<void> {
  const code = await ended;
  if (code !== 0) throw new Error(`an ingestion that nobody disturbed ended with ${code}`);
}

/** Kills a process some time after the service has answered so many texts more. */
async function killedAtWork(
  { kill, ended }: ReturnType<StartIngest>,
  { answered }: FaultyEmbeddings,
  count: number,
  afterMs: number,
): Promise<boolean> {
  const texts = () => [...answered.values()].reduce((sum, times) => sum + times, 0);
  const until = texts() + count;
  const over = new AbortController();
  void ended.then(() => over.abort());
  while (!over.signal.aborted && texts() < until) await sleep(2);
  await sleep(afterMs);
  kill();
  const code = await ended;
  // The service counts requests in flight when it answers them.
  await sleep(3 * latencyMs);
  return code === null;
}

/** Reads the database directly, because opening the store would mend what the next process has to. */
async function keptTexts(path: string, texts: readonly string[]): Promise<ReadonlySet<string>> {
  const { vectorKey } = await shipped<{ readonly vectorKey: typeof VectorKey }>("text/chunking/chunk-identity.js");
  const file = join(path, "store.sqlite");
  if (!existsSync(file)) return new Set();
  const database = new SQLite(file);
  try {
    if (!database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'vectors'").get()) return new Set();
    const keys = new Set(database.prepare("SELECT key FROM vectors").pluck().all());
    return new Set(texts.filter((text) => keys.has(vectorKey({ context: "", text }))));
  } finally {
    database.close();
  }
}

/** Documents with their texts, chunks and vectors, by what tells them apart. */
async function rowsOf(path: string): Promise<ReadonlyMap<string, unknown>> {
  const { vectorKey } = await shipped<{ readonly vectorKey: typeof VectorKey }>("text/chunking/chunk-identity.js");
  const store = await openStore(path, { space: "test/embed-m3" }, { create: false });
  try {
    const rows = new Map<string, unknown>();
    for (const info of await store.documents()) rows.set(info.uri, [info, await store.document(info.uri)]);
    const found = await store.dense.retrieve({ text: "", vector: new Float32Array(8).fill(1) }, { count: 100_000 });
    const chunks = (await store.hits(found)).map(({ chunk }) => chunk);
    for (const chunk of chunks) rows.set(`chunk ${chunk.documentId} ${chunk.id} ${chunk.start}`, chunk);
    for (const [key, vector] of await store.knownVectors(chunks.map((chunk) => vectorKey(chunk))))
      rows.set(key, vector);
    return rows;
  } finally {
    await store.close();
  }
}
