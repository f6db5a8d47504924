// Rows of a CSV file as documents: prints the cost first, then indexes as many as the budget allows, then the rest.
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKnowledgeBase, readFile } from "citewell";

const folder = await mkdtemp(join(tmpdir(), "citewell-"));
const tickets = Array.from(
  { length: 60 },
  (_, index) => `T-${index},Printer ${index} jams,"Printer ${index} jams whenever tray ${index % 4} is nearly empty."`,
);
await writeFile(join(folder, "tickets.csv"), ["number,subject,body", ...tickets].join("\n"));
const rows = readFile(join(folder, "tickets.csv"), { rows: { id: "number", title: "subject", text: "body" } });

const kb = await openKnowledgeBase({ path: join(folder, "store") });
const plan = await kb.plan(rows, { price: 0.02 });
console.log(`planned: ${plan.chunks} chunks, ${plan.tokens} tokens, ${plan.requests} requests`);

const stopped = await kb.ingest(rows, { maxTokens: plan.tokens / 2 });
console.log(stopped.stopped ? `stopped: ${stopped.stopped.reason}` : "the budget was enough");
const rest = await kb.ingest(rows);
console.log(`in the store: ${(await kb.store.counts()).documents} documents; sent now: ${rest.tokens} tokens`);
await kb.close();
