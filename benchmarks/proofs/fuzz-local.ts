// Sends the local service thousands of good and bad requests, and checks its answers, that it survives, and its memory.
//
// Run: npm run bench fuzz-local [requests] [seed]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request as send } from "node:http";
import { cpus } from "node:os";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { fuzzRequests, type FuzzRequest } from "./fuzz-requests.js";

const total = Number(process.argv[2] ?? 20_000);
const seed = Number(process.argv[3] ?? 1);
/** Heap limit of the service: one that leaked would exceed it and end. */
const heapMegabytes = 96;
const looks = 8;
/** Requests between two measurements of memory. */
const lookEvery = Math.max(1, Math.floor(total / looks));
/**
 * How much memory in use may grow in the second half. Bounded caches are full and code is compiled by then: from 20,000 to
 * 40,000 requests it grew by 2 %.
 */
const maxGrowth = 0.05;

console.log(`${cpus()[0]?.model ?? "unknown processor"}, Node ${process.version}, ${process.platform} ${process.arch}`);
console.log(`node ${process.argv.slice(1).join(" ")}`);

// Time runs fast, so that video tasks expire as they would in a service that runs for long.
const command = fileURLToPath(new URL("../../../dist/bin/citewell.js", import.meta.url));
const answerLooks = `process.on("message", () => { gc(); gc(); process.send(process.memoryUsage()); }); process.channel.unref();`;
const service = spawn(
  process.execPath,
  [
    `--max-old-space-size=${heapMegabytes}`,
    "--expose-gc",
    `--import=data:text/javascript,${encodeURIComponent(answerLooks)}`,
    command,
    "local",
    "--json",
    "--api-key=fuzz",
    "--time-scale=1000000",
  ],
  { stdio: ["ignore", "pipe", "inherit", "ipc"] },
);
const hasEnded = () => service.exitCode !== null || service.signalCode !== null;
const [line] = (await once(createInterface(service.stdout!), "line")) as [string];
const { url } = JSON.parse(line) as { readonly url: string };

const agent = new Agent({ keepAlive: true });

function answerTo({ method, path, body }: FuzzRequest): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: "Bearer fuzz", "content-type": "application/json" };
    const outgoing = send(url + path, { method, agent, headers }, (incoming) => {
      let text = "";
      incoming.on("data", (part: Buffer) => (text += part.toString()));
      incoming.on("end", () => resolve({ status: incoming.statusCode ?? 0, text }));
      incoming.on("error", reject);
    });
    outgoing.on("error", reject);
    outgoing.end(method === "GET" || method === "HEAD" ? undefined : body);
  });
}

interface Memory {
  /** Heap and buffers in use after garbage collection, in megabytes. */
  readonly used: number;
  readonly resident: number;
}

async function memory(): Promise<Memory> {
  const answered = once(service, "message") as Promise<[NodeJS.MemoryUsage]>;
  service.send("look");
  const [{ heapUsed, arrayBuffers, rss }] = await answered;
  return { used: (heapUsed + arrayBuffers) / 2 ** 20, resident: rss / 2 ** 20 };
}

const statuses = new Map<number, number>();
const requests = fuzzRequests(seed);
const failures: string[] = [];
let slowestMs = 0;
const seen: Memory[] = [];
const started = performance.now();
for (let sent = 0; sent < total && !hasEnded(); sent++) {
  if (sent % lookEvery === 0) seen.push(await memory());
  const request = requests.next().value;
  const begun = performance.now();
  try {
    const { status, text } = await answerTo(request);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status >= 500) failures.push(`${status} ${text.slice(0, 200)} to ${describe(request)}`);
  } catch (error) {
    failures.push(`${String(error)} to ${describe(request)}`);
  }
  slowestMs = Math.max(slowestMs, performance.now() - begun);
}
const seconds = (performance.now() - started) / 1000;

function describe({ method, path, body }: FuzzRequest): string {
  return `${method} ${path} ${Buffer.from(body).toString().slice(0, 300)}`;
}

const counts = [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
console.log(
  `${total} requests in ${seconds.toFixed(1)} s, the slowest ${slowestMs.toFixed(0)} ms; ${counts.join(", ")}`,
);
if (hasEnded()) console.log("The service ended.");
else {
  seen.push(await memory());
  const row = (name: keyof Memory) => seen.map((look) => look[name].toFixed(1)).join(", ");
  console.log(`In use after collection, every ${lookEvery} requests: ${row("used")} MB`);
  console.log(`Resident: ${row("resident")} MB, with a heap of at most ${heapMegabytes} MB`);
  const half = seen[Math.floor(seen.length / 2)]?.used ?? 0;
  const growth = (seen.at(-1)?.used ?? 0) / half - 1;
  console.log(`Growth in the second half: ${(growth * 100).toFixed(1)} %, at most ${maxGrowth * 100} %`);
  if (growth > maxGrowth) failures.push("The service keeps what it is done with");
}
for (const failure of failures.slice(0, 10)) console.log(failure);
process.exitCode = hasEnded() || failures.length > 0 ? 1 : 0;
agent.destroy();
if (service.connected) service.disconnect();
service.kill();
