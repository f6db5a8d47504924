/**
 * A server in a process of its own: `node servers.js citewell` with a knowledge base and `createServer`, or `node servers.js
 * bare` with a route of Hono, written by hand, that streams the frames it is told at the pace of the model. On `figures` it
 * answers with its memory after a collection and its CPU.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { serve } from "@hono/node-server";
import { createTransport, type Document, openKnowledgeBase } from "citewell";
import { seededRandom } from "../../test/support/seeded-random.js";
import { createServer } from "citewell/server";
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import { askUpstreamAt, startAskUpstream } from "../shared/ask-upstream.js";

const program = fileURLToPath(import.meta.url);
const dimension = 256;
const pieceMs = 5;
const behaviour = { latencyMs: 20, pieces: 40 };
/** Answers at once that the server takes; more are refused with the time to come again. */
export const maxConcurrentAnswers = 256;

export interface Figures {
  readonly heapMb: number;
  readonly cpuSeconds: number;
}

export interface StartedServer {
  readonly url: string;
  readonly figures: () => Promise<Figures>;
  readonly close: () => void;
}

type ServerName = "citewell" | "citewell, workers" | "bare";

/** Name of the server, and its documents, and what the bare server sends for every question. */
export interface Served {
  readonly store: string;
  readonly frames: readonly string[];
}

export async function startServer(name: ServerName, { store, frames }: Served): Promise<StartedServer> {
  const child: ChildProcess = fork(program, [name, store], { execArgv: ["--expose-gc"] });
  if (name === "bare") child.send(frames);
  const [url] = (await once(child, "message")) as [string];
  return {
    url,
    figures: async () => {
      child.send("figures");
      return ((await once(child, "message")) as [Figures])[0];
    },
    close: () => child.disconnect(),
  };
}

/** Fills a store with so many documents of one chunk, each with words after Zipf's law. */
export async function makeStore(store: string, chunks: number): Promise<void> {
  const { kb, close } = await openOverUpstream(store);
  await kb.ingest(madeDocuments(chunks));
  await kb.close();
  close();
}

async function openOverUpstream(path: string) {
  const upstream = await startAskUpstream(dimension);
  await askUpstreamAt(upstream.baseUrl).behave(behaviour);
  const transport = createTransport({ baseUrl: upstream.baseUrl, apiKey: "benchmark", concurrency: 1000 });
  const models = { embedding: "made/embedding-m3", rerank: "made/rerank", chat: "made/chat" };
  return { kb: await openKnowledgeBase({ path, transport, models }), close: () => upstream.close() };
}

async function serveCitewell(store: string, workers: number): Promise<void> {
  const { kb, close } = await openOverUpstream(store);
  const limits = { requestsPerMinute: 1_000_000, maxConcurrentAnswers };
  const server = await createServer(kb, { limits, workers });
  process.send!(server.url);
  process.on("disconnect", () => {
    close();
    process.exit();
  });
}

function* madeDocuments(count: number): Generator<Document> {
  const next = seededRandom(1);
  const word = () => `w${Math.floor(20_000 ** next()).toString(36)}x`;
  for (let number = 0; number < count; number++) {
    const words = Array.from({ length: 90 }, word).join(" ");
    yield { uri: `made:${number}`, text: `Keys of the store number ${number} last ${number + 1} days. ${words}.` };
  }
}

async function serveBare(): Promise<void> {
  const [frames] = (await once(process, "message")) as [readonly string[]];
  const app = new Hono();
  app.post("/api/ask", async (c) => {
    await c.req.json();
    return streamSSE(c, async (stream) => {
      for (const frame of frames) {
        await stream.write(frame);
        if (frame.includes("text-delta")) await sleep(pieceMs);
      }
    });
  });
  serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => process.send!(`http://127.0.0.1:${port}`));
  process.on("disconnect", () => process.exit());
}

if (process.argv[1] === program) {
  process.on("message", (message) => {
    if (message !== "figures") return;
    globalThis.gc!();
    const { user, system } = process.cpuUsage();
    const figures: Figures = { heapMb: process.memoryUsage().heapUsed / 1e6, cpuSeconds: (user + system) / 1e6 };
    process.send!(figures);
  });
  const [name, store] = process.argv.slice(2) as [ServerName, string];
  const workers = name === "citewell" ? 0 : availableParallelism() - 1;
  await (name === "bare" ? serveBare() : serveCitewell(store, workers));
}
