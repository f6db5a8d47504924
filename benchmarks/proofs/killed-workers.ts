/**
 * Shows that workers leave the store of a quiet run, whatever happens to them: one is killed every few seconds, the database
 * crashes once, and the service fails one request in five. Prints the rows in which both stores differ, and the texts that were
 * embedded twice beside those that can have been in flight. Exits with 1 if a row differs, or more texts were embedded twice.
 * Needs PostgreSQL 15 with pgvector on this machine.
 *
 *     npm run bench killed-workers [documents] [workers] [seconds between two kills]
 */
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { ingest } from "../../src/knowledge-base/ingest.js";
import { openPostgresStore } from "../../src/store/postgres/open-postgres-store.js";
import { startFaultyEmbeddings } from "../../test/support/faulty-embeddings.js";
import { postgresContent } from "../../test/support/postgres-content.js";
import { startPostgres } from "../../test/support/postgres-server.js";
import { crowdDocuments, crowdEmbedder, runCrowd } from "../../test/support/worker-crowd.js";

const [count = 5000, workers = 4, killSeconds = 3] = process.argv.slice(2).map(Number);
const command = fileURLToPath(new URL("../../../dist/bin/citewell.js", import.meta.url));
const concurrency = 2;

console.log(`npm run bench killed-workers ${process.argv.slice(2).join(" ")}`);
console.log(`${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}`);
const documents = crowdDocuments(count);
const server = await startPostgres();
const calm = await startFaultyEmbeddings(0, 1);
const faulty = await startFaultyEmbeddings(0.2, 1, 50);
try {
  const [quietUrl, wildUrl] = [await server.createDatabase("quiet"), await server.createDatabase("wild")];
  const { embedder, close } = crowdEmbedder(calm);
  const store = await openPostgresStore(quietUrl, embedder);
  const quiet = await ingest(documents, { store, embedder });
  await store.close();
  await close();
  console.log(`one process, no faults: ${quiet.chunks.total} chunks in ${quiet.seconds.toFixed(0)} s`);

  let shownAt = performance.now();
  const outcome = await runCrowd({
    server,
    url: wildUrl,
    upstream: faulty,
    documents,
    command,
    workers,
    concurrency,
    killEveryMs: killSeconds * 1000,
    restartAt: 0.5,
    maxSeconds: 3600,
    onProgress: (done, kills) => {
      if (performance.now() - shownAt < 10_000) return;
      shownAt = performance.now();
      console.log(`  ${done} of ${count} documents, ${kills} workers killed`);
    },
  });
  const { kills, seconds, status, repeatedTexts, messages } = outcome;
  console.log(
    `${workers} workers: ${seconds.toFixed(0)} s, ${kills} killed, one crash of the database, ${faulty.faults()} faults`,
  );
  console.log(`ended: ${JSON.stringify(status.documents)}`);
  if (messages !== "") console.log(`messages of the workers:\n${messages}`);
  const [expected, found] = [await postgresContent(quietUrl), await postgresContent(wildUrl)];
  for (const [table, rows] of Object.entries(expected)) {
    const same = rows.filter((row, at) => isDeepStrictEqual(row, found[table]![at])).length;
    console.log(`${table}: ${rows.length} rows, ${found[table]!.length} of the workers, ${same} the same`);
    if (same < rows.length || found[table]!.length > rows.length) process.exitCode = 1;
  }
  // Each job has two requests in flight at most, and vectors that have come are written before the next are asked for.
  const inFlight = (kills + workers) * concurrency * 2 * faulty.maxTexts();
  if (repeatedTexts > inFlight) process.exitCode = 1;
  console.log(
    `texts: ${faulty.answered.size} distinct, ${repeatedTexts} embedded again, at most ${inFlight} were in flight`,
  );
} finally {
  await server.remove();
  await calm.close();
  await faulty.close();
}
