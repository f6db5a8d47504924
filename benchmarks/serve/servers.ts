/**
 * A server in a process of its own: `node servers.js citewell` with a knowledge base and `createServer`, or `node servers.js
 * bare` with a route of Hono, written by hand, that streams the frames it is told at the pace of the model. On `figures` it
 * answers with its memory after a collection and its CPU.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { serve } from "@hono/node-server";
import { createTransport, type Document, openKnowledgeBase } from "citewell";
import { createServer } from "citewell/server";
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import { askUpstreamAt, startAskUpstream } from "../shared/ask-upstream.js";

const program = fileURLToPath(import.meta.url);
const dimension = 256;
const pieceMs = 5;
const behaviour = { latencyMs: 20, pieces: 40 };

export interface Figures {
  readonly heapMb: number;
  readonly cpuSeconds: number;
}

export interface StartedServer {
  readonly url: string;
  readonly figures: () => Promise<Figures>;
  readonly close: () => void;
}

type ServerName = "citewell" | "bare";

/** Frames are what the bare server sends for every question. */
export async function startServer(name: ServerName, frames: readonly string[]): Promise<StartedServer> {
  const child: ChildProcess = fork(program, [name], { execArgv: ["--expose-gc"] });
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

async function serveCitewell(): Promise<void> {
  const upstream = await startAskUpstream(dimension);
  await askUpstreamAt(upstream.baseUrl).behave(behaviour);
  const folder = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
  const transport = createTransport({ baseUrl: upstream.baseUrl, apiKey: "benchmark", concurrency: 1000 });
  const models = { embedding: "made/embedding-m3", rerank: "made/rerank", chat: "made/chat" };
  const kb = await openKnowledgeBase({ path: folder, transport, models });
  await kb.ingest(madeDocuments());
  const limits = { requestsPerMinute: 1_000_000, maxConcurrentAnswers: 1000 };
  const server = await createServer(kb, { limits });
  process.send!(server.url);
  process.on("disconnect", () => {
    upstream.close();
    rmSync(folder, { recursive: true, force: true });
    process.exit();
  });
}

function* madeDocuments(): Generator<Document> {
  for (let number = 0; number < 200; number++) {
    const text = `Keys of the store number ${number} last ${number + 1} days. `.repeat(10);
    yield { uri: `made:${number}`, text };
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
  await (process.argv[2] === "citewell" ? serveCitewell() : serveBare());
}
