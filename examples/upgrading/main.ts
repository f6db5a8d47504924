// Another embedding model for a store that serves: its documents are embedded anew beside it, then the two change places.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTransport, migrateBack, migrateKnowledgeBase, openKnowledgeBase, StoreError } from "citewell";
import { startLocalService } from "citewell/local";

const service = await startLocalService();
const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
const path = join(await mkdtemp(join(tmpdir(), "citewell-")), "store");
const chat = "citewell/local-extractive";
const before = { path, transport, models: { embedding: "citewell/local-lexical", chat } };
const after = { path, transport, models: { embedding: "citewell/local-lexical-m3", chat } };

const kb = await openKnowledgeBase(before);
await kb.ingest([{ uri: "keys", text: "API keys expire after 90 days. Ada renews them." }]);
await kb.close();
await openKnowledgeBase(after).catch((error: unknown) => {
  if (error instanceof StoreError) console.log(`refused: ${error.code}`);
});

const report = await migrateKnowledgeBase(after);
console.log(`${report.from} to ${report.to}: ${report.switched ? "serves" : "goes on with the same call"}`);
await (await openKnowledgeBase(after)).close();

migrateBack(path); // the old store is still there
await (await openKnowledgeBase(before)).close();
console.log("back again");
await transport.close();
await service.close();
