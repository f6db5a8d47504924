/**
 * Keeps a server under mixed load: questions, searches, readers who leave, conversations, uploads, clients of OpenAI's API, the
 * page, figures, and requests that are refused. The server has keys, a reader thread, uploads, figures and an audit log. Every
 * request must end as it should; the heap after a collection and the memory of the process must be flat from the second quarter
 * on, since the first fills caches and compiles code. Exits with 1 otherwise.
 *
 *     npm run bench mixed-load [minutes] [deeds a second] [seed]
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createTransport, openKnowledgeBase } from "citewell";
import { createServer, keyFile, makeKey } from "citewell/server";
import { Agent } from "undici";
import { seededRandom } from "../../test/support/seeded-random.js";
import { makeStore } from "../serve/servers.js";
import { askUpstreamAt, startAskUpstream } from "../shared/ask-upstream.js";
import { percentile } from "../shared/percentile.js";
import { deeds } from "./mixed-requests.js";

const chunks = 2000;
/** Growth from the median of the second quarter to that of the last that counts as flat. */
const allowedHeapMb = 4;
const allowedMemoryShare = 0.1;

interface Sample {
  readonly heapMb: number;
  /** Memory of the process with its threads. */
  readonly memoryMb: number;
  /** Timers, sockets and other things that keep a process alive. */
  readonly resources: number;
  readonly cpuSeconds: number;
}

async function serve(folder: string): Promise<void> {
  const upstream = await startAskUpstream(256);
  await askUpstreamAt(upstream.baseUrl).behave({ latencyMs: 20, pieces: 20 });
  const transport = createTransport({ baseUrl: upstream.baseUrl, apiKey: "proof" });
  const models = { embedding: "made/embedding-m3", rerank: "made/rerank", chat: "made/chat" };
  const kb = await openKnowledgeBase({ path: join(folder, "store"), transport, models });
  const keys = keyFile(join(folder, "keys.json"));
  const { key } = await makeKey(keys, { name: "proof", role: "manage" });
  const server = await createServer(kb, {
    keys,
    workers: 1,
    uploads: { folder: join(folder, "uploads") },
    metrics: { token: "figures-token" },
    audit: { to: () => {} },
    limits: { requestsPerMinute: 1_000_000 },
  });
  process.on("message", () => {
    globalThis.gc!();
    globalThis.gc!();
    const { heapUsed, rss } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    const resources = process.getActiveResourcesInfo().length;
    process.send!({ heapMb: heapUsed / 1e6, memoryMb: rss / 1e6, resources, cpuSeconds: (user + system) / 1e6 });
  });
  process.on("disconnect", () => process.exit());
  process.send!({ url: server.url, key });
}

async function prove(minutes: number, perSecond: number, seed: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "citewell-mixed-load-"));
  await makeStore(join(folder, "store"), chunks);
  const child = fork(fileURLToPath(import.meta.url), ["serve", folder], { execArgv: ["--expose-gc"] });
  const [{ url, key }] = (await once(child, "message")) as [{ readonly url: string; readonly key: string }];
  const agent = new Agent({ connections: 50 });
  const next = seededRandom(seed);
  const done = new Map<string, number>();
  const failures: string[] = [];
  const running = new Set<Promise<void>>();
  const samples: Sample[] = [];
  const startedMs = performance.now();
  const endMs = startedMs + minutes * 60_000;
  console.log(
    `${cpus()[0]?.model} (${cpus().length} cores), Node ${process.version}, ${minutes} minutes, seed ${seed}`,
  );

  const takeSample = async () => {
    child.send("sample");
    const [sample] = (await once(child, "message")) as [Sample];
    samples.push(sample);
    const { heapMb, memoryMb, resources, cpuSeconds } = sample;
    const time = ((performance.now() - startedMs) / 60_000).toFixed(1);
    console.log(
      `${time} min: heap ${heapMb.toFixed(1)} MB, process ${memoryMb.toFixed(0)} MB, ${resources} resources, ` +
        `CPU ${cpuSeconds.toFixed(0)} s, load ${loadavg()[0]!.toFixed(1)}, failed ${failures.length}`,
    );
  };
  let nextSampleMs = startedMs + 30_000;
  for (let number = 0; performance.now() < endMs; number++) {
    const [name, deed] = deeds[Math.floor(next() * deeds.length)]!;
    const deeded = deed({ url, key, agent }, number)
      .then(
        () => done.set(name, (done.get(name) ?? 0) + 1),
        (error: unknown) => failures.push(`${name}: ${String(error)}`),
      )
      .then(() => void running.delete(deeded));
    running.add(deeded);
    if (performance.now() >= nextSampleMs) {
      await takeSample();
      nextSampleMs += 60_000;
    }
    await sleep(Math.max(0, startedMs + ((number + 1) * 1000) / perSecond - performance.now()));
  }
  await Promise.all(running);
  await agent.close();
  child.disconnect();
  rmSync(folder, { recursive: true, force: true });

  const quarters = Array.from({ length: 4 }, (_, quarter) =>
    samples.slice((samples.length * quarter) / 4, (samples.length * (quarter + 1)) / 4),
  );
  const medians = (read: (sample: Sample) => number) => quarters.map((quarter) => percentile(quarter.map(read), 0.5));
  const heap = medians(({ heapMb }) => heapMb);
  const memory = medians(({ memoryMb }) => memoryMb);
  const shown = (numbers: readonly number[]) => numbers.map((each) => each.toFixed(1)).join(", ");
  console.log("done", Object.fromEntries(done));
  console.log(`median by quarter: heap ${shown(heap)} MB; process ${shown(memory)} MB`);
  console.log(`median by quarter: resources ${shown(medians(({ resources }) => resources))}`);
  const problems = [
    ...failures.slice(0, 20),
    ...(heap[3]! - heap[1]! <= allowedHeapMb ? [] : [`the heap grew by ${(heap[3]! - heap[1]!).toFixed(1)} MB`]),
    ...(memory[3]! <= memory[1]! * (1 + allowedMemoryShare) ? [] : [`the process grew to ${memory[3]!.toFixed(0)} MB`]),
  ];
  for (const problem of problems) console.log(`PROBLEM: ${problem}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

const [first, ...others] = process.argv.slice(2);
if (first === "serve") await serve(others[0]!);
else await prove(Number(first ?? 60), Number(others[0] ?? 4), Number(others[1] ?? 1));
