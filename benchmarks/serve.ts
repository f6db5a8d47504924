import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import { aimsOf } from "./aims.js";
import type { Benchmark, RunContext } from "./runner/benchmark.js";
import { makeStore, type Served, type StartedServer, startServer } from "./serve/servers.js";
import { percentile } from "./shared/percentile.js";

const question = { question: "How long do the keys of the store last?" };

/** Starts a server that answers questions. */
export type StartServer = (served: Served) => Promise<StartedServer>;

export const benchmark: Benchmark<StartServer, Served> = {
  name: "serve",
  question: "How does the HTTP server stand many readers of streamed answers at once?",
  method:
    "A server in its own process with 10,000 chunks; its models are in another, which answers after 20 ms and streams 40 pieces, " +
    "one every 5 ms. The readers are in a third, so on few cores they slow both servers alike. The limit is bare Hono, which " +
    "streams the bytes of the same answer at the same pace and neither searches nor calls a model. A round of all readers " +
    "first. The first event says that the question was taken. Lost is an answer without its last event. The crowd is of readers who ask " +
    "in the same moment, of whom a server takes 256 and tells the others when to come again, which they do. With workers, threads " +
    "search, one less than there are cores. Memory is the heap after a collection, and CPU that of the server alone.",
  contenders: [
    { name: "bare Hono", kind: "limit", load: async () => (served) => startServer("bare", served) },
    { name: "citewell", kind: "citewell", load: async () => (served) => startServer("citewell", served) },
    {
      name: "citewell, workers",
      kind: "citewell",
      load: async () => (served) => startServer("citewell, workers", served),
    },
  ],
  beside: "bare Hono",
  measures: {
    "first event p50": { unit: "ms", better: "lower" },
    "first event p99": { unit: "ms", better: "lower" },
    "first text p50": { unit: "ms", better: "lower" },
    lost: { unit: "answers", better: "lower" },
    "lost of the crowd": { unit: "answers", better: "lower" },
    "refused without a time": { unit: "requests", better: "lower" },
    "CPU an answer": { unit: "ms", better: "lower" },
    "heap growth": { unit: "MB", better: "lower" },
  },
  sizes: {
    smoke: { readers: 10, answers: 40, chunks: 200, crowd: 300 },
    usual: { readers: 200, answers: 2000, chunks: 10_000, crowd: 1000 },
  },
  rounds: 2,
  aims: aimsOf("serve"),
  prepare: async (size) => {
    const folder = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
    const store = join(folder, "store");
    await makeStore(store, size["chunks"]!);
    const server = await startServer("citewell", { store, frames: [] });
    const { frames } = await read(server.url, new Agent());
    server.close();
    return { given: { store, frames }, close: () => rmSync(folder, { recursive: true, force: true }) };
  },
  measure: measureServing,
};

async function measureServing(start: StartServer, { size, given }: RunContext<Served>) {
  const { readers = 1, answers = 1, crowd = 1 } = size;
  const dispatcher = patientAgent(readers);
  const server = await start(given);
  // Twice as many warm-ups as readers, so that what is kept for each of them is there before memory is compared.
  await many(server.url, 2 * readers, readers, dispatcher);
  const before = await server.figures();
  const reads = await many(server.url, answers, readers, dispatcher);
  const after = await server.figures();
  const manyConnections = patientAgent(crowd);
  const ofCrowd = await Promise.all(Array.from({ length: crowd }, () => readPatiently(server.url, manyConnections)));
  await manyConnections.close();
  server.close();
  await dispatcher.close();
  const whole = reads.filter(({ isWhole }) => isWhole);
  if (whole.length === 0) throw new Error(`none of ${answers} answers came whole`);
  return {
    "first event p50": percentile(
      whole.map(({ firstEventMs }) => firstEventMs),
      0.5,
    ),
    "first event p99": percentile(
      whole.map(({ firstEventMs }) => firstEventMs),
      0.99,
    ),
    "first text p50": percentile(
      whole.map(({ firstTextMs }) => firstTextMs),
      0.5,
    ),
    lost: reads.length - whole.length,
    "lost of the crowd": ofCrowd.filter(({ isWhole }) => !isWhole).length,
    "refused without a time": ofCrowd.reduce((sum, { untold }) => sum + untold, 0),
    "CPU an answer": (1000 * (after.cpuSeconds - before.cpuSeconds)) / answers,
    "heap growth": after.heapMb - before.heapMb,
  };
}

/** Connects as browsers do, which wait for minutes; this client's own default is 10 s. */
function patientAgent(connections: number): Agent {
  return new Agent({ connections, connect: { timeout: 120_000 } });
}

interface Read {
  /** Seconds after which to come again, where the server takes no more; NaN where it does not say. */
  readonly retryAfter?: number;
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
    const { body, statusCode, headers } = await request(`${url}/api/ask`, {
      method: "POST",
      body: JSON.stringify(question),
      dispatcher,
    });
    if (statusCode === 503) {
      await body.dump();
      return { firstEventMs, firstTextMs, isWhole: false, frames: [], retryAfter: Number(headers["retry-after"]) };
    }
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

/** Reads one answer, and comes again when it is told to, for as long as that takes. */
async function readPatiently(url: string, dispatcher: Agent): Promise<{ isWhole: boolean; untold: number }> {
  for (let untold = 0; ;) {
    const { isWhole, retryAfter } = await read(url, dispatcher);
    if (retryAfter === undefined) return { isWhole, untold };
    if (Number.isNaN(retryAfter)) untold++;
    await sleep(1000 * (retryAfter || 1));
  }
}

/** Reads so many answers, `readers` at once. */
async function many(url: string, count: number, readers: number, dispatcher: Agent): Promise<readonly Read[]> {
  const reads: Read[] = [];
  let left = count;
  const reader = async () => {
    while (left-- > 0) reads.push(await read(url, dispatcher));
  };
  await Promise.all(Array.from({ length: readers }, reader));
  return reads;
}
