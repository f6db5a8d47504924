/**
 * Measures the time that asking adds to the upstream's own, from the question to the first text of the answer, on a store
 * of generated chunks. A separate process answers embeddings, reranking and chat after a fixed time. Then measures how soon
 * the upstream's socket is closed when the reader leaves the answer.
 *
 *     npm run build && npm run build:examples && node build/benchmarks/ask.js [chunks] [dimension] [latency in ms] [questions]
 *
 * `--report FILE` writes the distributions as a page of charts.
 */
import { createTransport, type Document, type KnowledgeBase, openKnowledgeBase } from "citewell";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "../test/support/seeded-random.js";
import { readCommandLine, timesSection, writeReport } from "./benchmark-report.js";
import { type AskUpstream, type ServedCall, nowMs, startAskUpstream } from "./ask-upstream.js";

const { words: given, file } = readCommandLine();
const [chunkCount = 10_000, dimension = 1024, latencyMs = 20, questionCount = 200] = given.map(Number);
const chunksPerDocument = 50;
const wordsPerChunk = 70;
const warmUpCount = 20;
const leavings = 20;
const steps = ["embed", "search", "pack and send", "read"] as const;

// Words follow Zipf's law, as in real text.
const next = seededRandom(1);
const vocabulary = Array.from({ length: 50_000 }, (_, index) => `w${index.toString(36)}x`);
const word = () => vocabulary[Math.floor(vocabulary.length ** next()) - 1]!;
const words = (count: number) => Array.from({ length: count }, word).join(" ");

console.log(`node build/benchmarks/ask.js ${process.argv.slice(2).join(" ")}`);
console.log(`${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}, citewell of this build`);
console.log(`${chunkCount} chunks, ${dimension} dimensions, ${latencyMs} ms a request, ${questionCount} questions\n`);

const upstream = await startAskUpstream(dimension);
const folder = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
const transport = createTransport({ baseUrl: upstream.baseUrl, apiKey: "benchmark" });
try {
  const kb = await openKnowledgeBase({
    path: folder,
    transport,
    models: { embedding: "made/embedding-m3", rerank: "made/rerank", chat: "made/chat" },
  });
  const { chunks } = await kb.ingest(madeDocuments());
  await upstream.calls();
  await upstream.answerAfter(latencyMs);
  await measureAsking(kb, upstream, `${chunks.total} chunks stored`);
  await measureLeaving(kb, upstream);
  await kb.close();
} finally {
  await transport.close();
  upstream.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Each paragraph becomes one chunk, because two of them exceed the limit. */
function* madeDocuments(): Generator<Document> {
  for (let done = 0, number = 0; done < chunkCount; number++) {
    const count = Math.min(chunksPerDocument, chunkCount - done);
    const text = Array.from({ length: count }, () => `${words(wordsPerChunk)}.`).join("\n\n");
    done += count;
    yield { uri: `file:///made/${number}.md`, text, mediaType: "text/plain" };
  }
}

/** Asks one question after another. The time between the upstream's replies and our next requests is our own. */
async function measureAsking(kb: KnowledgeBase, { calls }: AskUpstream, stored: string): Promise<void> {
  const added: number[] = [];
  const taken: Record<(typeof steps)[number], number[]> = { embed: [], search: [], "pack and send": [], read: [] };
  for (let asked = 0; asked < warmUpCount + questionCount; asked++) {
    const question = words(8);
    const askedMs = nowMs();
    let readMs = 0;
    for await (const event of kb.ask(question)) if (event.type === "text-delta" && readMs === 0) readMs = nowMs();
    const [embeddings, rerank, chat] = inOrder(await calls());
    if (asked < warmUpCount) continue;
    const parts = {
      embed: embeddings.arrivedMs - askedMs,
      search: rerank.arrivedMs - embeddings.repliedMs,
      "pack and send": chat.arrivedMs - rerank.repliedMs,
      read: readMs - chat.repliedMs,
    };
    for (const step of steps) taken[step].push(parts[step]);
    added.push(steps.reduce((sum, step) => sum + parts[step], 0));
  }
  console.log(`From question to first text, beyond the upstream's own time (asked: p50 <= 15 ms); ${stored}:`);
  console.log(`  ${described(added)}`);
  console.log("of it");
  console.log(`  question to embeddings request  ${described(taken.embed)}`);
  console.log(`  vector to rerank request        ${described(taken.search)}`);
  console.log(`  scores to chat request          ${described(taken["pack and send"])}`);
  console.log(`  first chat bytes to first text  ${described(taken.read)}`);
  await writeReport(file, "From a question to the first text of its answer", [
    timesSection("Added to the upstream's own time", `${stored}.`, [
      { name: "altogether", durationsMs: added },
      ...steps.map((step) => ({ name: step, durationsMs: taken[step] })),
    ]),
  ]);
}

function inOrder(served: readonly ServedCall[]): readonly [ServedCall, ServedCall, ServedCall] {
  const one = (operation: ServedCall["operation"]) => {
    const found = served.filter((call) => call.operation === operation);
    if (found.length !== 1) throw new Error(`${found.length} ${operation} requests for one question, 1 expected`);
    return found[0]!;
  };
  return [one("embeddings"), one("rerank"), one("chat")];
}

async function measureLeaving(kb: KnowledgeBase, { calls, chatOn }: AskUpstream): Promise<void> {
  await chatOn(Infinity);
  const took: number[] = [];
  for (let time = 0; time < leavings; time++) {
    let leftMs = 0;
    for await (const event of kb.ask(words(8))) {
      if (event.type !== "text-delta") continue;
      leftMs = nowMs();
      break;
    }
    const [, , chat] = inOrder(await calls());
    took.push(chat.closedMs - leftMs);
  }
  console.log(`\nFrom leaving the answer to the upstream's socket being closed (asked: <= 100 ms), ${leavings} times:`);
  console.log(`  ${described(took)}, longest ${Math.max(...took).toFixed(1)} ms`);
}

function described(timesMs: readonly number[]): string {
  const sorted = timesMs.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(1);
  return `p50 ${at(0.5).padStart(5)} ms, p95 ${at(0.95).padStart(5)} ms`;
}
