import { Agent, request } from "undici";
import { aimsOf } from "./aims.js";
import type { Benchmark, RunContext } from "./runner/benchmark.js";
import { type StartedServer, startServer } from "./serve/servers.js";
import { percentile } from "./shared/percentile.js";

const question = { question: "How long do the keys of the store last?" };

/** Starts a server that answers questions; `frames` are the events of an answer, for one that finds none by itself. */
export type StartServer = (frames: readonly string[]) => Promise<StartedServer>;

export const benchmark: Benchmark<StartServer, readonly string[]> = {
  name: "serve",
  question: "How does the HTTP server stand many readers of streamed answers at once?",
  method:
    "A server in its own process with 200 documents; its models are in another, which answers after 20 ms and streams 40 pieces, " +
    "one every 5 ms. The readers are in a third, so on few cores they slow both servers alike. The limit is bare Hono, which " +
    "streams the bytes of the same answer at the same pace and neither searches nor calls a model. A round of all readers " +
    "first. Lost is an answer without its last event. Memory is the heap after a collection, and CPU that of the server alone.",
  contenders: [
    { name: "bare Hono", kind: "limit", load: async () => (frames) => startServer("bare", frames) },
    { name: "citewell", kind: "citewell", load: async () => () => startServer("citewell", []) },
  ],
  beside: "bare Hono",
  measures: {
    "first event p50": { unit: "ms", better: "lower" },
    "first event p99": { unit: "ms", better: "lower" },
    "first text p50": { unit: "ms", better: "lower" },
    lost: { unit: "answers", better: "lower" },
    "CPU an answer": { unit: "ms", better: "lower" },
    "heap growth": { unit: "MB", better: "lower" },
  },
  sizes: { smoke: { readers: 10, answers: 40 }, usual: { readers: 200, answers: 2000 } },
  rounds: 2,
  aims: aimsOf("serve"),
  prepare: async () => {
    const server = await startServer("citewell", []);
    const { frames } = await read(server.url, new Agent());
    server.close();
    return { given: frames };
  },
  measure: measureServing,
};

async function measureServing(start: StartServer, { size, given }: RunContext<readonly string[]>) {
  const { readers = 1, answers = 1 } = size;
  const dispatcher = new Agent({ connections: readers });
  const server = await start(given);
  // Twice as many warm-ups as readers, so that what is kept for each of them is there before memory is compared.
  await many(server.url, 2 * readers, readers, dispatcher);
  const before = await server.figures();
  const reads = await many(server.url, answers, readers, dispatcher);
  const after = await server.figures();
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
    "CPU an answer": (1000 * (after.cpuSeconds - before.cpuSeconds)) / answers,
    "heap growth": after.heapMb - before.heapMb,
  };
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
