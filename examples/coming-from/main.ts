// The ten tasks of README.md, one after the other.
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chunk, collect, collectAnswer, openKnowledgeBase, Pipeline, readFolder, tool, type Document } from "citewell";
import { z } from "zod";

const folder = await mkdtemp(join(tmpdir(), "citewell-"));
await writeFile(join(folder, "keys.md"), "# Keys\n\nAPI keys expire after 90 days. Ada renews them.\n");
const document: Document = { uri: "note:1", text: "# Doors\n\nThe doors open at nine.", mediaType: "text/markdown" };
const kb = await openKnowledgeBase({ path: join(folder, ".store") });

// 1. Read a folder, 3. embed and store
const source = readFolder(folder, { metadata: { team: "north" } });
const first = await kb.ingest(source);
console.log(`3: ${first.documents.added} added`);

// 2. Cut into chunks
const chunks = await collect(
  Pipeline.from<Document>()
    .pipe(chunk({ maxTokens: 256 }))
    .stream([document]),
);
console.log(`2: ${chunks.length} chunk`);

// 4. Bring up to date
const again = await kb.ingest(source);
console.log(`4: ${again.documents.unchanged} unchanged, ${again.requests} requests`);

// 5. Search, 6. filter, 7. rerank
const { hits } = await kb.search("When do keys expire?", {
  filter: { metadata: { team: "north" } },
  count: 20,
  topN: 3,
});
console.log(`7: ${hits[0]?.chunk.text.replaceAll(/\s+/g, " ")}`);

// 8. Answer with sources
const answer = await collectAnswer(kb.ask("When do API keys expire?"));
console.log(`8: ${answer.text} “${answer.citations[0]?.quote}” ${answer.citations[0]?.supported}`);

// 9. Stream
let deltas = 0;
for await (const event of kb.ask("Who renews the keys?")) if (event.type === "text-delta") deltas++;
console.log(`9: ${deltas > 0 ? "streamed" : "nothing"}`);

// 10. Call tools
const status = tool({
  name: "status",
  description: "Status of a key.",
  input: z.object({ key: z.string() }),
  run: () => "expired",
});
const withTool = await collectAnswer(kb.ask('Call status with the key "k1"', { answer: { tools: [status] } }));
console.log(`10: ${withTool.account.requests.length} requests`);
await kb.close();
