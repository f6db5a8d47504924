// Backing up a closed store, and restoring the copy.
import { cp, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKnowledgeBase } from "citewell";

const folder = await mkdtemp(join(tmpdir(), "citewell-"));
const path = join(folder, "store");
const kb = await openKnowledgeBase({ path });
await kb.ingest([{ uri: "keys", text: "API keys expire after 90 days. Ada renews them." }]);

// A closed store is a folder of plain files: its copy is a backup.
await kb.close();
await cp(path, join(folder, "backup"), { recursive: true });

// Restoring is copying back. `verify` reads every byte; indexes that are damaged or missing are made again.
await cp(join(folder, "backup"), join(folder, "restored"), { recursive: true });
const restored = await openKnowledgeBase({ path: join(folder, "restored") });
const { ok, problems } = await restored.verify();
console.log(`restored: ${ok ? "every byte is as it was" : JSON.stringify(problems)}`);
const { hits } = await restored.search("When do API keys expire?");
console.log(`found: ${hits[0]?.uri}`);
await restored.close();
