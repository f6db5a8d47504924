import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTransport, type Document, openKnowledgeBase } from "citewell";
import { Agent } from "undici";
import { seededRandom } from "../test/support/seeded-random.js";
import { aimsOf } from "./aims.js";
import type { Benchmark, RunContext } from "./runner/benchmark.js";
import { askUpstreamAt, nowMs, type ServedCall, startAskUpstream } from "./shared/ask-upstream.js";
import { percentile } from "./shared/percentile.js";

const wordsPerChunk = 70;
const chunksPerDocument = 50;
const maxWarmUps = 50;
const dimension = 1024;
const upstreamMs = 20;
const models = { embedding: "made/embedding-m3", rerank: "made/rerank", chat: "made/chat" };

interface Given {
  readonly baseUrl: string;
  readonly store: string;
}

/** Asks questions with the help of the service; the text of the answer comes piece by piece. */
export type Asker = (given: Given) => Promise<{
  readonly ask: (question: string) => AsyncIterable<string>;
  readonly close: () => Promise<void>;
}>;

export const benchmark: Benchmark<Asker, Given> = {
  name: "ask",
  question: "How much time does asking add to that of the models?",
  method:
    "Questions one after another against generated chunks of 1,024 dimensions, with words after Zipf's law. A service in " +
    "another process answers embeddings, reranking and streamed chat after 20 ms and notes, on the machine's clock, when each request had come " +
    "and when its reply began. What is added is the time between its replies and the next requests, and to the first text. The " +
    "limit makes the same three calls by undici with texts prepared beforehand: it neither searches nor packs. 50 questions " +
    "first. An answer without one call of each kind fails. Leaving: from leaving an endless answer to the end of its connection.",
  contenders: [
    { name: "bare calls", kind: "limit", load: async () => bareCalls },
    { name: "citewell", kind: "citewell", load: async () => citewell },
  ],
  beside: "bare calls",
  measures: {
    "first chat request p50": { unit: "ms added", better: "lower" },
    "first text p50": { unit: "ms added", better: "lower" },
    "first text p95": { unit: "ms added", better: "lower" },
    search: { unit: "ms added", better: "lower" },
    packing: { unit: "ms added", better: "lower" },
    "leaving, longest": { unit: "ms", better: "lower" },
  },
  sizes: { smoke: { chunks: 200, questions: 10 }, usual: { chunks: 10_000, questions: 100 } },
  rounds: 3,
  aims: aimsOf("ask"),
  prepare: makeStore,
  measure: measureAsking,
};

async function measureAsking(subject: Asker, { size, given, timed }: RunContext<Given>) {
  const upstream = askUpstreamAt(given.baseUrl);
  const { ask, close } = await subject(given);
  const next = seededRandom(2);
  const askOnce = async () => {
    const askedMs = nowMs();
    let readMs = 0;
    for await (const text of ask(madeWords(8, next))) if (text !== "" && readMs === 0) readMs = nowMs();
    if (readMs === 0) throw new Error("an answer had no text");
    return { askedMs, readMs };
  };
  await upstream.behave({ latencyMs: upstreamMs, pieces: 0 });
  for (let at = 0; at < Math.min(maxWarmUps, size["questions"]!); at++) await askOnce();
  await upstream.calls();
  const steps = { search: [] as number[], packing: [] as number[], chat: [] as number[], text: [] as number[] };
  for (let at = 0; at < size["questions"]!; at++) {
    const { result } = await timed(askOnce);
    const [embeddings, rerank, chat] = inOrder(await upstream.calls());
    const embed = embeddings.arrivedMs - result.askedMs;
    const search = rerank.arrivedMs - embeddings.repliedMs;
    const packing = chat.arrivedMs - rerank.repliedMs;
    steps.search.push(search);
    steps.packing.push(packing);
    steps.chat.push(embed + search + packing);
    steps.text.push(embed + search + packing + result.readMs - chat.repliedMs);
  }
  await upstream.behave({ latencyMs: upstreamMs, pieces: 1e9 });
  const leaving: number[] = [];
  for (let at = 0; at < Math.min(10, size["questions"]!); at++) {
    let leftMs = 0;
    for await (const text of ask(madeWords(8, next))) {
      if (text === "") continue;
      leftMs = nowMs();
      break;
    }
    leaving.push(inOrder(await upstream.calls())[2].closedMs - leftMs);
  }
  await close();
  return {
    "first chat request p50": percentile(steps.chat, 0.5),
    "first text p50": percentile(steps.text, 0.5),
    "first text p95": percentile(steps.text, 0.95),
    search: percentile(steps.search, 0.5),
    packing: percentile(steps.packing, 0.5),
    "leaving, longest": Math.max(...leaving),
  };
}

function inOrder(served: readonly ServedCall[]): readonly [ServedCall, ServedCall, ServedCall] {
  const one = (operation: ServedCall["operation"]) => {
    const found = served.filter((call) => call.operation === operation);
    if (found.length !== 1) throw new Error(`${found.length} ${operation} requests for one question, 1 expected`);
    return found[0]!;
  };
  return [one("embeddings"), one("rerank"), one("chat")];
}

const citewell: Asker = async ({ baseUrl, store }) => {
  const transport = createTransport({ baseUrl, apiKey: "benchmark" });
  const kb = await openKnowledgeBase({ path: store, transport, models });
  return {
    ask: async function* (question) {
      for await (const event of kb.ask(question)) if (event.type === "text-delta") yield event.text;
    },
    close: async () => {
      await kb.close();
      await transport.close();
    },
  };
};

const bareCalls: Asker = async ({ baseUrl }) => {
  const agent = new Agent();
  const next = seededRandom(3);
  const documents = Array.from({ length: 40 }, () => madeWords(wordsPerChunk, next));
  const prompt = documents.slice(0, 6).join("\n");
  const post = async (path: string, body: object) => {
    const { body: reply } = await agent.request({
      origin: baseUrl,
      path: `/llm/v1/${path}`,
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return reply;
  };
  return {
    ask: async function* (question) {
      await (await post("embeddings", { model: "made", input: [question], encoding_format: "base64" })).json();
      await (await post("rerank", { model: "made", query: question, documents })).json();
      const messages = [{ role: "user", content: `${prompt}\n${question}` }];
      const reply = await post("chat/completions", { model: "made", messages, stream: true });
      for await (const part of reply.setEncoding("utf8")) yield part as string;
    },
    close: () => agent.close(),
  };
};

const vocabulary = Array.from({ length: 50_000 }, (_, index) => `w${index.toString(36)}x`);

/** Words follow Zipf's law, as in real text. */
function madeWords(count: number, next: () => number): string {
  return Array.from({ length: count }, () => vocabulary[Math.floor(vocabulary.length ** next()) - 1]!).join(" ");
}

async function makeStore({ chunks = 0 }) {
  const { baseUrl, close } = await startAskUpstream(dimension);
  const folder = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
  const transport = createTransport({ baseUrl, apiKey: "benchmark" });
  const store = join(folder, "store");
  const kb = await openKnowledgeBase({ path: store, transport, models });
  await kb.ingest(madeDocuments(chunks));
  await kb.close();
  await transport.close();
  await askUpstreamAt(baseUrl).calls();
  return {
    given: { baseUrl, store },
    close: () => {
      close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Each paragraph becomes one chunk, because two of them exceed the limit. */
function* madeDocuments(chunks: number): Generator<Document> {
  const next = seededRandom(1);
  for (let done = 0, number = 0; done < chunks; number++) {
    const count = Math.min(chunksPerDocument, chunks - done);
    const text = Array.from({ length: count }, () => `${madeWords(wordsPerChunk, next)}.`).join("\n\n");
    done += count;
    yield { uri: `made:${number}`, text, mediaType: "text/plain" };
  }
}
