/**
 * Makes 20,000 calls of all kinds against a service that fails one request in five at random: 429 with and without
 * Retry-After, 500, resets, silence, truncated replies and garbage. Every call must end with the right result or an expected
 * error, every request must have arrived once or been given up, concurrency must stay within its limit, no connection or
 * timer may remain, and the heap must return to its initial size. Exits with 1 if anything does not add up. It takes six
 * minutes, most of which pass waiting for requests that nobody answers.
 *
 *     npm run bench soak [calls] [concurrency] [seed] [readTimeoutMs]
 */
import { cpus } from "node:os";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { discrepancies, servedByKind, soak } from "../../test/support/soak.js";

const [calls = 20_000, concurrency = 64, seed = 1, readTimeoutMs = 1500] = process.argv.slice(2).map(Number);
const soaking = { calls, concurrency, seed, readTimeoutMs };
const allowedGrowthMb = 4;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function heapMb(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

// The first calls compile code and fill caches, which remain.
await soak({ ...soaking, calls: Math.ceil(calls / 10), seed: seed + 1 });
const beforeMb = heapMb();
const startedAt = performance.now();
const report = await soak(soaking);
const seconds = (performance.now() - startedAt) / 1000;
const growthMb = heapMb() - beforeMb;

const problems = [
  ...discrepancies(report, soaking),
  ...(growthMb <= allowedGrowthMb ? [] : [`the heap grew by ${growthMb.toFixed(1)} MB`]),
];
console.log(`${cpus()[0]?.model} (${cpus().length} cores), Node ${process.version}`);
console.log(`node ${process.argv.slice(1).join(" ")}`);
console.log(
  `${calls} calls in ${seconds.toFixed(1)} s, ${report.sent} requests, at most ${report.maxWaiting} at once; ` +
    `${report.served.size} arrived, ${report.givenUp.size} were given up`,
);
console.log(`right ${report.right}, failed`, report.failed);
console.log("the service did", Object.fromEntries(servedByKind(report)));
console.log(`heap ${beforeMb.toFixed(1)} MB before, ${growthMb >= 0 ? "+" : ""}${growthMb.toFixed(1)} MB after`);
for (const problem of problems) console.log(`PROBLEM: ${problem}`);
process.exitCode = problems.length === 0 ? 0 : 1;
