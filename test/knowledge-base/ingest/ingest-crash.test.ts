// In test:all alone: it kills processes at random moments and runs them again, for 89 s.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { maxInlineCharacters } from "../../../src/stages/indexing/cut-documents.js";
import type { IngestReport } from "../../../src/knowledge-base/ingest/ledger.js";
import type { Store } from "../../../src/core/ports.js";
import { openStore } from "../../../src/store/open-store.js";
import { vectorKey } from "../../../src/text/chunking/chunk-identity.js";
import { embeddingReply, textsOf } from "../../support/embedding-service.js";
import { scriptedUpstream } from "../../support/scripted-upstream.js";
import { seededRandom } from "../../support/seeded-random.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { SQLite } from "../../support/sqlite.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const program = fileURLToPath(new URL("interrupted-ingest.mjs", import.meta.url));
const latencyMs = 20;
const concurrency = 2;
const batchSize = 4;
// Two stores side by side, each killed at its own moments.
const seeds = [7, 8];
const killsEach = 25;
// Sent, or answered and on the way to the disk: the window of the stage that embeds, and two writes, either of which took
// over at most a window on a disk that is slow.
const mostInFlight = 3 * 2 * concurrency * batchSize;

type Report = Pick<IngestReport, "documents" | "chunks">;

/**
 * A table of contents, long enough that it and all files behind it are cut in another thread, and in few chunks: leaders
 * take few tokens.
 */
const longTable = Array.from(
  { length: Math.ceil(maxInlineCharacters / 3000) },
  (_, at) => `Entry ${at} ${".".repeat(3000)} ${at}\n`,
).join("");

/** This library's own documents and sources: real files, and always there. */
async function realFiles(): Promise<string> {
  const folder = join(await temporaryFolder(), "files");
  await cp(join(root, "test/fixtures/handbook"), join(folder, "handbook"), { recursive: true });
  for (const name of ["README.md", "CHANGELOG.md"]) await cp(join(root, name), join(folder, name));
  for (const entry of await readdir(join(root, "src/stages/indexing"), { withFileTypes: true })) {
    if (entry.isFile()) await cp(join(root, "src/stages/indexing", entry.name), join(folder, `${entry.name}.txt`));
  }
  // Before all others in the order of reading.
  await writeFile(join(folder, "A long table.txt"), longTable);
  return folder;
}

/** Runs an ingest in a separate process; `undefined` if it was killed first. */
async function ingest(settings: object, killed: AbortSignal): Promise<Report | undefined> {
  const child = spawn(process.execPath, [program, JSON.stringify({ batchSize, concurrency, ...settings })], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  killed.addEventListener("abort", () => child.kill("SIGKILL"));
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
  const [exitCode] = (await once(child, "close")) as [number | null];
  if (killed.aborted && printed === "") return undefined;
  expect(exitCode).toBe(0);
  return JSON.parse(printed) as Report;
}

async function opened(path: string): Promise<Store> {
  const store = await openStore(path, { space: "test/embed-m3" });
  onTestFinished(() => store.close());
  return store;
}

/** The texts whose vectors are on disk. Reads the database directly, because opening the store would take longer than the rest. */
function committed(path: string, texts: ReadonlySet<string>): Set<string> {
  const file = join(path, "store.sqlite");
  if (!existsSync(file)) return new Set();
  const database = new SQLite(file);
  try {
    const tables = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'vectors'");
    if (!tables.get()) return new Set();
    const keys = new Set(database.prepare("SELECT key FROM vectors").pluck().all());
    return new Set([...texts].filter((text) => keys.has(vectorKey({ context: "", text }))));
  } finally {
    database.close();
  }
}

async function contents(path: string) {
  const store = await opened(path);
  const infos = await store.documents();
  const found = await store.lexical.retrieve({ text: "the export function of documents" }, { count: 100_000 });
  const hits = await store.hits(found);
  const keys = hits.map(({ chunk }) => vectorKey(chunk));
  const all = {
    counts: await store.counts(),
    documents: await Promise.all(infos.map(async (info) => ({ info, document: await store.document(info.uri) }))),
    chunks: hits.map(({ chunk }) => chunk),
    vectors: [...(await store.knownVectors(keys))],
    verification: await store.verify(),
  };
  await store.close();
  return all;
}

/** An upstream with a fixed latency that records what it was sent. */
async function upstream() {
  const sent: string[] = [];
  let onRequest = () => {};
  const { baseUrl } = await scriptedUpstream((request) => {
    sent.push(...textsOf(request));
    onRequest();
    return { ...embeddingReply(request), delayMs: latencyMs };
  });
  return {
    baseUrl,
    /** Everything sent since the last call. */
    takeSent: () => sent.splice(0),
    whenAsked: (then: () => void) => {
      onRequest = then;
    },
  };
}

const never = new AbortController().signal;

test("an ingest killed 50 times gives the store of an uninterrupted one, and pays for nothing twice", async () => {
  const folder = await realFiles();
  const base = await temporaryFolder();
  const whole = join(base, "whole");
  const report = (await ingest({ path: whole, folder, baseUrl: (await upstream()).baseUrl }, never))!;
  const expected = await contents(whole);
  expect(expected.verification).toEqual({ ok: true, problems: [], recall: 1, repaired: false });

  await Promise.all(
    seeds.map(async (seed) => {
      const { baseUrl, takeSent, whenAsked } = await upstream();
      const path = join(base, `killed ${seed}`);
      const next = seededRandom(seed);
      const everSent = new Set<string>();
      let known = new Set<string>();
      for (let kill = 0; kill < killsEach; kill++) {
        const killing = new AbortController();
        // Counted from a request, so that kills hit all parts of the work, however slow the machine is.
        let requestsToCome = 1 + Math.floor(next() * 4);
        const afterMs = next() * 2 * latencyMs;
        whenAsked(() => {
          if (--requestsToCome === 0) setTimeout(() => killing.abort(), afterMs);
        });
        expect(await ingest({ path, folder, baseUrl }, killing.signal)).toBeUndefined();
        const sent = takeSent();
        expect(sent.filter((text) => known.has(text))).toEqual([]);
        for (const text of sent) everSent.add(text);
        known = committed(path, everSent);
        expect(sent.filter((text) => !known.has(text)).length).toBeLessThanOrEqual(mostInFlight);
      }
      whenAsked(() => {});
      const last = (await ingest({ path, folder, baseUrl }, never))!;
      expect(takeSent().filter((text) => known.has(text))).toEqual([]);
      expect(await contents(path)).toEqual(expected);
      expect(last.documents.failed).toBe(0);
      expect(last.documents.added + last.documents.unchanged).toBe(report.documents.added);
      expect(last.chunks.total).toBe(report.chunks.total);
    }),
  );
}, 300_000);
