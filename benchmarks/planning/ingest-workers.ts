/**
 * Prints the ingest rate of 1, 2 and 4 worker processes on one PostgreSQL server, against a service that answers after a
 * fixed time, beside the time that `simulate-ingest.ts` foretells; then the same with a rate limit and failing
 * requests. All that the simulation knows of the workers is how long one of them took to start, and how long for a request
 * of a service that answers at once. Needs PostgreSQL 15 with pgvector on this machine.
 *
 *     npm run bench ingest-workers [documents] [latency in ms]
 */
import { cpus } from "node:os";
import { startPostgres } from "../../test/support/postgres-server.js";
import { crowdDocuments } from "../../test/support/worker-crowd.js";
import { runWorkers, type WorkersOptions } from "./run-workers.js";
import { simulateIngest } from "./simulate-ingest.js";

const [count = 1000, latencyMs = 1000] = process.argv.slice(2).map(Number);
const concurrency = 2;

console.log(`npm run bench ingest-workers ${process.argv.slice(2).join(" ")}`);
console.log(`${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}`);
const documents = crowdDocuments(count);
const server = await startPostgres();
try {
  let databases = 0;
  const run = async (options: Omit<WorkersOptions, "url" | "documents">) => {
    const url = await server.createDatabase(`workers_${++databases}`);
    return runWorkers({ url, documents, concurrency, ...options });
  };
  const atOnce = await run({ workers: 1, latencyMs: 0 });
  const { startSeconds, requests: batches } = atOnce;
  const workMs = (1000 * (atOnce.seconds - startSeconds)) / batches;
  console.log(`start ${startSeconds.toFixed(1)} s, own time of a worker for a request ${workMs.toFixed(0)} ms`);
  for (const limits of [{}, { requestsPerMinute: 240, failureShare: 0.1 }]) {
    const rows = [];
    for (const workers of [1, 2, 4]) {
      const real = await run({ workers, latencyMs, ...limits });
      // A job has two requests in flight.
      const slots = { workers, concurrency: 2 * concurrency };
      const service = { latencyMs, requestsPerMinute: 1e9, failureShare: 0, ...limits };
      const simulated = startSeconds + simulateIngest({ ...slots, ...service, batches, workMs, seed: 1 }).seconds;
      rows.push({
        workers,
        "real, s": round(real.seconds),
        "simulated, s": round(simulated),
        "real / simulated": round(real.seconds / simulated),
        "chunks a second": round(real.chunksPerSecond),
        "CPU of the workers, s": round(real.cpuSeconds),
        requests: real.requests,
      });
    }
    console.log(`${count} documents, ${latencyMs} ms a request, ${JSON.stringify(limits)}`);
    console.table(rows);
  }
} finally {
  await server.remove();
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}
