/**
 * Prints the ingest rate of 1, 2 and 4 worker processes on one PostgreSQL server, against a service that answers after a
 * fixed time, beside what `planning/simulate-ingest.ts` foretells; then the same with a rate limit and failing requests.
 * Needs PostgreSQL 15 with pgvector on this machine.
 *
 *     npm run build && npm run build:examples && node build/benchmarks/ingest-workers.js [documents] [latency in ms]
 */
import { cpus } from "node:os";
import { startPostgres } from "../test/support/postgres-server.js";
import { crowdDocuments } from "../test/support/worker-crowd.js";
import { runWorkers } from "./planning/run-workers.js";

const [count = 1500, latencyMs = 1000] = process.argv.slice(2).map(Number);

console.log(`node build/benchmarks/ingest-workers.js ${process.argv.slice(2).join(" ")}`);
console.log(`${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}`);
const documents = crowdDocuments(count);
const server = await startPostgres();
try {
  for (const workers of [1, 2, 4]) {
    const url = await server.createDatabase(`workers_${workers}`);
    console.log({ workers, ...(await runWorkers({ url, documents, workers, latencyMs })) });
  }
} finally {
  await server.remove();
}
