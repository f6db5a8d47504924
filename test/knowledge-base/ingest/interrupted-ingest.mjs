// Run by ingest-crash.test.ts, to be killed: ingests a folder and prints the report.
// Only what it needs: it is started fifty times.
import { readFolder } from "../../../dist/load/sources/read-folder.js";
import { embedder } from "../../../dist/models/embedder.js";
import { Pipeline } from "../../../dist/core/pipeline.js";
import { chunk } from "../../../dist/stages/indexing/chunk.js";
import { embedChunks } from "../../../dist/stages/indexing/embed-chunks.js";
import { runIngest } from "../../../dist/knowledge-base/ingest/run.js";
import { skipKnown } from "../../../dist/stages/indexing/skip-known.js";
import { store, storeBlank } from "../../../dist/stages/indexing/store.js";
import { openStore } from "../../../dist/store/open-store.js";
import { createTransport } from "../../../dist/transport/transport.js";

const { path, folder, baseUrl, batchSize, concurrency } = JSON.parse(process.argv[2]);
const transport = createTransport({ baseUrl, apiKey: "key", maxRetries: 0 });
const embed = embedder(transport, { model: "test/embed-m3", batchSize });
const kb = await openStore(path, embed);
const flow = Pipeline.from()
  .pipe(storeBlank(kb))
  .pipe(chunk({ for: embed, maxTokens: 64, overlapTokens: 0 }))
  .pipe(skipKnown(kb))
  .pipe(embedChunks(embed, { concurrency }))
  .pipe(store(kb));
const { documents, chunks } = await runIngest(readFolder(folder), flow, kb, {});
await kb.close();
await transport.close();
process.stdout.write(JSON.stringify({ documents, chunks }));
