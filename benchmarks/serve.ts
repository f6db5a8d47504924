/**
 * Measures the HTTP server under many readers at once: a process with a knowledge base and `createServer`, and beside it one
 * of bare Hono that streams the bytes of the same answer, piece by piece at the same pace, without searching for it. The
 * readers are in a third process, the models in a fourth, which answers after 20 ms and streams 40 pieces, one every 5 ms.
 *
 * It prints the time from the question to the first event, and to the first text; counts answers that did not come whole;
 * and after each part of many requests the heap after a collection, and the CPU of a request.
 *
 *     npm run build && npm run build:examples && node build/benchmarks/serve.js [readers at once] [rounds] [requests]
 *
 * `--report FILE` writes the distributions and the memory as a page of charts.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { serve as serveBare } from "@hono/node-server";
import { createTransport, type Document, openKnowledgeBase } from "citewell";
import { createServer } from "citewell/server";
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import { Agent, request } from "undici";
import { growthChart } from "../src/cli/report/charts.js";
import { startAskUpstream } from "./ask-upstream.js";
import { readCommandLine, timesSection, writeReport } from "./benchmark-report.js";

const program = fileURLToPath(import.meta.url);
const dimension = 256;
const pieces = 40;
const pieceMs = 5;
const upstreamMs = 20;
const question = { question: "How long do the keys of the store last?" };

const { words, file } = readCommandLine();
const [role, ...given] = words;
if (role === "ours") await serveOurs();
else if (role === "bare") serveHono();
else await measure([role, ...given].map((value) => (value === undefined ? undefined : Number(value))));

async function serveOurs(): Promise<void> {
  const upstream = await startAskUpstream(dimension);
  await upstream.answerAfter(upstreamMs);
  await upstream.chatOn(pieces);
  const folder = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
  const transport = createTransport({ baseUrl: upstream.baseUrl, apiKey: "benchmark", concurrency: 1000 });
  const models = { embedding: "made/embedding-m3", rerank: "made/rerank", chat: "made/chat" };
  const kb = await openKnowledgeBase({ path: folder, transport, models });
  await kb.ingest(madeDocuments());
  const limits = { requestsPerMinute: 1_000_000, maxConcurrentAnswers: 1000 };
  const server = await createServer(kb, { limits });
  tellFigures();
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

/** Streams the frames that it is told, as a route written by hand would. */
function serveHono(): void {
  const app = new Hono();
  let frames: readonly string[] = [];
  app.post("/api/ask", async (c) => {
    await c.req.json();
    return streamSSE(c, async (stream) => {
      for (const frame of frames) {
        await stream.write(frame);
        if (frame.includes("text-delta")) await sleep(pieceMs);
      }
    });
  });
  process.on("message", (message) => {
    if (Array.isArray(message)) frames = message as string[];
  });
  tellFigures();
  serveBare({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) =>
    process.send!(`http://127.0.0.1:${port}`),
  );
  process.on("disconnect", () => process.exit());
}

interface Figures {
  readonly heapMb: number;
  readonly residentMb: number;
  readonly cpuSeconds: number;
}

function tellFigures(): void {
  process.on("message", (message) => {
    if (message !== "figures") return;
    globalThis.gc!();
    const { heapUsed, rss } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    process.send!({ heapMb: heapUsed / 1e6, residentMb: rss / 1e6, cpuSeconds: (user + system) / 1e6 });
  });
}

interface Started {
  readonly child: ChildProcess;
  readonly url: string;
  readonly figures: () => Promise<Figures>;
}

async function start(name: "ours" | "bare"): Promise<Started> {
  const child = fork(program, [name], { execArgv: ["--expose-gc"] });
  const [url] = (await once(child, "message")) as [string];
  const figures = async () => {
    child.send("figures");
    const [told] = (await once(child, "message")) as [Figures];
    return told;
  };
  return { child, url, figures };
}

interface Read {
  readonly firstEventMs: number;
  readonly firstTextMs: number;
  readonly isWhole: boolean;
  readonly frames: readonly string[];
}

async function read(url: string, dispatcher: Agent): Promise<Read> {
  const asked = performance.now();
  let firstEventMs = 0;
  let firstTextMs = 0;
  let text = "";
  try {
    const { body } = await request(`${url}/api/ask`, { method: "POST", body: JSON.stringify(question), dispatcher });
    for await (const part of body.setEncoding("utf8") as AsyncIterable<string>) {
      firstEventMs ||= performance.now() - asked;
      text += part;
      if (firstTextMs === 0 && text.includes("text-delta")) firstTextMs = performance.now() - asked;
    }
  } catch {
    // Counted as lost, since it did not come to its end.
  }
  const frames = text.split("\n\n").flatMap((frame) => (frame === "" ? [] : [`${frame}\n\n`]));
  return { firstEventMs, firstTextMs, isWhole: text.includes("event: finish"), frames };
}

async function measure([readers = 200, rounds = 5, requests = 10_000]: readonly (number | undefined)[]): Promise<void> {
  console.log(`node build/benchmarks/serve.js ${[readers, rounds, requests].join(" ")}`);
  console.log(`${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}, citewell of this build`);
  const dispatcher = new Agent({ connections: readers });
  const [ours, bare] = [await start("ours"), await start("bare")];
  const { frames } = await read(ours.url, dispatcher);
  bare.child.send(frames);
  console.log(`${readers} readers at once, ${frames.length} events and ${frames.join("").length} bytes an answer\n`);
  const taken = { ours: [] as Read[], bare: [] as Read[] };
  for (let round = 0; round < rounds + 1; round++) {
    for (const [name, { url }] of [
      ["ours", ours],
      ["bare", bare],
    ] as const) {
      const all = await Promise.all(Array.from({ length: readers }, () => read(url, dispatcher)));
      // The first round warms both up.
      if (round > 0) taken[name].push(...all);
    }
  }
  for (const name of ["ours", "bare"] as const) {
    const reads = taken[name];
    const lost = reads.filter(({ isWhole }) => !isWhole).length;
    console.log(`${name.padEnd(5)} first event ${described(reads.map(({ firstEventMs }) => firstEventMs))}`);
    console.log(
      `      first text  ${described(reads.map(({ firstTextMs }) => firstTextMs))}; ${lost} of ${reads.length} lost`,
    );
  }
  console.log("\nMemory of our process, and CPU of a request:");
  let before = await ours.figures();
  const heaps = [{ x: 0, y: before.heapMb }];
  let lost = 0;
  for (let part = 0; part < 5; part++) {
    const count = Math.round(requests / 5);
    lost += await many(ours.url, count, readers, dispatcher);
    const after = await ours.figures();
    const cpuMs = ((after.cpuSeconds - before.cpuSeconds) / count) * 1000;
    heaps.push({ x: (part + 1) * count, y: after.heapMb });
    const memory = `heap ${after.heapMb.toFixed(1)} MB, resident ${after.residentMb.toFixed(0)} MB`;
    console.log(`  ${String((part + 1) * count).padStart(6)} requests: ${memory}, ${cpuMs.toFixed(2)} ms`);
    before = after;
  }
  console.log(`  ${lost} of ${requests} lost`);
  await writeReport(file, "Many readers at once", [
    timesSection("From the question to the first text", `${readers} readers at once, ${rounds} rounds of them.`, [
      { name: "citewell", durationsMs: taken.ours.map(({ firstTextMs }) => firstTextMs) },
      { name: "bare Hono", durationsMs: taken.bare.map(({ firstTextMs }) => firstTextMs) },
    ]),
    {
      heading: "Memory",
      text: "The heap of the process after a collection.",
      charts: [growthChart("Heap in use", heaps, { x: "requests", y: "megabytes" })],
      tables: [{ head: ["Requests", "Heap in MB"], rows: heaps.map(({ x, y }) => [x, y.toFixed(1)]) }],
    },
  ]);
  for (const { child } of [ours, bare]) child.disconnect();
  await dispatcher.close();
}

/** Reads this many answers, `readers` at once; returns how many did not come whole. */
async function many(url: string, count: number, readers: number, dispatcher: Agent): Promise<number> {
  let left = count;
  let lost = 0;
  const reader = async () => {
    while (left-- > 0) if (!(await read(url, dispatcher)).isWhole) lost++;
  };
  await Promise.all(Array.from({ length: readers }, reader));
  return lost;
}

function described(timesMs: readonly number[]): string {
  const sorted = timesMs.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(0);
  return `p50 ${at(0.5).padStart(5)} ms, p99 ${at(0.99).padStart(5)} ms`;
}
