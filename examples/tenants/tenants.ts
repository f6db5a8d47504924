// One store for two tenants: metadata has a schema, and a knowledge base that requires a scope refuses questions without one.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKnowledgeBase } from "citewell";
import { z } from "zod";

const kb = await openKnowledgeBase({
  path: await mkdtemp(join(tmpdir(), "citewell-")),
  metadata: z.object({ tenant: z.string(), year: z.number() }),
  requireScope: true,
});

const report = await kb.ingest([
  { uri: "note:1", text: "The gate code is 4711.", metadata: { tenant: "north", year: 2026 } },
  { uri: "note:2", text: "The gate code is 9902.", metadata: { tenant: "south", year: 2026 } },
  { uri: "note:3", text: "The gate code was 1234.", metadata: { tenant: "north", year: 2024 } },
  { uri: "note:4", text: "The gate code is not for everyone." },
]);
for (const { uri, error } of report.failures) console.log(`${uri} failed: ${error.message}`);

const north = kb.scoped({ metadata: { tenant: "north" } });
const { hits } = await north.search("gate code", { filter: { metadata: { year: { gte: 2025 } } } });
for (const { uri, chunk } of hits) console.log(`${uri}: ${chunk.text}`);

try {
  await kb.search("gate code");
} catch (error) {
  console.log(error instanceof Error ? error.message : error);
}
await kb.close();
